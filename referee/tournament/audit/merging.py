"""Joining databases: the rounds, games and bots of some, brought into another, as if one machine had played all.

Everything is checked before anything is written. What is written comes in an order in which a merge that was broken
off can be begun again: bots first, then round after round, each opened, filled, and closed where nothing is owed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec

from referee.errors import DatabaseError
from referee.record import LineUp
from referee.store import Deals, Saved, Store, Stored, open_store
from referee.tournament.audit.due import Depth
from referee.tournament.audit.verifying import batched, check_rounds, verify
from referee.tournament.planning.league import League
from referee.tournament.rounds.rounds import Round

Tell = Callable[[str, int, int], None]
"""Is told what is being done, how many games of it are done, and of how many."""

_WRITTEN_AT_ONCE = 8
"""Batches of games in one transaction."""


class Source(NamedTuple):
    """A database that is merged into another, as it was when it was opened."""

    store: Store
    rounds: tuple[Round, ...]


class Joined(NamedTuple):
    """What became of the games of a round in one source.

    `added` are new; `there` were there already, of which `differing` had gone otherwise: the first stay. `late` were
    left out, since the round is closed.
    """

    source: Path
    number: int
    added: int
    there: int
    differing: int
    late: int


class Merged(NamedTuple):
    """What a merge did.

    `closed` are the rounds that it closed, `owed` has for each that stayed open how many games it lacks.
    """

    joined: tuple[Joined, ...]
    closed: tuple[Round, ...]
    owed: dict[int, int]


def merge(into: Path, paths: Sequence[Path], tell: Tell) -> Merged:
    """Bring the rounds and games of `paths` into the database `into`, which is made where it is missing.

    Raises DatabaseError, and has written nothing, where one of them cannot be read, another referee plays on `into`,
    their rounds do not fit together, or a game is not one that is due.
    """
    with ExitStack() as stack:
        _check_paths(into, paths)
        sources = [_opened(path, stack) for path in paths]
        is_new = not into.exists()
        store = None if is_new else _claimed(into, stack)
        _check_fit([] if store is None else _rounds(store), into, sources)
        for source in sources:
            _check_games(source, tell)
        if store is None:
            store = _claimed(into, stack)
            _check_fit(_rounds(store), into, sources)
        store.arrange_bots(_savings(store, sources))
        joined, closed = _join(store, sources, tell)
        league = League(store)
        owed = {one.number: league.count_owed(one) for one in league.rounds if not one.closed}
        return Merged(tuple(joined), tuple(closed), owed)


def _check_paths(into: Path, paths: Sequence[Path]) -> None:
    """One file twice would wait for itself, or be counted twice; under two names it would have two logs."""
    seen: dict[Hashable, Path] = {_file(into): into}
    for path in paths:
        if (other := seen.setdefault(_file(path), path)) is not path:
            raise DatabaseError(f"{path} and {other} are one file: name each database once")


def _file(path: Path) -> Hashable:
    try:
        found = path.stat()
    except OSError:
        return path.resolve()
    return found.st_dev, found.st_ino


def _opened(path: Path, stack: ExitStack) -> Source:
    store = stack.enter_context(open_store(path))
    found = []
    for one, findings in check_rounds(store.rounds()):
        if one is None or findings:
            raise DatabaseError(f"{path} cannot be merged: {findings[0]}")
        found.append(one)
    strange = store.round_counts().keys() - {one.number for one in found}
    if strange:
        raise DatabaseError(f"{path} cannot be merged: it has games of a round {min(strange)}, which it never opened")
    return Source(store, tuple(found))


def _claimed(path: Path, stack: ExitStack) -> Store:
    store = stack.enter_context(open_store(path, create=True))
    store.claim()
    return store


def _rounds(store: Store) -> list[Round]:
    return [Round.of(stored) for stored in store.rounds()]


# -- whether the rounds fit


class _Known(NamedTuple):
    """A round, one database that has it, and whether any of them has it closed."""

    one: Round
    path: Path
    closed: bool


def _check_fit(there: Sequence[Round], into: Path, sources: Sequence[Source]) -> None:
    """Raise DatabaseError where the databases are not of one league, or two rounds would be open."""
    known: dict[int, _Known] = {}
    databases = [(into, there), *((source.store.path, source.rounds) for source in sources)]
    for path, rounds in databases:
        for one in rounds:
            first = known.setdefault(one.number, _Known(one, path, closed=False))
            if first.one.commitment != one.commitment:
                raise DatabaseError(
                    f"round {one.number} of {path} and of {first.path} are two rounds: they are committed to "
                    f"{one.commitment[:16]}… and {first.one.commitment[:16]}…"
                )
            known[one.number] = first._replace(closed=first.closed or one.closed)
    for earlier, later in pairwise(known[number] for number in sorted(known)):
        _check_order(earlier, later)


def _check_order(earlier: _Known, later: _Known) -> None:
    before, after = earlier.one.number, later.one.number
    if after == before + 1 and later.one.manifest.previous != earlier.one.commitment:
        raise DatabaseError(
            f"round {after} of {later.path} was not opened after round {before} of {earlier.path}: they are of two "
            "leagues"
        )
    if not earlier.closed:
        raise DatabaseError(
            f"round {before} is still open in {earlier.path}, and {later.path} has round {after} after it: merge or "
            f"play what round {before} lacks first, or end it with `referee tournament --close-round`"
        )


def _check_games(source: Source, tell: Tell) -> None:
    """Raise DatabaseError at the first game that is not one due."""
    path, counts = source.store.path, source.store.round_counts()
    for one in source.rounds:
        count, done = counts[one.number].games, 0
        for found in verify(one, source.store.games(one.number), depth=Depth.WITH_REPLAYS, count=count):
            if found.findings:
                raise DatabaseError(f"{path} cannot be merged: {found.findings[0]}")
            done += found.games
            tell(f"round {one.number} of {path} is checked", done, count)


# -- bots


def _savings(store: Store, sources: Sequence[Source]) -> list[list[Saved]]:
    """In which order bots were saved, as far as it can be told: who knows a later round, saved later.

    Of those that know the same last round, the database that all is brought into comes last: so the same merge again
    changes nothing.
    """
    groups = [(_last(source.rounds), _in_turn(_with_authors(source))) for source in sources]
    groups.append((_last(_rounds(store)), _in_turn(store.saved_bots())))
    groups.sort(key=lambda group: group[0])
    return [saving for _, savings in groups for saving in savings]


def _last(rounds: Sequence[Round]) -> int:
    return rounds[-1].number if rounds else 0


def _in_turn(saved: Iterable[Saved]) -> list[list[Saved]]:
    ever = sorted((one for one in saved if one.saved > 0), key=lambda one: one.saved)
    return [list(group) for _, group in groupby(ever, key=lambda one: one.saved)]


def _with_authors(source: Source) -> Iterator[Saved]:
    """Whose a bot is, is settled by its round, not by what was said on the machine that played a share of it."""
    authors = {entry.bot: entry.author for one in source.rounds for entry in one.manifest.bots}
    for bot, labels, saved in source.store.saved_bots():
        words = dict(labels)
        if bot in authors:
            words.pop("author", None)
            words |= {"author": authors[bot]} if authors[bot] else {}
        yield Saved(bot, words, saved)


# -- games


def _join(store: Store, sources: Sequence[Source], tell: Tell) -> tuple[list[Joined], list[Round]]:
    joined: list[Joined] = []
    closed: list[Round] = []
    there = {one.number: one for one in _rounds(store)}
    for number in sorted({one.number for source in sources for one in source.rounds}):
        having = [(source, one) for source in sources for one in source.rounds if one.number == number]
        if number not in there:
            source, one = having[0]
            opened = source.store.round_counts()[number].opened
            there[number] = msgspec.structs.replace(one, closed=False, unplayed=0)
            store.open_round(there[number].stored(), datetime.fromisoformat(opened) if opened else None)
        one = there[number]
        joined += [_add_games(store, one, source, tell) for source, _ in having]
        if not one.closed:
            league = League(store)
            if any(theirs.closed for _, theirs in having) or league.is_complete(one):
                closed.append(league.close(one))
    return joined, closed


def _add_games(store: Store, one: Round, source: Source, tell: Tell) -> Joined:
    total = source.store.round_counts()[one.number].games
    played = store.played(one.number)
    added = there = differing = late = done = 0
    for games in _written_at_once(source.store.games(one.number)):
        new = [game for game in games if not _is_there(game, played)]
        old = [game for game in games if _is_there(game, played)]
        there += len(old)
        differing += sum(_went_otherwise(store, game) for game in old)
        if one.closed:
            late += len(new)
        elif new:
            added += store.add(new)
        done += len(games)
        tell(f"round {one.number} of {source.store.path} is merged", done, total)
    return Joined(source.store.path, one.number, added, there, differing, late)


def _written_at_once(games: Iterator[Stored]) -> Iterator[list[Stored]]:
    waiting: list[Stored] = []
    for number, batch in enumerate(batched(games), 1):
        waiting += batch
        if number % _WRITTEN_AT_ONCE == 0:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _is_there(game: Stored, played: dict[LineUp, dict[int, Deals]]) -> bool:
    return game.deal in played.get(game.line_up, {}).get(game.rotation, ())


def _went_otherwise(store: Store, game: Stored) -> bool:
    """Whether a game that was played twice went two ways: all that is stored of it but its times and notes."""
    other = store.game(game.line_up, game.deal, game.rotation)
    return other is not None and other[:-1] != game[:-1]
