"""The package boundary: the companion and the benchmarks import only public names, and the library imports neither."""

import ast
from collections.abc import Iterator
from pathlib import Path

import nystrom_lib

LIBRARY, CORE = "nystrom_lib", "nystrom_lib._core"
USERS = ("companion", "benchmarks")
#: Modules of the library whose ``__all__`` is public.
PUBLIC = (LIBRARY, f"{LIBRARY}.datasets", f"{LIBRARY}.estimators")
#: Attributes of an alias ``nl`` that are modules, but not public.
MODULES = {path.stem for path in Path(nystrom_lib.__file__).parent.iterdir()} - set(nystrom_lib.__all__)


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
            yield from (f"{source}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "nl":
            if node.attr in MODULES or (node.attr.startswith("_") and not node.attr.startswith("__")):
                yield f"{LIBRARY}.{node.attr}"


def is_public(name: str) -> bool:
    """Whether this is a public module of the library, or a name in the ``__all__`` of one."""
    module, _, last = name.rpartition(".")
    return name in PUBLIC or (module in PUBLIC and (last == "__version__" or f'"{last}"' in listed(module)))


def listed(module: str) -> str:
    """The source of ``__all__``."""
    folder = Path(nystrom_lib.__file__).parents[1].joinpath(*module.split("."))
    return (folder / "__init__.py").read_text(encoding="utf-8").partition("__all__")[2]


def broken_rules(root: Path) -> list[str]:
    found = []
    for path in sorted(path for package in (LIBRARY, *USERS) for path in (root / package).rglob("*.py")):
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for name in imported(path, root):
            if within(module, LIBRARY) and any(within(name, user) for user in USERS):
                found.append(f"{module} imports {name}: the library never imports its users")
            if within(module, CORE) and within(name, LIBRARY) and not within(name, CORE):
                found.append(f"{module} imports {name}: the core imports only itself")
            if not within(module, LIBRARY) and within(name, LIBRARY) and not is_public(name):
                found.append(f"{module} imports {name}: only public names")
    return found


def test_every_import_keeps_the_rule(root: Path) -> None:
    assert (root / LIBRARY / "__init__.py").is_file()
    assert broken_rules(root) == []
