"""The manifest of ``codecheck.yml``."""

from pathlib import Path

import yaml


def test_the_manifest_lists_files_that_exist_and_every_result_of_the_paper(root: Path) -> None:
    manifest = yaml.safe_load((root / "codecheck.yml").read_text(encoding="utf-8"))["manifest"]
    files = [each["file"] for each in manifest]
    assert all((root / file).is_file() for file in files) and len(set(files)) == len(files)
    assert all(each["comment"] for each in manifest)
    stored = {path.relative_to(root).as_posix() for path in (root / "results").glob("*") if path.is_file()}
    assert stored <= set(files)
