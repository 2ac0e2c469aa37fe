"""Jupyter Book ignores a key that it does not know, or that stands in the wrong place: each of ours does something."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from jupyter_book.config import get_final_config, validate_yaml

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))

Place = tuple[str, ...]


def leaves(tree: dict[str, Any], above: Place = ()) -> Iterator[Place]:
    for key, value in tree.items():
        if isinstance(value, dict) and (*above, key) != ("sphinx", "config"):
            yield from leaves(value, (*above, key))
        else:
            yield (*above, key)


def final(config: dict[str, Any]) -> Any:
    """What Jupyter Book hands to Sphinx."""
    # Without one of our own modules to look for there is nothing to import, and sys.path stays as it is.
    config = copy.deepcopy(config)
    return get_final_config(user_yaml=config, cli_config={"latex_individualpages": False}, validate=False)


def without(place: Place, config: dict[str, Any]) -> dict[str, Any]:
    config = copy.deepcopy(config)
    inner = config
    for key in place[:-1]:
        inner = inner[key]
    del inner[place[-1]]
    return config


def idle(config: dict[str, Any]) -> list[Place]:
    """The keys that might as well not be there."""
    whole = final(config)
    places = [place for place in leaves(config) if place[:2] != ("sphinx", "local_extensions")]
    return [place for place in places if not matters(place, config, whole)]


def matters(place: Place, config: dict[str, Any], whole: Any) -> bool:
    try:
        return bool(final(without(place, config)) != whole)
    except ValueError:  # another key asks for this one
        return True


def test_every_key_is_where_jupyter_book_looks_for_it() -> None:
    validate_yaml(CONFIG, raise_on_errors=True)
    assert idle(CONFIG) == []
