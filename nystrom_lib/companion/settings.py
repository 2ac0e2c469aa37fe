"""Settings: frozen dataclasses that check themselves, and turn into plain data and back.

A class that derives from :class:`Settings` declares its fields with :func:`setting`. The annotation is the type,
the arguments of :func:`setting` the range. A :class:`Component` is one of several that may fill a slot (a data
source, a kernel, ...): its plain form says which under the key ``kind``.
"""

from __future__ import annotations

import dataclasses
import json
import math
import numbers
import re
import types
import typing
from abc import ABC
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar, Union

import yaml

from .errors import ConfigurationError
from .wording import did_you_mean

Plain = dict[str, Any]
ComponentType = TypeVar("ComponentType", bound="Component")


@dataclass(frozen=True)
class _Range:
    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    choices: tuple[Any, ...] | None = None

    def check(self, name: str, value: Any) -> None:
        if isinstance(value, tuple):
            for item in value:
                self.check(name, item)
        elif value is not None and not self._holds(value):
            raise ConfigurationError(name, f"is {value!r}; it must be {self.words()}.")

    def _holds(self, value: Any) -> bool:
        if self.choices is not None:
            return value in self.choices
        return (
            (self.above is None or value > self.above)
            and (self.at_least is None or value >= self.at_least)
            and (self.at_most is None or value <= self.at_most)
        )

    def words(self) -> str:
        """What is allowed, in words; empty if everything is."""
        if self.choices is not None:
            return "one of " + ", ".join(repr(choice) for choice in self.choices)
        limits = (("above", self.above), ("at least", self.at_least), ("at most", self.at_most))
        return " and ".join(f"{words} {limit:,}" for words, limit in limits if limit is not None)


def setting(
    default: Any = dataclasses.MISSING,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    choices: Iterable[Any] | None = None,
    slot: Mapping[str, type[Component]] | None = None,
    meaning: str = "",
    newer: bool = False,
) -> Any:
    """Declare one field: its default and what values it takes.

    Parameters
    ----------
    default : optional
        Without one the setting must be given.
    above, at_least, at_most : float, optional
        Limits of a number, or of each number of a tuple.
    choices : iterable, optional
        The values allowed.
    slot : mapping of str to type, optional
        The registry of components that may stand here.
    meaning : str
        What it is, in a few words, for those who are to give it a value.
    newer : bool
        Was it added after results were stored? Then it is left out of the plain form, and so of fingerprints, while
        it has its default, which must be what was done before it was there.
    """
    if newer and default is dataclasses.MISSING:
        raise TypeError("A newer setting needs a default: what is stored does not have it.")
    chosen = None if choices is None else tuple(choices)
    return dataclasses.field(
        default=default,
        metadata={
            "range": _Range(above, at_least, at_most, chosen),
            "slot": slot,
            "meaning": meaning,
            "newer": newer,
        },
    )


def registry(*components: type[ComponentType]) -> dict[str, type[ComponentType]]:
    """The components that may fill one slot, by the name each calls itself."""
    return {component.kind: component for component in components}


@dataclass(frozen=True)
class Settings:
    """Checks every field when made, so that an object that exists is valid."""

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            slot = field.metadata.get("slot")
            if slot is None:
                value = _typed(field.name, value, hints[field.name])
            else:
                value = _component(field.name, value, slot)
            if "range" in field.metadata:
                field.metadata["range"].check(field.name, value)
            object.__setattr__(self, field.name, value)
        self.check()

    def check(self) -> None:
        """Refuse what no single field shows (raise ConfigurationError)."""

    def replace(self, **changes: Any) -> Self:
        """A copy with other values, checked like any other."""
        _refuse_unknown(changes, self.names())
        return dataclasses.replace(self, **changes)

    @classmethod
    def names(cls) -> list[str]:
        """The names of the settings, in order."""
        return [field.name for field in dataclasses.fields(cls)]

    def to_plain(self) -> Plain:
        """Dictionaries, lists, texts, numbers, booleans and None only."""
        return {
            field.name: _plain(value)
            for field in dataclasses.fields(self)
            if (value := getattr(self, field.name)) != field.default or not field.metadata.get("newer")
        }

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """Read what :meth:`to_plain` gives; a name that is not a setting is refused."""
        if not isinstance(plain, Mapping):
            raise ConfigurationError("", f"{plain!r} is not a mapping of settings to values.")
        _refuse_unknown(plain, cls.names())
        for field in dataclasses.fields(cls):
            if field.default is dataclasses.MISSING and field.name not in plain:
                raise ConfigurationError(field.name, "is missing.")
        return cls(**plain)


@dataclass(frozen=True)
class Component(Settings, ABC):
    """Settings that fill a slot, with a name among those that could."""

    kind: ClassVar[str]

    def to_plain(self) -> Plain:
        """The settings, and under ``kind`` whose they are."""
        return {"kind": self.kind, **super().to_plain()}


def _typed(name: str, value: Any, hint: Any) -> Any:
    """``value`` as the annotation has it, or a sentence saying why not."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        (hint,) = (argument for argument in arguments if argument is not type(None))
        return _typed(name, value, hint)
    if origin is tuple:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            raise ConfigurationError(name, f"is {value!r}; it must be a list.")
        return tuple(_typed(name, item, arguments[0]) for item in value)
    if hint is float:
        return _float(name, value)
    if hint is int:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise ConfigurationError(name, f"is {value!r}; it must be a whole number.")
        return int(value)
    if hint is str:
        return _text(name, value)
    if isinstance(hint, type) and issubclass(hint, Settings):
        return _nested(name, value, hint)
    if not isinstance(value, hint):
        raise ConfigurationError(name, f"is {value!r}; it must be {'true or false' if hint is bool else hint}.")
    return value


def _float(name: str, value: Any) -> float:
    if isinstance(value, str) and _reads_as_number(value):
        raise ConfigurationError(name, f"is the text {value!r}, not a number; leave out the quotes.")
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ConfigurationError(name, f"is {value!r}; it must be a number.")
    number = float(value) + 0.0  # -0.0 equals 0.0 and must not be written differently
    if not math.isfinite(number):
        raise ConfigurationError(name, f"is {value!r}; it must be finite.")
    return number


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ConfigurationError(name, f"is {value!r}; it must be text.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ConfigurationError(name, f"is {value!r}, which cannot be written as UTF-8.") from None
    return str(value)


def _nested(name: str, value: Any, kind: type[Settings]) -> Settings:
    if isinstance(value, kind):
        return value
    try:
        return kind.from_plain(value)
    except ConfigurationError as error:
        raise error.within(name) from None


def _component(name: str, value: Any, slot: Mapping[str, type[Component]]) -> Component:
    if isinstance(value, Component):
        if slot.get(value.kind) is not type(value):
            raise ConfigurationError(name, f"is a {type(value).__name__}; it must be one of {', '.join(slot)}.")
        return value
    if not isinstance(value, Mapping) or "kind" not in value:
        raise ConfigurationError(name, f"is {value!r}; it must be settings with a kind, one of {', '.join(slot)}.")
    kind = value["kind"]
    if not isinstance(kind, str) or kind not in slot:
        hint = did_you_mean(str(kind), slot, cutoff=0.5)
        raise ConfigurationError(f"{name}.kind", f"is {kind!r}{hint}; known: {', '.join(slot)}.")
    settings = _nested(name, {key: item for key, item in value.items() if key != "kind"}, slot[kind])
    assert isinstance(settings, Component)
    return settings


def _refuse_unknown(given: Mapping[Any, Any], known: Iterable[str]) -> None:
    known = list(known)
    for name in given:
        if name not in known:
            hint = did_you_mean(str(name), known, cutoff=0.5)
            raise ConfigurationError(str(name), f"is not a setting{hint}; known: {', '.join(known) or 'none'}.")


def _plain(value: Any) -> Any:
    if isinstance(value, Settings):
        return value.to_plain()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def canonical_json(plain: Any) -> str:
    """The one way to write plain data: sorted keys, no spaces, ASCII, shortest digits that read back exactly."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def read_json(text: str) -> Any:
    """Parse JSON; a repeated key, NaN or Infinity is refused."""
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_no_constant)
    except ValueError as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError("", f"This is not JSON: {error}.") from None


def read_yaml(text: str) -> Any:
    """Parse YAML of plain data only; a repeated key or a tag that would build an object is refused."""
    try:
        return yaml.load(text, Loader=_PlainLoader)
    except yaml.YAMLError as error:
        raise ConfigurationError("", f"This is not plain YAML: {' '.join(str(error).split())}.") from None


def write_yaml(plain: Any) -> str:
    """Plain data as YAML, in the order given."""
    return yaml.dump(plain, Dumper=_PlainDumper, sort_keys=False, default_flow_style=None, width=100)


def _pairs(pairs: list[tuple[str, Any]]) -> Plain:
    result: Plain = {}
    for key, value in pairs:
        if key in result:
            raise ConfigurationError(key, "is given twice.")
        result[key] = value
    return result


def _no_constant(text: str) -> Any:
    raise ConfigurationError("", f"{text} is not a value a setting can have.")


class NamesOnce(yaml.constructor.BaseConstructor):
    """What makes a YAML loader refuse a name given twice; stands before the loader it is to change."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise ConfigurationError(str(key), "is given twice.")
        return super().construct_mapping(node, deep=deep)


class _PlainLoader(NamesOnce, yaml.SafeLoader):
    """PyYAML's safe loader, which builds plain data only, and no repeated keys."""


class _PlainDumper(yaml.SafeDumper):
    """The counterpart of the loader."""


# PyYAML takes 1e-6 for a text; YAML 1.2, JSON and everybody else take it for a number.
for _class in (_PlainLoader, _PlainDumper):
    _class.add_implicit_resolver(
        "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
    )
