"""Nothing that is read from disk can execute code: no module of the companion has the means."""

import ast
from pathlib import Path

FORBIDDEN_MODULES = {"pickle", "cloudpickle", "dill", "marshal", "shelve", "joblib", "jsonpickle", "runpy", "code"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "read_pickle", "load_extension", "enable_load_extension"}
FORBIDDEN_YAML = {"unsafe_load", "full_load", "load_all", "UnsafeLoader", "FullLoader", "Loader"}


def findings(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            found += [name for name in names if name.split(".")[0] in FORBIDDEN_MODULES]
        elif isinstance(node, ast.Call):
            function = node.func
            name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
            method = isinstance(function, ast.Attribute) and name in {"compile"}  # re.compile is harmless
            if name in FORBIDDEN_CALLS and not method:
                found.append(name)
            # np.save asks to be told that it may not: allow_pickle=False is harmless.
            asked = [word.value for word in node.keywords if word.arg == "allow_pickle"]
            found += [f"{name}(allow_pickle)" for value in asked if getattr(value, "value", True) is not False]
        elif isinstance(node, ast.Attribute) and node.attr in FORBIDDEN_YAML:
            if isinstance(node.value, ast.Name) and node.value.id == "yaml":
                found.append(f"yaml.{node.attr}")
    return found


def test_no_module_of_the_companion_can_execute_what_it_reads(root: Path) -> None:
    modules = sorted((root / "companion").rglob("*.py"))
    assert len(modules) > 100
    found = {str(path.relative_to(root)): findings(path.read_text(encoding="utf-8")) for path in modules}
    assert {path: what for path, what in found.items() if what} == {}
