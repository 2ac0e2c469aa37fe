"""axe-core over the book: what it calls a violation is none of ours, and none of the theme's that we could mend."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from . import browser as chromium
from .browser import PHONE, Tab

pytestmark = pytest.mark.skipif(chromium.find() is None, reason="there is no Chromium or Chrome on this machine")

VERSION = "4.10.3"
SHA256 = "880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb"
#: A page of each kind, and those with something of their own. All of them would take a minute more; of the long ones
#: (the library's functions, the proof) a shorter one of their kind is looked at.
PAGES = (
    "intro", "playground", "theory/approximation", "notebooks/01_approximation", "notebooks/05_bigaussian",
    "notebooks/10_descents", "notebooks/13_arena", "in_your_code", "large_data", "beyond", "learned", "claims",
    "equations", "status", "api/datasets", "references", "search",
)  # fmt: skip
#: The contrast of every page, by day and by night, is measured by test_browser.py; axe, which takes long over it,
#: looks at these.
COLOURED = ("intro", "playground", "notebooks/05_bigaussian", "beyond")

# The head of a column that is a formula is read from MathJax's hidden MathML, which axe takes for nothing.
FOUND = """
axe.run(document, {resultTypes: ["violations"], ...RULES}).then(found => found.violations.flatMap(v => v.nodes
  .filter(node => v.id !== "empty-table-header" || !document.querySelector(node.target[0]).querySelector("math"))
  .map(node => `${v.id}: ${node.target.join(" ")}: ${node.html.slice(0, 100)}`)))
"""


@pytest.fixture(scope="session")
def axe(root: Path) -> str:
    """The script, from the package of this version; fetched once, by npm, and kept with the other caches."""
    folder = root / ".cache" / f"axe-core-{VERSION}"
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("npm, which would fetch axe-core, is not installed")
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", str(folder)]
        command = [npm, "install", *options, f"axe-core@{VERSION}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            pytest.skip(f"npm could not fetch axe-core: {done.stderr.strip().splitlines()[-1:]}")
    content = script.read_bytes()
    assert hashlib.sha256(content).hexdigest() == SHA256, "this axe-core is not the one that was looked at"
    return content.decode("utf-8")


def violations(tab: Tab, axe: str, rules: str = "{}") -> list[str]:
    tab.run(f"{axe}; true")
    found: list[str] = tab.run(FOUND.replace("RULES", rules))
    return found


COLOURS = '{runOnly: {type: "rule", values: ["color-contrast", "link-in-text-block"]}}'
ALL_ELSE = '{rules: {"color-contrast": {enabled: false}}}'


@pytest.mark.parametrize(
    ("scheme", "pages", "rules"),
    [("light", PAGES, ALL_ELSE), ("light", COLOURED, COLOURS), ("dark", COLOURED, COLOURS)],
    ids=["all else", "colours by day", "colours by night"],
)
def test_axe_finds_nothing(tab: Tab, built: Path, axe: str, scheme: str, pages: tuple[str, ...], rules: str) -> None:
    found = []
    tab.prefer(scheme)
    for name in pages:
        tab.open(f"{built.as_uri()}/{name}.html")
        found += [f"{name}: {violation}" for violation in violations(tab, axe, rules)]
    assert found == []


def test_axe_finds_nothing_on_a_phone(tab: Tab, built: Path, axe: str) -> None:
    found = []
    tab.resize(PHONE, 844, phone=True)
    for name in ("intro", "playground", "notebooks/05_bigaussian"):
        tab.open(f"{built.as_uri()}/{name}.html")
        found += [f"{name}: {violation}" for violation in violations(tab, axe)]
    assert found == []


def test_a_bad_page_is_seen_to_be_bad(tab: Tab, tmp_path: Path, axe: str) -> None:
    page = tmp_path / "bad.html"
    page.write_text("<html><title>bad</title><main><img src='none.png'><button></button></main></html>")
    tab.open(page.as_uri())
    text = "\n".join(violations(tab, axe))
    for rule in ("button-name", "html-has-lang", "image-alt"):
        assert f"{rule}: " in text
