"""axe-core: its violations on a page of the book."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from .browser import Tab

VERSION = "4.10.3"
SHA256 = "880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb"

# The head of a column that is a formula is read from MathJax's hidden MathML, which axe takes for nothing.
FOUND = """
axe.run(document, {resultTypes: ["violations"]}).then(found => found.violations.flatMap(v => v.nodes
  .filter(node => v.id !== "empty-table-header" || !document.querySelector(node.target[0]).querySelector("math"))
  .map(node => `${v.id}: ${node.target.join(" ")}: ${node.html.slice(0, 100)}`)))
"""


def script(root: Path) -> str:
    """axe-core in this version, fetched once by npm and kept with the other caches; skips where it cannot be had."""
    folder = root / ".cache" / f"axe-core-{VERSION}"
    path = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not path.is_file():
        npm = shutil.which("npm") or pytest.skip("npm, which would fetch axe-core, is not installed")
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", str(folder)]
        done = subprocess.run([npm, "install", *options, f"axe-core@{VERSION}"], capture_output=True, timeout=300)
        if done.returncode:
            pytest.skip("npm could not fetch axe-core")
    text = path.read_text(encoding="utf-8")
    assert hashlib.sha256(text.encode("utf-8")).hexdigest() == SHA256
    return text


def violations(tab: Tab, axe: str) -> list[str]:
    """What axe finds wrong with the page in a tab."""
    tab.run(f"window.axe || (() => {{ {axe} }})(); true")
    found: list[str] = tab.run(FOUND)
    return found
