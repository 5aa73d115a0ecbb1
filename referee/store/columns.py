"""What may stand in the columns of a database, which may be anybody's: every reader goes through here.

SQLite gives back whatever was put into a column. Each function raises ValueError where a column makes no sense.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from referee.record import Bot, BotHash, BotName, LineUp
from referee.rules import MAX_PLAYERS, MIN_PLAYERS

_LONGEST_LABEL = 1000
_TIME = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z", re.ASCII).fullmatch
_LABELS = msgspec.json.Decoder(dict[str, str])
_GAME_ID = re.compile(r"[!-~]{1,64}", re.ASCII).fullmatch
_MOST = 2**53 - 1


def bot(name: object, content: object) -> Bot:
    """A bot, whose name and hash are as those of bots that play."""
    try:
        return msgspec.convert((name, content), type=_Pair).bot
    except msgspec.ValidationError as error:
        raise ValueError(f"a bot's name or hash: {error}") from None


class _Pair(msgspec.Struct, frozen=True, array_like=True):
    name: BotName
    hash: BotHash

    @property
    def bot(self) -> Bot:
        return Bot(self.name, self.hash)


def labels(value: object) -> Mapping[str, str]:
    """What a bot says of itself: any texts, so they are escaped where they are shown."""
    try:
        found = _LABELS.decode(text(value))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(f"a bot's labels: {error}") from None
    if any(len(word) > _LONGEST_LABEL for pair in found.items() for word in pair):
        raise ValueError("a bot's labels are too long")
    return found


def line_up(value: object, by_id: Mapping[int, Bot]) -> LineUp:
    """A line-up from its bots' ids."""
    found = tuple(by_id[int(member)] for member in text(value).split(",") if member.isascii())
    if not MIN_PLAYERS <= len(found) <= MAX_PLAYERS or list(found) != sorted(found):
        raise ValueError("a line-up is not 2 to 6 bots in order")
    return found


def number(value: object) -> int:
    """A whole number from 0 on."""
    if type(value) is int and 0 <= value <= _MOST:
        return value
    raise ValueError("a number is not one")


def text(value: object) -> str:
    """Any text."""
    if isinstance(value, str):
        return value
    raise ValueError("a text is not one")


def game_id(value: object) -> str:
    """The id of a game."""
    if _GAME_ID(text(value)):
        return text(value)
    raise ValueError("the id of a game has other characters")


def data(value: object) -> bytes:
    """Any bytes."""
    if isinstance(value, bytes):
        return value
    raise ValueError("bytes are not bytes")


def time(value: object) -> str:
    """A moment, ISO 8601 in UTC."""
    if _TIME(text(value)):
        return text(value)
    raise ValueError("a time is not one")


def digits(value: object, *, below: int, count: int | None = None) -> tuple[int, ...]:
    """Numbers of one digit each, less than `below`; `count` of them, or any number of different ones."""
    found = tuple(map(int, text(value))) if text(value).isascii() else (below,)
    if any(one >= below for one in found) or (len(set(found)) < len(found) if count is None else len(found) != count):
        raise ValueError("digits are not those of seats or places")
    return found
