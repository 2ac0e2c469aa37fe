"""Neither a ``python3`` kernel that the user has registered nor their start-up files have a part in a chapter."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.disks import disk

from .processes import ROOT, environment, start

SCRIPT = "#!/bin/sh\necho started >> {marker}\nexit 1\n"


def register(folder: Path, marker: Path) -> Path:
    """A kernel called python3 that leaves a mark and dies."""
    kernel = folder / "kernels" / "python3"
    kernel.mkdir(parents=True)
    script = folder / "hostile"
    script.write_text(SCRIPT.format(marker=marker))
    script.chmod(0o755)
    argv = [str(script), "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
    return script


@pytest.fixture
def hostile(tmp_path: Path) -> dict[str, str]:
    """Kernels along JUPYTER_PATH, in Jupyter's data folder and in the user's home, and an IPython start-up file."""
    home, marker = tmp_path / "home", tmp_path / "marker"
    ours = {
        "JUPYTER_PATH": register(tmp_path / "path", marker),
        "JUPYTER_DATA_DIR": register(tmp_path / "data", marker),
        "HOME": register(home / ".local" / "share" / "jupyter", marker),
    }
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    # The user's folders come before the environment's with this, as they do outside of environments.
    user = {"JUPYTER_PREFER_ENV_PATH": "0", "IPYTHONDIR": str(tmp_path / "ipython"), "HOME": str(home)}
    places = {name: {"HOME": str(home)}.get(name, str(script.parent)) for name, script in ours.items()}
    code = "from jupyter_client.kernelspec import get_kernel_spec as get; print(get('python3').argv[0])"
    for name, script in ours.items():
        found = start("-c", code, env=environment(**user, **({} if name == "HOME" else {name: places[name]})), new=True)
        assert found.stdout.strip() == str(script), "the trap is not set"
    return {**user, **places}


def test_the_projects_own_interpreter_and_modules_run_a_chapter(hostile: dict[str, str], tmp_path: Path) -> None:
    """Catches the user's kernel, and a matplotlib.py of theirs, beside their data, that a chapter executes."""
    for name in ("matplotlib", "numba", "numpy", "IPython", "pandas", "secrets"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'marker')!r}, 'a').write({name!r})\n")
    script = "from tests.companion.notebooks.tiny import write; from companion.notebook.execute import execute; "
    script += f"from pathlib import Path; execute(write(Path({str(tmp_path)!r})), {{'m': 2}}, 'run', jobs=1)"
    done = start("-P", "-c", script, cwd=tmp_path, env=environment(**hostile), new=True)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "finished"
    marker = tmp_path / "marker"
    assert not marker.exists(), marker.read_text()
    assert not list(tmp_path.glob("ipython/profile_default/history.sqlite")), "nothing is left in the user's folders"


def without_loopback() -> list[str]:
    """A shell prefix with a network namespace whose loopback is down; [] where that is not allowed."""
    prefix = ["unshare", "--net"]
    try:
        return prefix if subprocess.run([*prefix, "true"], capture_output=True).returncode == 0 else []
    except FileNotFoundError:
        return []


@pytest.mark.skipif(not without_loopback(), reason="a network without loopback needs root, and unshare")
def test_a_machine_without_loopback_is_told_at_once(tmp_path: Path) -> None:
    """Catches five minutes of waiting for a kernel that nobody can speak to."""
    words = [sys.executable, "-m", "tests.companion.notebooks.tiny", str(tmp_path), str(tmp_path / "run"), "m=2"]
    done = subprocess.run(
        [*without_loopback(), *words], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=100
    )
    assert "ChapterError: Notebooks need the machine's own network, 127.0.0.1" in done.stderr


def test_a_full_disk_is_named_and_leaves_no_half_of_a_notebook(tmp_path: Path) -> None:
    """Catches "Notebook does not appear to be JSON", which blames the file that we failed to write."""
    with disk(tmp_path / "disk", "size=16k") as small:
        done = start("-m", "tests.companion.notebooks.tiny", tmp_path, small / "run", "m=2")
        last = done.stderr.strip().splitlines()[-1]
        assert "No space left on device" in last and "JSON" not in done.stderr
        assert all(path.stat().st_size > 0 for path in small.rglob("*") if path.is_file())
        for path in (small / "run").glob("*.ipynb"):
            json.loads(path.read_text())
