"""Settings: frozen dataclasses that check themselves, and turn into plain data and back.

A class that derives from :class:`Settings` declares its fields with :func:`setting`. The annotation is the type
(:class:`Declared`), the arguments of :func:`setting` the range. A :class:`Component` is one of several that may fill
a slot (a data source, a kernel, ...): its plain form says which under the key ``kind``.
"""

from __future__ import annotations

import dataclasses
import json
import math
import numbers
import operator
import types
import typing
from abc import ABC
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar, Union

from .errors import ConfigurationError
from .wording import did_you_mean

Plain = dict[str, Any]
ComponentType = TypeVar("ComponentType", bound="Component")


_KINDS = {
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    bool: ("true or false", "true or false"),
    str: ("text", "texts"),
}


@dataclass(frozen=True)
class Declared:
    """A declared type.

    Attributes
    ----------
    item : type
        int, float, bool or str.
    lists : int
        0 for one item, 1 for a list of items, 2 for a list of lists.
    optional : bool
        May there be none?
    """

    item: type
    lists: int = 0
    optional: bool = False

    @classmethod
    def of(cls, hint: Any) -> Declared:
        """Read an annotation: int, float, bool, str or a tuple of one of them, each perhaps ``| None``."""
        item, lists = hint, 0
        optional = typing.get_origin(hint) in (Union, types.UnionType)
        if optional:
            (item,) = (argument for argument in typing.get_args(hint) if argument is not type(None))
        while typing.get_origin(item) is tuple:
            item, lists = typing.get_args(item)[0], lists + 1
        if item not in _KINDS:
            raise TypeError(f"A setting cannot have the type {hint!r}.")
        return cls(item, lists, optional)

    @property
    def words(self) -> str:
        """For people: ``a whole number``, ``a list of numbers``."""
        one, many = _KINDS[self.item]
        return f"a list of {'lists of ' * (self.lists - 1)}{many}" if self.lists else one

    def typed(self, value: Any) -> Any:
        """``value`` as the type has it, or TypeError, ValueError or OverflowError."""
        return None if value is None and self.optional else _typed(value, self.item, self.lists)


def _typed(value: Any, item: type, lists: int) -> Any:
    if lists:
        if isinstance(value, str | bytes | Mapping):
            raise TypeError
        return tuple(_typed(each, item, lists - 1) for each in value)
    if isinstance(value, bool) != (item is bool):
        raise TypeError
    if item is int:
        return operator.index(value)
    if item is float:
        return _finite(value)
    return _text(value) if item is str else value


def _finite(value: Any) -> float:
    if not isinstance(value, numbers.Real):
        raise TypeError
    number = float(value) + 0.0  # -0.0 equals 0.0 and must not be written differently
    if not math.isfinite(number):
        raise ValueError
    return number


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode("utf-8")
    return str(value)


@dataclass(frozen=True)
class _Range:
    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    choices: tuple[Any, ...] | None = None

    def holds(self, value: Any) -> bool:
        if value is None:
            return True
        if isinstance(value, tuple):
            return all(map(self.holds, value))
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
            value = _read(field, hints[field.name], getattr(self, field.name))
            object.__setattr__(self, field.name, value)
        self.check()

    def check(self) -> None:
        """Refuse what no single field shows (raise ConfigurationError)."""

    def replace(self, **changes: Any) -> Self:
        """A copy with other values, checked like any other."""
        refuse_unknown(changes, self.names())
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
        refuse_unknown(plain, cls.names())
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


def _read(field: dataclasses.Field[Any], hint: Any, value: Any) -> Any:
    slot = field.metadata.get("slot")
    if slot is not None:
        return _component(field.name, value, slot)
    if isinstance(hint, type) and issubclass(hint, Settings):
        return _nested(field.name, value, hint)
    return _read_value(field, Declared.of(hint), value)


def _read_value(field: dataclasses.Field[Any], declared: Declared, value: Any) -> Any:
    """``value`` as the annotation has it and within its range, or a sentence with what it must be."""
    try:
        typed = declared.typed(value)
        if field.metadata.get("range", _Range()).holds(typed):
            return typed
    except UnicodeEncodeError:
        raise ConfigurationError(field.name, f"is {value!r}, which cannot be written as UTF-8.") from None
    except (TypeError, ValueError, OverflowError):
        pass
    parts = ", ".join(filter(None, [declared.words, allowed(field, declared), "or null" if declared.optional else ""]))
    raise ConfigurationError(field.name, f"is {shown(value)}; it must be {parts}.")


def allowed(field: dataclasses.Field[Any], declared: Declared) -> str:
    """The range of a setting in words: ``each at least 1``; empty if everything is allowed."""
    limits: str = field.metadata.get("range", _Range()).words()
    return f"each {limits}" if limits and declared.lists else limits


def shown(value: Any) -> str:
    """A value as messages show it."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(shown, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


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


def refuse_unknown(names: Iterable[Any], known: list[str], what: str = "setting") -> None:
    """Refuse the first name that is not known, with the nearest one that is."""
    for name in names:
        if name not in known:
            hint = did_you_mean(str(name), known, cutoff=0.5)
            raise ConfigurationError(str(name), f"is not a {what}{hint}; known: {', '.join(known) or 'none'}.")


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


def _pairs(pairs: list[tuple[str, Any]]) -> Plain:
    result: Plain = {}
    for key, value in pairs:
        if key in result:
            raise ConfigurationError(key, "is given twice.")
        result[key] = value
    return result


def _no_constant(text: str) -> Any:
    raise ConfigurationError("", f"{text} is not a value a setting can have.")
