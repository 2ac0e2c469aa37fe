"""Settings: frozen dataclasses that validate their fields and convert to and from plain data.

A class that derives from :class:`Settings` declares its fields with :func:`setting`: the annotation is the type, the
arguments are the range. A field with a ``slot`` holds one of several classes by name, such as one of the kernels.
"""

from __future__ import annotations

import dataclasses
import json
import math
import operator
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Self

from .errors import ConfigurationError
from .wording import did_you_mean

Plain = dict[str, Any]

_WORDS = {
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    bool: ("true or false", "true or false"),
    str: ("text", "texts"),
}


class Registry(dict[str, type]):
    """The classes that may fill a slot, by the names they have in plain data.

    A class is one of :class:`Settings` or any frozen dataclass that validates itself. ``newer`` has fields by the name
    of their class that plain data leave out at their defaults, as ``setting(newer=True)`` does.
    """

    def __init__(self, classes: Mapping[str, type], newer: Mapping[str, Iterable[str]] | None = None) -> None:
        super().__init__(classes)
        self.newer = {name: tuple(names) for name, names in (newer or {}).items()}

    def to_plain(self, value: Any) -> Plain:
        """The fields of an object, and under ``kind`` the name of its class."""
        (kind,) = (name for name, known in self.items() if known is type(value))
        if isinstance(value, Settings):
            return {"kind": kind, **value.to_plain()}
        newer = self.newer.get(kind, ())
        found = {each.name: (getattr(value, each.name), each.default) for each in fields(value)}
        return {"kind": kind, **{key: now for key, (now, old) in found.items() if now != old or key not in newer}}

    def from_plain(self, name: str, value: Any) -> Any:
        """The object that :meth:`to_plain` describes; an object of a known class is returned as it is."""
        if type(value) in self.values():
            return value
        given = dict(value) if isinstance(value, Mapping) else {"kind": value}
        kind = given.pop("kind", None)
        if not (isinstance(value, Mapping) and isinstance(kind, str) and kind in self):
            hint = did_you_mean(str(kind), self, cutoff=0.5)
            raise ConfigurationError(f"{name}.kind", f"is {kind!r}{hint}; known: {', '.join(self)}.")
        known = self[kind]
        if issubclass(known, Settings):
            return known.nested(name, given)
        try:
            return known(**given)
        except (TypeError, ValueError) as error:
            raise ConfigurationError("", f"{name}: {error}") from None


@dataclass(frozen=True)
class Declared:
    """Type, default, range and meaning of a setting; ``lists`` is 1 for a list, 2 for a list of lists."""

    item: Any
    lists: int = 0
    optional: bool = False
    default: Any = None
    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    choices: tuple[Any, ...] | None = None
    meaning: str = ""
    slot: Registry | None = None
    newer: bool = False
    repeats: bool = False

    @classmethod
    def of(cls, hint: Any, **how: Any) -> Declared:
        """Read an annotation: int, float, bool, str or a tuple of one of them, each perhaps ``| None``."""
        item, lists, optional = hint, 0, isinstance(hint, types.UnionType) and not how.get("slot")
        if optional:
            (item,) = (argument for argument in typing.get_args(hint) if argument is not type(None))
        while typing.get_origin(item) is tuple:
            item, lists = typing.get_args(item)[0], lists + 1
        return cls(item, lists, optional, **how)

    @property
    def allowed(self) -> str:
        """The range in words; empty if every value is allowed."""
        limits = (("above", self.above), ("at least", self.at_least), ("at most", self.at_most))
        words = " and ".join(f"{name} {limit:,}" for name, limit in limits if limit is not None)
        if self.choices is not None:
            words = "one of " + ", ".join(map(repr, self.choices))
        return f"each {words}" if words and self.lists else words

    @property
    def annotation(self) -> str:
        """The type as papermill reads it."""
        name = f"list[{self.item.__name__}]" if self.lists else self.item.__name__
        return f"Optional[{name}]" if self.optional else name

    @property
    def comment(self) -> str:
        """Meaning and range in one line."""
        return "; ".join(filter(None, [self.meaning, self.allowed]))

    def validated(self, name: str, value: Any) -> Any:
        """The value converted to the type, or ConfigurationError."""
        if self.slot is not None:
            return self.slot.from_plain(name, value)
        if issubclass(self.item, Settings):
            return value if isinstance(value, self.item) else self.item.nested(name, value)
        try:
            found = None if value is None and self.optional else self._converted(value, self.lists)
        except (TypeError, ValueError, OverflowError):
            one, many = _WORDS[self.item]
            kind = f"a list of {'lists of ' * (self.lists - 1)}{many}" if self.lists else one
            allowed = ", ".join(filter(None, [kind, self.allowed, "or null" if self.optional else ""]))
            raise ConfigurationError(name, f"is {_plain(value)!r}; it must be {allowed}.") from None
        if isinstance(self.default, tuple) and self.default and not self.repeats:
            if not found:
                raise ConfigurationError(name, "is an empty list; it must have at least one value.")
            if len(set(found)) < len(found):
                raise ConfigurationError(name, f"is {list(found)}; each value may be there once.")
        return found

    def _converted(self, value: Any, lists: int) -> Any:
        if lists:
            if isinstance(value, str | bytes | Mapping):
                raise TypeError
            return tuple(self._converted(each, lists - 1) for each in value)
        if isinstance(value, bool) != (self.item is bool) or isinstance(value, str) != (self.item is str):
            raise TypeError
        if self.item is int:
            value = operator.index(value)
        elif self.item is float:
            value = float(value) + 0.0  # -0.0 equals 0.0 and must not be written differently
        elif self.item is str:
            value.encode("utf-8")  # half a surrogate pair cannot be written
        if (
            (self.item is float and not math.isfinite(value))
            or (self.choices is not None and value not in self.choices)
            or (self.above is not None and value <= self.above)
            or (self.at_least is not None and value < self.at_least)
            or (self.at_most is not None and value > self.at_most)
        ):
            raise ValueError
        return value


def setting(default: Any = MISSING, *, slot: Registry | None = None, newer: bool = False, **limits: Any) -> Any:
    """Declare a field: its default and the values that it takes.

    Parameters
    ----------
    default : optional
        Without one the setting must be given.
    slot : Registry, optional
        The classes that may stand here.
    newer : bool
        Whether it was added after results were stored. While it has its default it is then left out of the plain form
        and of fingerprints; the default must be the behaviour before.
    **limits
        ``above``, ``at_least``, ``at_most`` (numbers), ``choices`` (a tuple) and ``meaning`` (a few words). A list
        whose default has values must have at least one, and none twice, unless ``repeats`` is true.
    """
    return field(default=default, metadata={"slot": slot, "newer": newer, **limits})


@dataclass(frozen=True)
class Settings:
    """Validates every field when made, so that an object that exists is valid."""

    kind: ClassVar[str]  #: of those that fill a slot, the name in its registry

    def __post_init__(self) -> None:
        for name, declared in self.declared().items():
            object.__setattr__(self, name, declared.validated(name, getattr(self, name)))
        self.check()

    def check(self) -> None:
        """Refuse combinations of values that no single field shows (raise ConfigurationError)."""

    def replace(self, **changes: Any) -> Self:
        """A copy with other values, validated like any other."""
        return dataclasses.replace(self, **changes)

    @classmethod
    @cache
    def declared(cls) -> dict[str, Declared]:
        """The type, the default and the range of each setting."""
        hints = typing.get_type_hints(cls)
        return {each.name: Declared.of(hints[each.name], default=each.default, **each.metadata) for each in fields(cls)}

    def values(self) -> dict[str, Any]:
        """The settings by name."""
        return {name: getattr(self, name) for name in self.declared()}

    def to_plain(self) -> Plain:
        """Dictionaries, lists, texts, numbers, booleans and None only."""
        declared, values = self.declared(), self.values()
        kept = [name for name, each in declared.items() if values[name] != each.default or not each.newer]
        return {name: _plain(values[name], declared[name].slot) for name in kept}

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """Read what :meth:`to_plain` gives; an unknown name is refused."""
        if not isinstance(plain, Mapping):
            raise ConfigurationError("", f"{plain!r} is not a mapping of settings to values.")
        refuse_unknown(plain, list(cls.declared()))
        for name, each in cls.declared().items():
            if each.default is MISSING and name not in plain:
                raise ConfigurationError(name, "is missing.")
        return cls(**plain)

    @classmethod
    def nested(cls, name: str, plain: Any) -> Self:
        """Read the settings that are the value of another one, which errors name as well."""
        try:
            return cls.from_plain(plain)
        except ConfigurationError as error:
            raise ConfigurationError(f"{name}.{error.name}".rstrip("."), error.what) from None


def _plain(value: Any, slot: Registry | None = None) -> Any:
    if slot is not None:
        return slot.to_plain(value)
    if isinstance(value, Settings):
        return value.to_plain()
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def refuse_unknown(names: Iterable[Any], known: list[str], what: str = "setting") -> None:
    """Refuse the first unknown name, with the closest known one."""
    for name in names:
        if name not in known:
            hint = did_you_mean(str(name), known, cutoff=0.5)
            raise ConfigurationError(str(name), f"is not a {what}{hint}; known: {', '.join(known) or 'none'}.")


def canonical_json(plain: Any) -> str:
    """Canonical JSON: sorted keys, no spaces, ASCII, the shortest digits that read back exactly."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
