"""Neither a ``python3`` kernel that the user has registered nor their start-up files have a part in a chapter."""

import json
from pathlib import Path

import pytest

from .processes import environment, start

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
        found = start("-c", code, env=environment(**user, **({} if name == "HOME" else {name: places[name]})))
        assert found.stdout.strip() == str(script), "the trap is not set"
    return {**user, **places}


def test_the_projects_own_interpreter_runs_a_chapter(hostile: dict[str, str], tmp_path: Path) -> None:
    done = start("-m", "tests.notebooks.tiny", tmp_path, tmp_path / "run", "m=2", env=environment(**hostile))
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "finished"
    assert not (tmp_path / "marker").exists()
    assert not list(tmp_path.glob("ipython/profile_default/history.sqlite")), "nothing is left in the user's folders"
