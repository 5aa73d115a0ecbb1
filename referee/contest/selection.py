"""Which games count where somebody asks for a part of them: those of some rounds, and those among some bots."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from referee.contest.season import Season, rated_bots
from referee.errors import InputError
from referee.record import Bot
from referee.store import Store

Spans = tuple[tuple[int, int], ...]
"""First and last of each, ascending and apart."""

_NEAR = 3


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to count: `bots` and `rounds`, None for all; `notes` say so, a sentence each."""

    bots: frozenset[Bot] | None = None
    rounds: frozenset[int] | None = None
    notes: tuple[str, ...] = ()


def select(
    store: Store,
    season: Season,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    rounds: Spans | None = None,
    all_versions: bool = False,
) -> Selection:
    """What the options ask for. Raises InputError where there is no such bot or round, or fewer than two bots."""
    notes: list[str] = []
    bots = None
    if include or exclude:
        known = rated_bots(store, season, all_versions=all_versions)
        bots = _matching(known, include, season) if include else known
        bots -= _matching(known, exclude, season) if exclude else frozenset()
        if len(bots) < 2:
            left = f"only {next(iter(bots)).name} is" if bots else "no bot is"
            raise InputError(f"{left} left of those of {store.path}, and a game needs two: include more, exclude fewer")
        names = ", ".join(dict.fromkeys(bot.name for bot in sorted(bots)))
        notes.append(f"only games among {len(bots)} of {len(known)} bots count: {names}")
    numbers = None
    if rounds is not None:
        numbers = _numbers(store, season, rounds)
        one = len(numbers) == 1
        notes.append(f"only games of round{'' if one else 's'} {in_words(rounds)} count")
    return Selection(bots, numbers, tuple(notes))


def one_bot(store: Store, season: Season, name: str, *, all_versions: bool = False) -> Bot:
    """The bot that is meant by a name, or by `name@` and the beginning of its hash. Raises InputError."""
    found = sorted(
        _matching(rated_bots(store, season, all_versions=all_versions), [re.sub(r"[*?[]", "[\\g<0>]", name)], season)
    )
    if len(found) > 1:
        versions = " or ".join(f"{bot.name}@{bot.hash[:8]}" for bot in found)
        raise InputError(f"{name!r} is the name of {len(found)} versions: say {versions}")
    return found[0]


def in_words(spans: Spans) -> str:
    """`1 to 3 and 5`."""
    words = [str(first) if first == last else f"{first} to {last}" for first, last in spans]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def joined(spans: Iterable[tuple[int, int]]) -> Spans:
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return tuple(found)


def _matching(known: Collection[Bot], patterns: Sequence[str], season: Season) -> frozenset[Bot]:
    chosen: set[Bot] = set()
    for pattern in (part.strip() for text in patterns for part in text.split(",")):
        name, _, content = pattern.partition("@")
        found = {bot for bot in known if fnmatchcase(bot.name, name) and bot.hash.startswith(content)}
        if not found:
            raise InputError(_no_bot(pattern, known, season))
        chosen |= found
    return frozenset(chosen)


def _no_bot(pattern: str, known: Collection[Bot], season: Season) -> str:
    shown = re.sub(r"\[([*?[])\]", r"\1", pattern)
    for bot, number in season.withdrawn.items():
        if bot.name == shown:
            return f"{shown} was withdrawn in round {number}, so its games rate nobody; name another bot"
    names = sorted({bot.name for bot in known})
    near = difflib.get_close_matches(shown.partition("@")[0], names, _NEAR)
    hint = (
        f"did you mean {' or '.join(near)}?"
        if near
        else f"there are {', '.join(names[:20])}" + ", …" * (len(names) > 20)
    )
    return f"there is no bot {shown!r} in season {season.number}: {hint if names else 'it has none'}"


def _numbers(store: Store, season: Season, spans: Spans) -> frozenset[int]:
    mine = [one.number for one in season.rounds]
    others = {one.number: one.manifest.season for one in season.all_rounds}
    for number in (end for span in spans for end in span):
        if number in mine:
            continue
        if number in others:
            raise InputError(f"round {number} is of season {others[number]}: ask for it with --season {others[number]}")
        there = in_words(joined((one, one) for one in mine)) if mine else "none"
        raise InputError(f"there is no round {number} in {store.path}: season {season.number} has {there}")
    return frozenset(number for number in mine if any(first <= number <= last for first, last in spans))
