"""A notebook from nothing at ``smoke``: everything computed, without much work."""

import json
import re
from pathlib import Path

import pytest

from companion.chapters import CHAPTERS
from companion.notebook.execute import execute
from companion.results.table import Results

from .processes import pictures, texts

#: The others are run with ``-m slow``.
QUICK = ("bigaussian", "your_data", "prediction")
#: Pictures of stored studies, which are the same at all parameters: the real rows of MiniBooNE.
STORED = {"miniboone": 1}


NAMES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CHAPTERS]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_from_nothing(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / name
    execute(CHAPTERS[name], {}, run, profile="smoke", jobs=1)
    # A slow machine shows lines on the progress.
    assert [line for line in capsys.readouterr().err.splitlines() if not re.search(r": \d+/\d+ \w+s", line)] == []
    assert json.loads((run / "run.json").read_text())["status"] == "finished"
    assert (run / f"{name}.html").is_file()
    assert len(list((run / "figures").glob("*.svg"))) == len(list((run / "figures").glob("*.png"))) > 0
    committed, smoke = CHAPTERS[name].path, run / f"{name}.ipynb"
    assert not any("stored at full scale" in text for text in texts(smoke))
    # Other parameters change figures and prose; the first text is the table of parameters and the last the foot.
    assert len(set(pictures(committed)) & set(pictures(smoke))) == STORED.get(name, 0)
    assert texts(committed)[1:-1] != texts(smoke)[1:-1]
    # The experiments that are validated before the run are those of the notebook.
    declared = getattr(CHAPTERS[name].settings(profile="smoke"), "experiments", list)()
    declared = {each.fingerprint for each in (declared.values() if isinstance(declared, dict) else declared)}
    assert {Results.load(path).experiment.fingerprint for path in (run / "results").glob("*.parquet")} == declared
