"""The compiled loops. Nothing here validates, and nothing here knows the rest of the library."""
