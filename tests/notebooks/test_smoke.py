"""Each notebook from nothing at ``smoke``: everything computed, without much work."""

import json

import pytest

from nystrom_lib.companion.chapters import CHAPTERS
from nystrom_lib.companion.results.table import Results

from .processes import Several, chapter, pictures, texts

COMMITTED = [name for name, each in CHAPTERS.items() if each.path.is_file()]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory):
    """All of them, in processes that see no stored result because their parameters are not the paper's."""
    several = Several()
    several.folder = tmp_path_factory.mktemp("smoke")
    for name in COMMITTED:
        several.add(name, chapter, name, several.folder / name, "smoke")
    yield several
    several.close()


@pytest.mark.parametrize("name", COMMITTED)
def test_a_notebook_runs_from_nothing(runs: Several, name: str) -> None:
    done = runs[name]
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    run = runs.folder / name
    record = json.loads((run / "run.json").read_text())
    assert record["status"] == "finished"
    assert (run / f"{name}.html").is_file()
    assert len(list((run / "figures").glob("*.svg"))) == len(list((run / "figures").glob("*.png"))) > 0
    assert not any("stored at full scale" in text for text in texts(run / f"{name}.ipynb"))


@pytest.mark.parametrize("name", COMMITTED)
def test_other_parameters_change_figures_and_prose(runs: Several, name: str) -> None:
    """Against the committed notebook, which is at the paper's parameters."""
    assert runs[name].returncode == 0
    committed, smoke = CHAPTERS[name].path, runs.folder / name / f"{name}.ipynb"
    assert set(pictures(committed)).isdisjoint(pictures(smoke))
    # The first text is the table of parameters and the last the foot: what differs must differ between them.
    assert texts(committed)[1:-1] != texts(smoke)[1:-1]


@pytest.mark.parametrize("name", COMMITTED)
def test_a_chapter_knows_which_experiments_its_notebook_asks_for(runs: Several, name: str) -> None:
    """Catches a list, by which a cluster with nothing to do is refused, that is not the notebook's."""
    assert runs[name].returncode == 0
    each, stored = CHAPTERS[name], (runs.folder / name / "results").glob("*.parquet")
    declared = {experiment.fingerprint for experiment in each.experiments(each.settings(profile="smoke"))}
    assert {Results.load(path).experiment.fingerprint for path in stored} == declared
