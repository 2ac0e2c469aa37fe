"""What the command says of itself, and how it refuses: a sentence, an exit code, a traceback only on request."""

import subprocess
import sys
from pathlib import Path

import pytest

from companion.cli import nystrom
from companion.cli.base import check_locale, one_sentence
from companion.errors import ConfigurationError, Interrupted, StoreError
from nystrom_lib import DescentError

from .conftest import call


def test_help_needs_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from companion.cli import main\n"
        "sys.argv = ['nystrom', '--help']\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    loaded = set(done.stdout.split())
    assert "click" in loaded
    assert not loaded & {"pandas", "pyarrow", "matplotlib", "papermill", "nbformat", "IPython", "distributed"}


@pytest.mark.parametrize("name", nystrom.commands)
def test_every_command_has_examples_and_exit_codes(name: str, tmp_path: Path) -> None:
    text = call(name, "--help", cwd=tmp_path).stdout
    assert "Example" in text and f"nystrom {name}" in text
    assert "Exit codes:" in text and "130" in text and "--debug" in text


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    for words in (["--debug", "params", "nothing"], ["params", "nothing", "--debug"]):
        done = call(*words, cwd=tmp_path)
        assert done.exit_code == 2
        assert "Traceback" in done.stderr and done.stderr.strip().splitlines()[-1].startswith("nystrom: There is no")


def test_errors_have_the_codes_that_are_documented() -> None:
    assert one_sentence(ConfigurationError("n", "is 0;\n it must be more.")) == (2, "n is 0; it must be more.")
    assert one_sentence(StoreError("Full.")) == (1, "Full.")
    assert one_sentence(OSError("Gone.")) == (1, "Gone.")
    assert one_sentence(DescentError(3, None, 1.0))[0] == 1  # type: ignore[arg-type]
    assert one_sentence(Interrupted("Stopped: 3 are stored.")) == (130, "Stopped: 3 are stored.")
    assert one_sentence(KeyboardInterrupt()) == (130, "Stopped; nothing was stored.")
    code, said = one_sentence(ZeroDivisionError("division by zero"))
    assert code == 1 and said.startswith("ZeroDivisionError: division by zero") and "--debug" in said


def test_a_name_that_the_locale_has_no_letters_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches an error about surrogates at the end of a run, in the record that names the path."""
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: "ascii")
    with pytest.raises(ConfigurationError, match=r"letters that the locale \(ascii\) lacks; set PYTHONUTF8=1"):
        check_locale(["optimise", "gr\udcc3\udcb6\udcc3\udc9fe.npy"])
