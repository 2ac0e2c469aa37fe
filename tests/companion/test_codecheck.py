"""``codecheck.yml`` follows CODECHECK's configuration, version 2.0."""

from pathlib import Path

import yaml

#: What is empty until somebody checks the paper, or is not known here.
EMPTY = {"codechecker", "summary", "repository", "check_time", "certificate", "report"}


def test_the_configuration_is_complete_but_for_the_fields_of_the_checker(root: Path) -> None:
    text = (root / "codecheck.yml").read_text(encoding="utf-8")
    found = yaml.safe_load(text)
    assert text.startswith("---\n"), "an explicit document"
    assert found["version"] == "https://codecheck.org.uk/spec/config/2.0/"
    assert set(found) == {"version", "paper", "manifest", *EMPTY}
    assert {name for name, value in found.items() if not value} | {"codechecker"} == EMPTY
    assert [set(each) for each in found["codechecker"]] == [{"name", "ORCID"}]


def test_it_names_the_paper_as_the_citation_does(root: Path) -> None:
    paper = yaml.safe_load((root / "codecheck.yml").read_text(encoding="utf-8"))["paper"]
    cited = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))["preferred-citation"]
    assert paper["title"] == cited["title"]
    assert paper["reference"] == f"https://doi.org/{cited['doi']}"
    names = [f"{each['given-names']} {each['family-names']}" for each in cited["authors"]]
    assert [each["name"] for each in paper["authors"]] == names


def test_the_manifest_lists_files_that_exist_and_every_result_of_the_paper(root: Path) -> None:
    manifest = yaml.safe_load((root / "codecheck.yml").read_text(encoding="utf-8"))["manifest"]
    files = [each["file"] for each in manifest]
    assert all((root / file).is_file() for file in files) and len(set(files)) == len(files)
    assert all(each["comment"] for each in manifest)
    stored = {path.relative_to(root).as_posix() for path in (root / "results").glob("*") if path.is_file()}
    assert stored <= set(files)
