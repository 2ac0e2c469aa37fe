"""axe-core over the book: what it calls a violation is none of ours, and none of the theme's that we could mend."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from .browser import Tab

VERSION = "4.10.3"
SHA256 = "880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb"
#: A page of each kind, and those with something of their own. All of them would take a minute more; of the long ones
#: (the library's functions, the proof) a shorter one of their kind is looked at.
PAGES = (
    "intro", "playground", "theory/approximation", "notebooks/05_bigaussian", "notebooks/13_arena", "in_your_code",
    "large_data", "beyond", "learned", "claims", "equations", "status", "api/datasets", "references", "search",
)  # fmt: skip
#: The contrast of every page, by day and by night, is measured by test_browser.py; axe, which takes long over it,
#: looks at these.
COLOURED = ("intro", "playground", "beyond")

COLOURS = '{runOnly: {type: "rule", values: ["color-contrast", "link-in-text-block"]}}'
ALL_ELSE = '{rules: {"color-contrast": {enabled: false}}}'
#: Which pages by which rules, and when.
LOOKED_AT = {
    "by day": ((PAGES, ALL_ELSE), (COLOURED, COLOURS)),
    "by night": ((COLOURED, COLOURS),),
    "on a phone": ((COLOURED, "{}"),),
}

# The head of a column that is a formula is read from MathJax's hidden MathML, which axe takes for nothing.
FOUND = """
axe.run(document, {resultTypes: ["violations"], ...RULES}).then(found => found.violations.flatMap(v => v.nodes
  .filter(node => v.id !== "empty-table-header" || !document.querySelector(node.target[0]).querySelector("math"))
  .map(node => `${v.id}: ${node.target.join(" ")}: ${node.html.slice(0, 100)}`)))
"""


class Axe:
    """The script, from the package of this version; fetched once, by npm, and kept with the other caches."""

    def __init__(self, root: Path) -> None:
        folder = root / ".cache" / f"axe-core-{VERSION}"
        script = folder / "node_modules" / "axe-core" / "axe.min.js"
        self.missing = "" if script.is_file() else _fetch(folder)
        self._script = "" if self.missing else script.read_text(encoding="utf-8")
        if not self.missing:
            known = hashlib.sha256(self._script.encode("utf-8")).hexdigest() == SHA256
            assert known, "this axe-core is not the one that was looked at"

    def troubles(self, tab: Tab, name: str, when: str) -> list[str]:
        """What it finds wrong with a page of the book, by the rules for that page; nothing where it is missing."""
        rules = [rules for pages, rules in LOOKED_AT[when] if name in pages and not self.missing]
        return [f"{name}: {when} {violation}" for each in rules for violation in self.violations(tab, each)]

    def violations(self, tab: Tab, rules: str = "{}") -> list[str]:
        """What it finds wrong with the page in a tab."""
        tab.run(f"window.axe || (() => {{ {self._script} }})(); true")
        found: list[str] = tab.run(FOUND.replace("RULES", rules))
        return found


def _fetch(folder: Path) -> str:
    """Have npm fetch it; why it could not."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm, which would fetch axe-core, is not installed"
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", str(folder)]
    command = [npm, "install", *options, f"axe-core@{VERSION}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return f"npm could not fetch axe-core: {done.stderr.strip().splitlines()[-1:]}" if done.returncode else ""
