from companion.claims import Finding

HOLDS, IN_PART, FAILS, UNTESTABLE = Finding.HOLDS, Finding.IN_PART, Finding.FAILS, Finding.UNTESTABLE
