"""Which module may import which: the library never needs its companion, the core needs nothing else, and the rooms of
the companion stand in a row."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

LIBRARY = "nystrom_lib"
CORE = f"{LIBRARY}._core"
COMPANION = "companion"
ENTRY = "companion.__main__"
#: The rooms of the companion in the order data go through them: each imports from itself, from those before it, and
#: from the modules that lie beside the rooms, which need none of them.
ROOMS = (
    "experiments", "results", "running", "studies", "figures", "chapters", "claims", "notebook", "book", "cli",
)  # fmt: skip


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def imported(path: Path, root: Path) -> Iterator[str]:
    """Absolute names of everything that ``path`` imports, also inside functions."""
    package = path.relative_to(root).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            source = ".".join([*base, *([node.module] if node.module else [])])
            # `from package import name` may name a module: it counts as package.name.
            yield from (f"{source}.{alias.name}" for alias in node.names)


def room(module: str) -> int:
    """Position of the companion's folder that holds a module, counted from 1; 0 for modules beside the folders."""
    name = module.removeprefix(COMPANION + ".").split(".")[0]
    return ROOMS.index(name) + 1 if name in ROOMS else 0


def broken_rules(root: Path) -> list[str]:
    found = []
    for path in sorted([*(root / LIBRARY).rglob("*.py"), *(root / COMPANION).rglob("*.py")]):
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for name in imported(path, root):
            if within(name, COMPANION) and not within(module, COMPANION):
                found.append(f"{module} imports {name}: only the companion may")
            if within(module, CORE) and within(name, LIBRARY) and not within(name, CORE):
                found.append(f"{module} imports {name}: the core imports only itself")
            if within(module, COMPANION) and within(name, COMPANION) and room(name) > room(module) and module != ENTRY:
                found.append(f"{module} imports {name}: a folder imports only from those before it")
    return found


def test_every_import_keeps_the_rule(root: Path) -> None:
    assert (root / LIBRARY / "__init__.py").is_file()
    assert broken_rules(root) == []


def test_every_folder_of_the_companion_has_its_place_in_the_row(root: Path) -> None:
    folders = {path.parent.name for path in (root / COMPANION).glob("*/__init__.py")}
    assert folders == set(ROOMS)


@pytest.mark.parametrize(
    ("where", "line", "allowed"),
    [
        ("nystrom_lib/descent.py", "from companion import results", False),
        ("nystrom_lib/descent.py", "def f():\n    import companion.results", False),
        ("nystrom_lib/_core/sums.py", "from ..kernels import Gaussian", False),
        ("nystrom_lib/_core/sums.py", "from nystrom_lib import kernels", False),
        ("nystrom_lib/_core/sums.py", "import nystrom_lib", False),
        ("nystrom_lib/_core/sums.py", "from . import exponential\nimport numpy", True),
        ("nystrom_lib/_core/sums.py", "from nystrom_lib._core.exponential import exp", True),
        ("nystrom_lib/descent.py", "from ._core import sums", True),
        ("companion/results/table.py", "from nystrom_lib import Gaussian\nfrom ..experiments import seeds", True),
        ("companion/results/table.py", "from . import store\nfrom ..settings import canonical_json", True),
        ("companion/results/table.py", "def f():\n    from ..running.runner import recompute", False),
        ("companion/results/table.py", "from .. import figures", False),
        ("companion/results/table.py", "import companion.book", False),
        ("companion/book/__init__.py", "from ..notebook.page import begin", True),
        ("companion/notebook/__init__.py", "from ..book import build", False),
        ("companion/settings.py", "from .errors import CompanionError", True),
        ("companion/settings.py", "from .experiments.config import Experiment", False),
    ],
)
def test_the_rule_tells_good_imports_from_bad(tmp_path: Path, where: str, line: str, allowed: bool) -> None:
    path = tmp_path / where
    path.parent.mkdir(parents=True)
    path.write_text(line + "\n", encoding="utf-8")
    assert (broken_rules(tmp_path) == []) is allowed
