"""How the values of options look in TOML: what is taken from a file, what is written to one, and their JSON Schema."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from glob import escape, glob, has_magic
from pathlib import Path
from typing import Any, Protocol

from referee.bots.process.amounts import size_in_words, time_in_words
from referee.rules import MAX_PLAYERS, MIN_PLAYERS

Schema = dict[str, Any]


class Shape(Protocol):
    """How the values of one option look in TOML."""

    def schema(self) -> Schema:
        """The JSON Schema of a value."""

    def from_toml(self, value: Any, folder: Path) -> Any:
        """What the option's own type takes. Raises ValueError, with a clause for people, where it cannot be that.

        Paths count from `folder`.
        """

    def to_toml(self, value: Any) -> Any:
        """The value in TOML that stands for what the option's type made."""


def toml(value: Any) -> str:
    """A string, number, boolean, list of them or table of them as TOML, on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {toml(one)}" for key, one in value.items()) + " }" if value else "{}"
    # TOML writes these as JSON does, except for invisible characters beyond U+FFFF.
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character.isprintable() or "\ud800" <= character <= "\udfff":  # a surrogate has no escape, and is refused
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def _key(key: str) -> str:
    is_bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if is_bare else toml(key)


def _wanted(what: str, value: Any) -> ValueError:
    text = toml(value)
    return ValueError(f"{what} is wanted, not {text if len(text) <= 60 else text[:57] + '…'}")


@dataclass(frozen=True, slots=True)
class WholeNumber:
    """`200`."""

    least: int | None = None
    most: int | None = None

    def schema(self) -> Schema:
        bounds = {"minimum": self.least, "maximum": self.most}
        return {"type": "integer", **{name: bound for name, bound in bounds.items() if bound is not None}}

    def from_toml(self, value: Any, folder: Path) -> Any:
        del folder
        if type(value) is not int:
            raise _wanted("a whole number, without quotes,", value)
        return value

    def to_toml(self, value: Any) -> Any:
        return value


@dataclass(frozen=True, slots=True)
class Number:
    """`0.05`, between two bounds; the lower one may be left out of what is allowed, and so the upper one."""

    least: float
    most: float
    above_least: bool = False
    below_most: bool = False

    def schema(self) -> Schema:
        low = "exclusiveMinimum" if self.above_least else "minimum"
        high = "exclusiveMaximum" if self.below_most else "maximum"
        return {"type": "number", low: self.least, high: self.most}

    def from_toml(self, value: Any, folder: Path) -> Any:
        del folder
        if type(value) not in (int, float) or not math.isfinite(value):
            raise _wanted("a number, without quotes,", value)
        return value

    def to_toml(self, value: Any) -> Any:
        return value


@dataclass(frozen=True, slots=True)
class Flag:
    """`true`."""

    def schema(self) -> Schema:
        return {"type": "boolean"}

    def from_toml(self, value: Any, folder: Path) -> Any:
        del folder
        if not isinstance(value, bool):
            raise _wanted("true or false, without quotes,", value)
        return value

    def to_toml(self, value: Any) -> Any:
        return value


@dataclass(frozen=True, slots=True)
class Text:
    """`"words"`."""

    choices: tuple[str, ...] = ()

    def schema(self) -> Schema:
        return {"type": "string", **({"enum": list(self.choices)} if self.choices else {})}

    def from_toml(self, value: Any, folder: Path) -> Any:
        del folder
        if not isinstance(value, str):
            raise _wanted("a text in quotes", value)
        if "\0" in value:
            raise ValueError("a text has no NUL in it")
        return value

    def to_toml(self, value: Any) -> Any:
        return value.name if isinstance(value, Enum) else str(value)


@dataclass(frozen=True, slots=True)
class AnyWord:
    """`"words"` or `25`: of an option whose type is known to nobody but itself, and prints as it is read."""

    def schema(self) -> Schema:
        return {"type": ["string", "integer"]}

    def from_toml(self, value: Any, folder: Path) -> Any:
        return str(value) if type(value) is int else Text().from_toml(value, folder)

    def to_toml(self, value: Any) -> Any:
        return value if type(value) is int else "none" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Time:
    """`"500ms"`."""

    unlimited: bool

    def schema(self) -> Schema:
        pattern = r"[0-9]{1,9}(\.[0-9]{1,9})?(ms|s|m|h)"
        return {"type": "string", "pattern": f"^({pattern}|none)$" if self.unlimited else f"^{pattern}$"}

    def from_toml(self, value: Any, folder: Path) -> Any:
        del folder
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise _wanted('a time in quotes, such as "500ms",', value)
        return str(value)  # a bare number is refused by the type, in its own words

    def to_toml(self, value: Any) -> Any:
        return time_in_words(value)


@dataclass(frozen=True, slots=True)
class Amount:
    """`"512M"`."""

    def schema(self) -> Schema:
        return {"type": "string", "pattern": r"^[0-9]{1,9}(\.[0-9]{1,9})?([Bb]|[KMGkmg](i?[Bb])?)$"}

    def from_toml(self, value: Any, folder: Path) -> Any:
        del folder
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise _wanted('a size in quotes, such as "512M",', value)
        return str(value)  # a bare number is refused by the type, in its own words

    def to_toml(self, value: Any) -> Any:
        return size_in_words(value)


@dataclass(frozen=True, slots=True)
class Seats:
    """`2` or `[2, 4]`."""

    def schema(self) -> Schema:
        one = {"type": "integer", "minimum": MIN_PLAYERS, "maximum": MAX_PLAYERS}
        return {"oneOf": [one, {"type": "array", "items": one, "minItems": 1, "uniqueItems": True}]}

    def from_toml(self, value: Any, folder: Path) -> Any:
        del folder
        numbers = value if isinstance(value, list) else [value]
        if not numbers or any(type(number) is not int for number in numbers):
            raise _wanted("a whole number or a list of them, such as 2 or [2, 4],", value)
        return ",".join(map(str, numbers))

    def to_toml(self, value: Any) -> Any:
        return value[0] if len(value) == 1 else list(value)


@dataclass(frozen=True, slots=True)
class Count:
    """`25`, `"none"`, or another word that stands for a number."""

    most: int = 10**9
    words: tuple[str, ...] = ("none",)

    def schema(self) -> Schema:
        words = [{"const": word} for word in self.words]
        return {"oneOf": [{"type": "integer", "minimum": 1, "maximum": self.most}, *words]}

    def from_toml(self, value: Any, folder: Path) -> Any:
        del folder
        if type(value) is not int and value not in self.words:
            raise _wanted(f"a whole number, or {' or '.join(map(toml, self.words))},", value)
        return str(value)

    def to_toml(self, value: Any) -> Any:
        return "none" if value is None else value


@dataclass(frozen=True, slots=True)
class TomlPlace:
    """`"league.db"`: a path, which counts from the file's folder."""

    def schema(self) -> Schema:
        return {"type": "string"}

    def from_toml(self, value: Any, folder: Path) -> Any:
        return str(folder / Text().from_toml(value, folder))

    def to_toml(self, value: Any) -> Any:
        return os.fspath(value)


@dataclass(frozen=True, slots=True)
class Places:
    """`["bots/*"]`: paths and patterns of paths, at least one."""

    def schema(self) -> Schema:
        return {"type": "array", "items": {"type": "string"}, "minItems": 1}

    def from_toml(self, value: Any, folder: Path) -> Any:
        if not value or not isinstance(value, list):
            raise _wanted('a list of paths, such as ["bots/*"],', value)
        return tuple(path for one in value for path in _matches(Text().from_toml(one, folder), folder))

    def to_toml(self, value: Any) -> Any:
        return [os.fspath(path) for path in value]


def _matches(pattern: str, folder: Path) -> Iterable[str]:
    """What a shell would make of a pattern. Raises ValueError where there is nothing that matches."""
    path = folder / pattern
    if not has_magic(pattern) or path.exists():
        return [str(path)]
    found = sorted(glob(os.path.join(escape(str(folder)), pattern)))  # noqa: PTH118, PTH207  # pathlib's shows hidden ones
    if not found:
        raise ValueError(f"nothing matches {toml(pattern)} in {folder.absolute()}")
    return [str(Path(one)) for one in found]


@dataclass(frozen=True, slots=True)
class Several:
    """`["one", "another"]`: an option that may be repeated."""

    one: Shape

    def schema(self) -> Schema:
        return {"type": "array", "items": self.one.schema()}

    def from_toml(self, value: Any, folder: Path) -> Any:
        if not isinstance(value, list):
            raise _wanted("a list, such as [ … ],", value)
        return tuple(self.one.from_toml(one, folder) for one in value)

    def to_toml(self, value: Any) -> Any:
        return [self.one.to_toml(one) for one in value]


@dataclass(frozen=True, slots=True)
class TomlTable:
    """`{ key = "value" }`: an option that is repeated as KEY=VALUE.

    `known` are its keys, where there are no others; then all have `defaults`.
    """

    known: Mapping[str, Shape] | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def schema(self) -> Schema:
        if self.known is None:
            return {
                "type": "object",
                "propertyNames": {"pattern": "^[^=]+$"},
                "additionalProperties": {"type": "string"},
            }
        properties = {key: {**shape.schema(), "default": self.defaults[key]} for key, shape in self.known.items()}
        return {"type": "object", "properties": properties, "additionalProperties": False}

    def from_toml(self, value: Any, folder: Path) -> Any:
        if not isinstance(value, dict):
            raise _wanted('a table, such as { key = "value" },', value)
        return tuple(self._pair(key, one, folder) for key, one in value.items())

    def _pair(self, key: str, value: Any, folder: Path) -> str:
        if "=" in key or "\0" in key:
            raise ValueError(f"there is no {toml(key)}")
        try:
            return f"{key}={self._shape(key).from_toml(value, folder)}"
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from None

    def _shape(self, key: str) -> Shape:
        """A key that is not known is refused by the option itself, in its own words."""
        return Text() if self.known is None else self.known.get(key, AnyWord())

    def to_toml(self, value: Any) -> Any:
        pairs = (one.partition("=") for one in value)
        return {key: int(text) if isinstance(self._shape(key), WholeNumber) else text for key, _, text in pairs}
