"""What the command says of itself, and how it refuses: a sentence, an exit code, a traceback only on request."""

import os
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from companion.chapters import PROFILES
from companion.cli import nystrom
from companion.cli.base import one_sentence

from .conftest import COMMAND, Done, all_refused, call, fine, forked, refused

COMMANDS = [
    ["list"], ["params"], ["run"], ["sweep"], ["book"], ["data"], ["data", "list"], ["data", "fetch"],
    ["data", "check"], ["optimise"], ["verify"], ["compare"], ["paper"],
]  # fmt: skip


def test_the_console_script_is_the_module(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("nystrom")
    done = subprocess.run([script, "--help"], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout == fine(call("--help", cwd=tmp_path))
    assert "Exit codes:" in done.stdout
    for words in COMMANDS:
        assert f"\n  {words[0]} " in done.stdout


def test_help_needs_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from companion.cli import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit:\n    print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    loaded = set(done.stdout.split())
    assert "click" in loaded
    assert not loaded & {"pandas", "pyarrow", "matplotlib", "papermill", "nbformat", "IPython", "distributed"}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_examples_and_exit_codes(words: list[str]) -> None:
    command, context = nystrom, nystrom.make_context("nystrom", ["--debug"], resilient_parsing=True)
    for word in words:
        command = command.get_command(context, word)
        assert command is not None
        context = type(context)(command, parent=context, info_name=word)
    text = command.get_help(context)
    assert "Example" in text and f"nystrom {' '.join(words)}" in text
    assert "Exit codes:" in text and "130" in text and "--debug" in text


def test_profiles_are_those_of_the_chapters() -> None:
    for name in ("run", "sweep", "params"):
        (profile,) = (each for each in nystrom.commands[name].params if each.name == "profile")
        assert tuple(profile.type.choices) == PROFILES


def test_no_words_are_answered_with_the_help(tmp_path: Path) -> None:
    done = call(cwd=tmp_path)
    assert done.returncode == 2 and "Usage: nystrom" in done.stderr


BAD_USAGE = [
    (["optimize"], 2, "No such command 'optimize'"),  # newer versions of click go on: Did you mean …
    (["run"], 2, "Missing argument 'NAME' (see nystrom run --help)."),
    (["run", "bigausian"], 2, "There is no chapter 'bigausian' (did you mean 'bigaussian'?); known:"),
    (["params", "nothing"], 2, "There is no chapter 'nothing'; known:"),
    (["run", "bigaussian", "--profil", "smoke"], 2, "No such option"),
    (["run", "bigaussian", "--profile", "tiny"], 2, "'tiny' is not one of 'paper', 'quick', 'smoke'"),
    (["run", "bigaussian", "--jobs", "0"], 2, "'0' must be a whole number, at least 1"),
    (["data", "check", "abalon"], 2, "There is no data set 'abalon' (did you mean 'abalone'?)"),
    (["paper", "figure-2-n2"], 2, "There is no experiment 'figure-2-n2' (did you mean 'figure-2-n20'?)"),
    (["book", "--jobs", "0"], 2, "'0' must be a whole number, at least 1"),
    (["compare", "here", "there"], 2, "Path 'here' does not exist"),
]


def test_bad_usage_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    all_refused(BAD_USAGE, [tmp_path] * len(BAD_USAGE))
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    for words in (["--debug", "params", "nothing"], ["params", "nothing", "--debug"]):
        done = call(*words, cwd=tmp_path)
        assert done.returncode == 2
        assert "Traceback" in done.stderr and done.stderr.strip().splitlines()[-1].startswith("nystrom: There is no")


def test_errors_have_the_codes_that_are_documented() -> None:
    from companion.errors import ConfigurationError, Interrupted, StoreError
    from nystrom_lib import DescentError

    assert one_sentence(ConfigurationError("n", "is 0;\n it must be more.")) == (2, "n is 0; it must be more.")
    assert one_sentence(StoreError("Full.")) == (1, "Full.")
    assert one_sentence(OSError("Gone.")) == (1, "Gone.")
    assert one_sentence(DescentError(3, None, 1.0))[0] == 1  # type: ignore[arg-type]
    assert one_sentence(Interrupted("Stopped: 3 are stored.")) == (130, "Stopped: 3 are stored.")
    assert one_sentence(KeyboardInterrupt()) == (130, "Stopped; nothing was stored.")
    code, said = one_sentence(ZeroDivisionError("division by zero"))
    assert code == 1 and said.startswith("ZeroDivisionError: division by zero") and "--debug" in said


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*forked(), "paper", "--list"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() in (0, 141)


def test_help_is_quick(tmp_path: Path) -> None:
    """It adds next to nothing to the import of the library: processor time, which does not depend on other work."""

    def seconds(*words: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], capture_output=True, cwd=tmp_path, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    added = min(seconds("-m", "companion", "--help") - seconds("-c", "import nystrom_lib") for _ in range(2))
    assert added < 0.3


@pytest.mark.parametrize("closed", [">&-", "<&- 2>&-", ">&- 2>&-"])
def test_a_stream_that_is_closed_is_no_error(tmp_path: Path, closed: str) -> None:
    """Catches a traceback about None, where a job has nowhere to print to, and text that ends up in a file of ours."""
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=(40, 2)))
    words = " ".join([*map(shlex.quote, COMMAND), "optimise a.npy -n 3 --rho 1 --iterations 5 -o b.csv", closed])
    done = subprocess.run(["sh", "-c", words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "b.csv").read_text(encoding="utf-8").splitlines()) == 4


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_behind_the_output_is_one_sentence(tmp_path: Path) -> None:
    """Catches the interpreter's own complaint at its end, and an exit code that says all is well."""
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, "list"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "nystrom: No space left on device.\n")


def test_a_name_that_the_locale_has_no_letters_for_is_refused(tmp_path: Path) -> None:
    """Catches an error about surrogates, at the end of a run, in whatever record names the path."""
    folder = tmp_path / "größe"
    folder.mkdir()
    np.save(folder / "ü.npy", np.random.default_rng(0).normal(size=(40, 2)))
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    def said(*words: str, cwd: Path, **environment: str) -> Done:
        command = [*COMMAND, *words]
        return subprocess.run(command, cwd=cwd, env=plain | environment, capture_output=True, text=True)

    for words, cwd in ((["run", "bigaussian", "--profile", "smoke"], folder), (["optimise", "größe/ü.npy"], tmp_path)):
        assert "letters that the locale (ascii) lacks; set PYTHONUTF8=1" in refused(said(*words, cwd=cwd), 2)
    fine(said("list", cwd=tmp_path))
    fine(said("optimise", "ü.npy", "-n", "3", "--rho", "1", "--iterations", "2", cwd=folder, PYTHONUTF8="1"))
    assert sorted(path.name for path in folder.iterdir()) == ["landmarks.json", "landmarks.npy", "ü.npy"]
