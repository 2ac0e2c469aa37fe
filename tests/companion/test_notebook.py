"""What a notebook calls, outside of a notebook: parameters, tables, figures, the folder of a run."""

from pathlib import Path
from typing import Any

import pytest

from companion.errors import ConfigurationError
from companion.notebook import page as notebook
from tests.companion.notebooks import tiny


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """Everything that is displayed, as the kernel would send it."""
    bundles: list[dict[str, str]] = []
    monkeypatch.setattr(notebook, "_display", lambda bundle, *_: bundles.append(dict(bundle)))
    return bundles


@pytest.fixture
def names() -> dict[str, Any]:
    """The globals of a notebook after its parameters cell."""
    found: dict[str, Any] = {"notebook": notebook}
    exec(tiny.CHAPTER.cell(), found)
    return found


def test_the_parameters_are_typed_and_shown(shown: list[dict[str, str]], names: dict[str, Any]) -> None:
    names |= {"n": "2e1", "ranks": "[3, 4]"}  # as plain papermill injects them
    page = notebook.begin(tiny.CHAPTER, names)
    assert page.parameters == tiny.Parameters(n=20, ranks=(3, 4))
    (table,) = shown
    assert "| `n` | **`20`** (paper: `10`) | number of landmark points |" in table["text/markdown"]
    assert "| `rho` | `1.0` | ρ of the Gaussian kernel |" in table["text/markdown"]


def test_a_name_that_nobody_declared_is_refused_once(shown: list[dict[str, str]], names: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"rhoo is not a parameter of tiny \(did you mean 'rho'\?\)"):
        notebook.begin(tiny.CHAPTER, {**names, "rhoo": 4.0})
    page = notebook.begin(tiny.CHAPTER, names)
    # Whoever runs the cell again by hand has names of their own by then.
    names |= {"page": page, "p": page.parameters, "fig": None}
    assert notebook.begin(tiny.CHAPTER, names).parameters == page.parameters


def test_the_foot_says_where_the_numbers_come_from(shown: list[dict[str, str]], names: dict[str, Any]) -> None:
    page = notebook.begin(tiny.CHAPTER, {**names, "n": 20, "m": 1})
    page.results(tiny.experiment(page.parameters), about="n = 20")
    page.foot()
    assert "| n = 20 | 1 computed in this run |  |" in shown[-2]["text/markdown"]
    assert "stored at full scale" not in shown[-2]["text/markdown"]
    text = shown[-1]["text/markdown"]
    assert "nystrom run tiny -p n=20 -p m=1" in text
    assert "bi-Gaussian" in text
    assert page.folder is None


def test_stored_results_are_shown_with_their_origin(
    shown: list[dict[str, str]], names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebook, "RESULTS", tmp_path)
    monkeypatch.setenv(notebook.JOBS, "1")
    page = notebook.begin(tiny.CHAPTER, names)
    experiment = tiny.experiment(page.parameters)
    computed = page.results(experiment)
    computed.save(tmp_path / "figure-9.parquet")
    stored = page.results(experiment, recompute=2)
    assert stored.checksum == computed.checksum
    assert len(shown) == 1  # the parameters: where numbers come from is said once, at the foot
    page.foot()
    assert "stored at full scale" in shown[-2]["text/markdown"]
    assert "| figure-9 | 4 stored | 0, 3 |" in shown[-2]["text/markdown"]
    assert "| Stored results | figure-9: computed 2" in shown[-1]["text/markdown"]
    page._open.close()


def test_a_killed_kernel_leaves_no_temporary_folder(
    shown: list[dict[str, str]], names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repetitions of a run are stored in its own folder alone."""
    monkeypatch.setenv(notebook.RUN_FOLDER, str(tmp_path))
    monkeypatch.delattr("tempfile.TemporaryDirectory")
    page = notebook.begin(tiny.CHAPTER, names | {"m": 1})
    page.results(tiny.experiment(page.parameters))
    page._open.close()
    assert any((tmp_path / "repetitions").iterdir())
