"""Whether games are the ones due: each by its round's schedule and secret, its columns by its record, and the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from referee.store import Store, Stored, StoredRound
from referee.tournament.audit.due import SENSELESS, Depth, Due, examine
from referee.tournament.audit.examiners import Examiners
from referee.tournament.progress.owed import owed_of
from referee.tournament.rounds.keys import is_practice
from referee.tournament.rounds.rounds import Round
from referee.tournament.rounds.schedule import Schedule, count_games

BATCH = 250
"""Games that are looked at by one process at once."""

_ALONE = 2 * BATCH
"""Up to so many games no process is worth its start."""


class Verified(NamedTuple):
    """So many games were looked at; `findings` has a sentence for each that is not as it should be."""

    games: int
    findings: tuple[str, ...]


def due_of(one: Round, depth: Depth) -> Due:
    """What the games of a round are judged by.

    The records of a tournament from before there were rounds, which is the first round now, do not name it.
    """
    return Due(
        one.number,
        one.secret,
        one.manifest.conditions.rules,
        one.number == 1 and not one.sealed,
        depth,
        one.derivation,
    )


def verify(one: Round, games: Iterable[Stored], *, depth: Depth, count: int) -> Iterator[Verified]:
    """Look at `games`, about `count` of them, of a round, batch by batch and in order, on all processors.

    Raises DatabaseError where they cannot be read.
    """
    due, schedule = due_of(one, depth), one.schedule
    batches = batched(games)
    if count <= _ALONE:
        yield from (_joined(batch, schedule, examine(due, _scheduled(batch, schedule))) for batch in batches)
        return
    asked = ((batch, (_for(batch, due), _scheduled(batch, schedule))) for batch in batches)
    with Examiners() as examiners:
        for batch, found in examiners.examine(asked):
            yield _joined(batch, schedule, found)


def _for(batch: list[Stored], due: Due) -> Due:
    """What a batch is judged by: without the seatings of other line-ups, since another process is sent it."""
    return due._replace(derivation=due.derivation.only({game.line_up for game in batch}))


def batched(games: Iterable[Stored]) -> Iterator[list[Stored]]:
    """The games, `BATCH` at once."""
    left = iter(games)
    while batch := list(islice(left, BATCH)):
        yield batch


def _scheduled(batch: list[Stored], schedule: Schedule) -> list[Stored]:
    return [game for game in batch if _is_scheduled(schedule, game)]


def _is_scheduled(schedule: Schedule, game: Stored) -> bool:
    return (
        isinstance(game.deal, int)
        and isinstance(game.rotation, int)
        and schedule.has(game.line_up, game.deal, game.rotation)
    )


def _joined(batch: list[Stored], schedule: Schedule, found: list[str | None]) -> Verified:
    """All findings of a batch, in its order."""
    reasons = iter(found)
    findings = []
    for game in batch:
        why = next(reasons) if _is_scheduled(schedule, game) else "its round has no such game"
        if why is not None:
            findings.append(f"{_name(game)}: {why}")
    return Verified(len(batch), tuple(findings))


def _name(game: Stored) -> str:
    bots = ", ".join(bot.name for bot in game.line_up) or "nobody"
    return f"round {game.round}, game {game.game_id} (deal {game.deal}, rotation {game.rotation} of {bots})"


def check_rounds(rounds: Iterable[StoredRound]) -> Iterator[tuple[Round | None, list[str]]]:
    """Each round, None where it cannot be read, with what is wrong with it and with its place behind the others."""
    before: Round | None = None
    for stored in rounds:
        try:
            one = Round.of(stored)
            one.schedule.count()
        except SENSELESS as error:
            before = None
            yield None, [str(error)]
            continue
        yield one, [*_mislabelled(stored, one), *([] if before is None else _misplaced(before, one))]
        before = one


def gone(one: Round, store: Store) -> int:
    """How many games of a closed round, all of whose games are due, went since it was closed."""
    return count_games(owed_of(one, store)) - one.unplayed


def _mislabelled(stored: StoredRound, one: Round) -> Iterator[str]:
    if (stored.number, stored.season) != (one.number, one.manifest.season):
        yield f"round {stored.number} is stored under another number or season than its manifest names"
    if one.sealed and is_practice(one.secret):
        yield f"round {one.number} is called sealed, and its secret comes from a seed"


def _misplaced(before: Round, one: Round) -> Iterator[str]:
    is_next = one.number == before.number + 1  # a database of shares may lack those between
    if is_next and one.manifest.previous != before.commitment:
        yield f"round {one.number} was not opened after this round {before.number}: it names another commitment"
    if not before.closed:
        yield f"round {before.number} is open, though round {one.number} was opened after it"
    if one.manifest.season < before.manifest.season:
        yield f"round {one.number} is of an older season than round {before.number}"
