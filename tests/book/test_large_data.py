"""What the page "Large data" shows of stored measurements."""

from __future__ import annotations

import json
from pathlib import Path

from companion.book import large
from companion.results.archive import Archive

SECONDS = {"reading": 0.5, "drawing": 0.1, "descent": 4.0, "errors": 0.3, "command": 9.0}
SIZES = [
    {"N": N, "seconds": SECONDS | {"reading": N / 1e6}, "peak": {"library": 2e8, "command": 3e8}}
    for N in (10**4, 10**8)
]
MANY = {
    "machine": {"processor": "a machine", "cores": 2},
    "N": 5000,
    "d": 3,
    "new": 700,
    "points": 900,
    "sizes": [{"n": 4321, "seconds": {"finding": 71.0, "weights": 0.5}, "peak_bytes": 4e8, "trace": [1000.0, 250.0]}],
}
LAW = {
    "machine": "a machine, 2 cores",
    "N": 2**19,
    "d": 10,
    "shares": 8,
    "landmarks": {"100": {"factor_s": 0.01, "read_s": 0.001, "block_s": 0.05}},
    "workers": {str(w): {"task_s": 0.002, "pass_s": {"100": 0.9 / w}} for w in (1, 2)},
}


def test_what_was_not_measured_is_said_to_be_so(tmp_path: Path) -> None:
    parts = large.parts(Archive(tmp_path / "results"))
    assert set(parts) == {"cluster.md", "large_data.md", "many_landmarks.md"}
    assert all("has not been measured" in text for text in parts.values())


def test_numbers_come_from_the_records(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    (tmp_path / "results" / "cluster_timings.json").write_text(json.dumps(LAW))
    record = {"machine": {"processor": "a machine", "cores": 2}, "d": 7, "landmarks": 4000, "points": 3000}
    (tmp_path / "benchmarks" / "results" / "large.json").write_text(json.dumps(record | {"sizes": SIZES}))
    (tmp_path / "benchmarks" / "results" / "many_landmarks.json").write_text(json.dumps(MANY))
    parts = large.parts(Archive(tmp_path / "results"))
    page, law = parts["large_data.md"], parts["cluster.md"]
    assert "reading all rows once, for mean and scale: 0.0100 s and 100 s" in page and "0.300 GB" in page
    assert "with 4,000 landmarks in 7 dimensions" in page and "before and after, from 3,000 points: 0.300 s" in page
    many = parts["many_landmarks.md"]
    assert "Of 5,000 points in 3 dimensions" in many and "weights of 700 points" in many and "over 900 points" in many
    assert "| 4,321 | 1 min 11 s | 0.5 s | 0.400 GB | 0.200 | 0.0500 |" in many
    assert ":alt: Seconds against the number of points" in page and parts["large_data.svg"].lstrip().startswith("<")
    # 16 blocks: 0.01 + 16 · 0.05 + 8 · 0.002 alone, half of the blocks and 16 tasks with two
    assert "| 1 | 100 | 0.90 | 0.83 |" in law and "| 2 | 100 | 0.45 | 0.44 |" in law
    assert "| 64 | 3 s |" in law  # 3,052 blocks in tasks of 6
