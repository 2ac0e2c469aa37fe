"""The files that install the project agree with each other and hold nothing of one machine."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.nystrom_lib.test_import_rule import LIBRARY, imported

COMPANION = "companion"

PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)(?: ; (?P<marker>[^\\]+?))?(?: \\)?$")


@pytest.fixture(scope="module")
def pyproject(root: Path) -> dict[str, Any]:
    """The library's."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def companion(root: Path) -> dict[str, Any]:
    """The companion's."""
    return tomllib.loads((root / "companion" / "pyproject.toml").read_text(encoding="utf-8"))


def output_of(command: list[str], cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """What a command prints; its complaint is the message if it fails."""
    run = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def pins(path: Path) -> dict[str, tuple[str, str | None]]:
    """Name -> (version, marker) of each unindented line; any other line than an exact pin is refused."""
    found: dict[str, tuple[str, str | None]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith((" ", "#")):
            continue
        match = PIN.match(line)
        assert match, f"{path.name}: {line!r} is not an exact pin"
        name = canonicalize_name(match["name"])
        assert name not in found, f"{path.name}: {name} is pinned twice"
        found[name] = (match["version"], match["marker"])
    return found


def declared(*pyprojects: dict[str, Any]) -> list[Requirement]:
    """All requirements, to build, to run, of the extras and of the tools, but for the library itself."""
    lines: list[str] = []
    for each in pyprojects:
        project = each["project"]
        lines += [*each["build-system"]["requires"], *project["dependencies"]]
        groups = [*project.get("optional-dependencies", {}).values(), *each.get("dependency-groups", {}).values()]
        lines += [line for group in groups for line in group]
    found = [Requirement(line) for line in lines]
    return [each for each in found if each.name != pyprojects[0]["project"]["name"]]


def test_every_locked_package_has_hashes(root: Path) -> None:
    blocks = re.split(r"\n(?=\S)", (root / "requirements.lock").read_text(encoding="utf-8"))
    bare = [block.splitlines()[0] for block in blocks if not re.search(r"--hash=sha256:[0-9a-f]{64}", block)]
    assert bare == []


def test_the_lock_fits_the_ranges_of_both_packages(
    root: Path, pyproject: dict[str, Any], companion: dict[str, Any]
) -> None:
    locked = pins(root / "requirements.lock")
    for requirement in declared(pyproject, companion):
        name = canonicalize_name(requirement.name)
        assert name in locked, f"{name} is declared but not locked: run make lock"
        version, _ = locked[name]
        assert requirement.specifier.contains(version), f"{name} {version} is locked, {requirement} is declared"


def test_every_range_has_a_lower_bound(pyproject: dict[str, Any], companion: dict[str, Any]) -> None:
    requirements = declared(pyproject, companion)
    assert [str(r) for r in requirements if not any(s.operator in (">=", "==") for s in r.specifier)] == []


def test_the_library_declares_what_it_imports_and_imports_what_it_declares(
    root: Path, pyproject: dict[str, Any]
) -> None:
    project = pyproject["project"]
    extras = {name: names_of(lines) for name, lines in project["optional-dependencies"].items() if name != "test"}
    optional = set().union(*extras.values())
    required = names_of(project["dependencies"])
    imports = distributions_of(set((root / LIBRARY).rglob("*.py")), root) - {"distributed"}  # with dask[distributed]
    assert required <= imports <= required | optional
    # Modules of extras are imported inside functions, by name.
    assert extras["files"] | extras["sklearn"] <= imports | {"pandas", "pooch", "pyarrow"}


def test_the_companion_declares_what_it_imports(
    root: Path, pyproject: dict[str, Any], companion: dict[str, Any]
) -> None:
    """What the library requires, with its extras, comes with the library."""
    project = pyproject["project"]
    lines = [*project["dependencies"], *companion["project"]["dependencies"]]
    lines += [line for name in ("cluster", "files", "sklearn") for line in project["optional-dependencies"][name]]
    imports = distributions_of(set((root / "companion").rglob("*.py")), root)
    assert imports - {"distributed", "faiss-cpu"} <= names_of(lines)


def names_of(lines: list[str]) -> set[str]:
    """The packages that requirements name."""
    return {canonicalize_name(Requirement(line).name) for line in lines}


def distributions_of(paths: set[Path], root: Path) -> set[str]:
    """The packages that these files import from elsewhere."""
    names = {name.partition(".")[0] for path in paths for name in imported(path, root)}
    packages = packages_distributions()
    names -= sys.stdlib_module_names | {LIBRARY, COMPANION}
    return {canonicalize_name(packages.get(name, [name])[0]) for name in names}


def test_conda_users_get_the_same_pins(root: Path, pyproject: dict[str, Any]) -> None:
    environment = yaml.safe_load((root / "environment.yml").read_text(encoding="utf-8"))
    *conda, last = environment["dependencies"]
    assert [line.partition("=")[0] for line in conda] == ["python", "pip"]
    python = conda[0].partition("=")[2]
    assert pyproject["project"]["requires-python"] == f">={python}"
    # The pins by reference, never by copy: one list cannot drift from itself.
    assert last == {"pip": ["-r requirements.txt", "-e .", "-e ./companion"]}


def test_one_version_and_one_oldest_python_everywhere(
    root: Path, pyproject: dict[str, Any], companion: dict[str, Any]
) -> None:
    import nystrom_lib

    project = pyproject["project"]
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == project["version"] == nystrom_lib.__version__ == companion["project"]["version"]
    assert companion["project"]["requires-python"] == project["requires-python"]
    oldest = project["requires-python"].removeprefix(">=")
    assert pyproject["tool"]["mypy"]["python_version"] == oldest
    assert pyproject["tool"]["ruff"]["target-version"] == "py" + oldest.replace(".", "")
    assert f"LOCK_PYTHON ?= {oldest}\n" in (root / "Makefile").read_text(encoding="utf-8")
    workflow = yaml.safe_load((root / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    tested = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    named = [
        c.rpartition(" ")[2] for c in project["classifiers"] if c.startswith("Programming Language :: Python :: 3.")
    ]
    assert tested == named and tested[0] == oldest


def test_every_make_target_says_what_it_does(root: Path) -> None:
    text = (root / "Makefile").read_text(encoding="utf-8")
    match = re.search(r"^\.PHONY: (.+)$", text, flags=re.MULTILINE)
    assert match
    shown = output_of(["make", "-s", "--no-print-directory"], root)
    listed = re.findall(r"^  ([a-z-]+) +\S", shown, flags=re.MULTILINE)
    assert listed == match[1].split()


def test_importing_the_library_imports_no_optional_package() -> None:
    code = "import sys, nystrom_lib; print(*sys.modules)"
    modules = set(output_of([sys.executable, "-c", code]).split())
    optional = {"companion", "dask", "matplotlib", "nystrom_lib.datasets", "pandas", "pooch", "pyarrow", "sklearn"}
    assert optional & modules == set()


def test_the_first_example_of_the_readme_prints_what_it_says(root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    match = re.search(r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", readme, flags=re.DOTALL)
    assert match, "README.md has no example followed by what it prints"
    code, printed = match.groups()
    assert len([line for line in code.splitlines() if line]) <= 10
    assert output_of([sys.executable, "-W", "error", "-c", code]) == printed


def test_the_map_of_the_code_names_what_exists(root: Path) -> None:
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w.]*(?:/[\w.]*)+|[\w.-]+\.(?:md|toml|yaml|lock|txt))`", text)
    assert "nystrom_lib/_core/" in named
    made = ("_build/", ".venv/bin")  # by make
    assert [name for name in named if not name.startswith(made) and not (root / name).exists()] == []


def project_files(root: Path) -> list[Path]:
    """The files git has or would take; without git, nobody can tell them from rubbish."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this folder is not a git checkout, so the project's own files are not known")
    return [root / name for name in run.stdout.split("\0") if name and (root / name).is_file()]


# Put together here, so that this file does not hold what it looks for.
FORBIDDEN = {
    "a package registry's address": "|".join(
        ["py" + r"pi(\.\w|/)", "python" + "hosted", "npm" + r"js\.", "index" + "-url", "find" + "-links"]
    ),
    "a path of one machine": r"(?<![\w.])/(?:" + "|".join(["work", "root", "home", "Users", "opt"]) + r")/\w",
}


def test_no_registry_address_and_no_machine_path(root: Path) -> None:
    found = []
    for path in project_files(root):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for what, pattern in FORBIDDEN.items():
            for match in re.finditer(pattern, text, flags=re.IGNORECASE):
                found.append(f"{path.relative_to(root)}: {match[0]!r} is {what}")
    assert found == []
