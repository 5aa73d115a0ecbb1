"""What a round still owes: its schedule, less what is there, what withdrawals set aside, and what a stop spares."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from referee.store import Store
from referee.tournament.progress.stages import Course
from referee.tournament.progress.withdrawal import withdrawals_of
from referee.tournament.rounds.rounds import Round
from referee.tournament.rounds.schedule import Block


def owed_of(one: Round, store: Store) -> Iterator[Block]:
    """The games that a round lacks; of one that stops by itself and has not, so many at most. Raises DatabaseError."""
    played, withdrawals = store.played(one.number), withdrawals_of(one, store)
    if not stops_by_itself(one):
        return one.schedule.owed(played, unwanted=withdrawals.sets_aside)
    course = course_of(one, store)
    return one.schedule.owed(played, unwanted=lambda block: withdrawals.sets_aside(block) or course.spares(block))


def stops_by_itself(one: Round) -> bool:
    """Whether a round is over when its tables are settled."""
    return not isinstance(one.manifest.until, msgspec.UnsetType)


def course_of(one: Round, store: Store) -> Course:
    """Where a round that stops by itself stands. Raises DatabaseError."""
    course = Course(one)
    course.add(store.results(rounds=[one.number]))
    course.advance(store.played(one.number), withdrawals_of(one, store))
    return course
