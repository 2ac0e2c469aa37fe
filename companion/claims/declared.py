"""``claims.yml`` as objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from .base import Claim, Reading, Rule, Threshold

FILE = Path(__file__).with_name("claims.yml")
#: The rule of all questions.
_ANSWER = "“Yes” if the number passes in every case, “in part” if in at least half of them, “no” otherwise."


def _threshold(plain: Mapping[str, Any]) -> Threshold:
    (comparison, value) = next((name, value) for name, value in plain.items() if name != "meaning")
    return Threshold(value, comparison.replace("_", " "), plain.get("meaning", ""))


def _rule(plain: Mapping[str, Any]) -> Rule:
    thresholds = {name: _threshold(each) for name, each in plain["thresholds"].items()}
    given = {field.name: plain[field.name] for field in fields(Rule) if field.name in plain}
    return Rule(**given | {"thresholds": thresholds})


def _claim(plain: Mapping[str, Any]) -> Claim:
    return Claim(
        id=plain["id"],
        section=plain["section"],
        says=plain["says"],
        rule=_rule(plain),
        results=tuple(plain.get("results", ())),
        evidence=tuple(plain["evidence"]),
        reading=Reading(**plain["reading"]),
        later=_rule(plain["later"]) if "later" in plain else None,
    )


def _question(plain: Mapping[str, Any]) -> Claim:
    rule = _rule({**plain, "rule": _ANSWER, "thresholds": {"threshold": plain["threshold"]}})
    return Claim(id=plain["id"], chapter=plain["chapter"], says=plain["asks"], rule=rule)


_PLAIN: Mapping[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))

#: By commit the ``date`` of what was declared in it, and what was ``known`` of the results by then.
DECLARED: Mapping[str, Mapping[str, Any]] = _PLAIN["declared"]
#: The claims by name, in the order of the paper, and the questions beyond it.
CLAIMS: Mapping[str, Claim] = {each["id"]: _claim(each) for each in _PLAIN["claims"]}
QUESTIONS: Mapping[str, Claim] = {each["id"]: _question(each) for each in _PLAIN["questions"]}
