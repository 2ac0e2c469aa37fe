"""Plain papermill: it guesses types and only warns of unknown names; the first cell of a chapter does not."""

from pathlib import Path

import nbformat
import pytest
import yaml

from companion.chapters import CHAPTERS

from . import tiny
from .processes import ROOT, Several, papermill, texts

WHOLE = "it must be a whole number, at least 1 and at most 500."
KNOWN = ", ".join(tiny.Parameters.names())

#: What follows ``papermill in out``, and the sentence the run ends with.
BAD = {
    "a misspelt name": (["-p", "nn", "80"], f"nn is not a parameter of tiny (did you mean 'n'?); known: {KNOWN}."),
    "text for a number": (["-p", "n", "abc"], f"n is 'abc'; {WHOLE}"),
    "a fraction": (["-p", "n", "1.5"], f"n is 1.5; {WHOLE}"),
    "out of range": (["-p", "n", "0"], f"n is 0; {WHOLE}"),
    "a number for a switch": (["-p", "factors", "1"], "factors is 1; it must be true or false."),
    "a list with a slip": (
        ["-p", "ranks", "[1,x]"], "ranks is [1, 'x']; it must be a list of whole numbers, each at least 1.",
    ),
    "no such choice": (
        ["-p", "norms", "tracee"],
        "norms is ['tracee']; it must be a list of texts, each one of 'trace', 'frobenius', 'spectral'.",
    ),
    "nothing where there must be something": (["-p", "rho", "None"], "rho is null; it must be a number, above 0."),
}  # fmt: skip
GOOD = ["-p", "n", "1e1", "-p", "ranks", "[3, 4]", "-p", "factors", "false", "-p", "file", "null", "-p", "m", "2"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("papermill")
    source = tiny.write(folder).path
    several = Several()
    several.add("good", papermill, source, folder / "good.ipynb", *GOOD)
    for number, (name, (arguments, _)) in enumerate(BAD.items()):
        several.add(name, papermill, source, folder / f"bad-{number}.ipynb", *arguments)
    several.folder = folder
    yield several
    several.close()


def test_values_arrive_as_the_declared_type_says(runs: Several) -> None:
    assert runs["good"].returncode == 0, runs["good"].stderr
    table = texts(runs.folder / "good.ipynb")[0]
    for line in ("`n` | `10`", "`ranks` | **`[3, 4]`**", "`factors` | **`False`**", "`file` | `None`", "`m` | **`2`**"):
        assert line in table


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_value_fails_in_the_first_cell_with_the_sentence_of_the_command_line(runs: Several, kind: str) -> None:
    arguments, sentence = BAD[kind]
    done = runs[kind]
    assert done.returncode == 1
    assert f"ConfigurationError: {sentence}" in done.stderr
    cells = nbformat.read(runs.folder / f"bad-{list(BAD).index(kind)}.ipynb", as_version=4).cells
    failed = [cell for cell in cells if any(output.output_type == "error" for output in cell.get("outputs", []))]
    assert [cell.source.splitlines()[0] for cell in failed] == ["from companion import notebook"]
    # The same sentence as where the value is text from a command line or YAML.
    from companion.errors import ConfigurationError

    with pytest.raises(ConfigurationError) as caught:
        tiny.CHAPTER.settings({arguments[1]: arguments[2]})
    assert str(caught.value) == sentence


@pytest.mark.parametrize("name", [name for name, each in CHAPTERS.items() if each.path.is_file()][-1:])
def test_a_chapter_of_the_book_runs_with_plain_papermill_too(name: str, tmp_path: Path) -> None:
    chapter = CHAPTERS[name]
    values = chapter.settings({}, "smoke").to_plain()
    (tmp_path / "values.yml").write_text(yaml.safe_dump(values))
    done = papermill(chapter.path, tmp_path / "out.ipynb", "-f", str(tmp_path / "values.yml"), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert not (ROOT / "results").is_dir() or "Where these numbers come from" in texts(tmp_path / "out.ipynb")[-1]
