"""Each notebook from nothing at ``smoke``: everything computed, without much work."""

import contextlib
import io
import json
from pathlib import Path

import pytest

from companion.chapters import CHAPTERS
from companion.notebook.execute import execute
from companion.results.table import Results

from .processes import pictures, texts

COMMITTED = [name for name, each in CHAPTERS.items() if each.path.is_file()]


@pytest.fixture(scope="module", params=COMMITTED)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def run(name: str, forked: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a chapter's run, which sees no stored result because its parameters are not the paper's."""
    folder = tmp_path_factory.mktemp("smoke") / name
    with contextlib.redirect_stderr(io.StringIO()) as complaints:
        execute(name, {}, folder, profile="smoke", jobs=1)
    assert complaints.getvalue() == ""
    return folder


def test_a_notebook_runs_from_nothing(run: Path, name: str) -> None:
    record = json.loads((run / "run.json").read_text())
    assert record["status"] == "finished"
    assert (run / f"{name}.html").is_file()
    assert len(list((run / "figures").glob("*.svg"))) == len(list((run / "figures").glob("*.png"))) > 0
    assert not any("stored at full scale" in text for text in texts(run / f"{name}.ipynb"))


def test_other_parameters_change_figures_and_prose(run: Path, name: str) -> None:
    """Against the committed notebook, which is at the paper's parameters."""
    committed, smoke = CHAPTERS[name].path, run / f"{name}.ipynb"
    assert set(pictures(committed)).isdisjoint(pictures(smoke))
    # The first text is the table of parameters and the last the foot: what differs must differ between them.
    assert texts(committed)[1:-1] != texts(smoke)[1:-1]


def test_a_chapter_knows_which_experiments_its_notebook_asks_for(run: Path, name: str) -> None:
    """Catches a list, by which a cluster with nothing to do is refused, that is not the notebook's."""
    each, stored = CHAPTERS[name], (run / "results").glob("*.parquet")
    declared = {experiment.fingerprint for experiment in each.experiments(each.settings(profile="smoke"))}
    assert {Results.load(path).experiment.fingerprint for path in stored} == declared
