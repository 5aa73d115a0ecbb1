"""What an entry of the catalogue says, and how a game's record is held against it."""

from __future__ import annotations

from dataclasses import dataclass

from referee.bots.process.limits import Limits
from referee.errors import Verdict
from referee.record import Fault, GameRecord

SLACK_US = 200_000
"""How long after its deadline a verdict may fall."""
SHORT_MS, LONG_MS = 300, 5_000
ATTEMPTS = 3
"""How often a verdict may be late before it is not the machine that is."""

CLEAN = "clean"
"""No fault at all: the protocol allows it."""


@dataclass(frozen=True)
class Contained:
    """What is tried does not succeed on the tiers `by`, which promise that; the game goes on.

    On the tier D it does succeed, or it would prove nothing, unless it `needs` what not every machine gives.
    """

    by: str
    promise: str
    needs: str = ""


@dataclass(frozen=True)
class Entry:
    """One line of the catalogue; `program` is in `hostile/programs`, with its first argument.

    `hides`: what it leaves is ended with the last bot at the latest, where there is no box.
    """

    name: str
    program: str
    clause: str
    expected: Verdict | Contained | str
    hides: bool = False


def limits_of(entry: Entry) -> Limits:
    """Short where the deadline decides; where it should not, long enough for a busy machine."""
    return Limits(
        start_ms=SHORT_MS if entry.expected is Verdict.START_TIMEOUT else 10_000,
        move_ms=SHORT_MS if entry.expected is Verdict.TIMEOUT else LONG_MS,
    )


def charged(record: GameRecord) -> Fault | None:
    """The fault of the hostile bot, after which the game ended at once in the other's favour."""
    if not record.faults:
        return None
    (fault,) = record.faults
    assert record.seats[fault.seat].name == "hostile"
    assert (record.forfeited, record.places[fault.seat]) == ((fault.seat,), 2)
    unanswered = [step for step in record.steps if step.action is None]
    assert unanswered == ([] if fault.step is None else [record.steps[-1]])
    return fault


def lateness(fault: Fault, limits: Limits) -> int:
    """By how much a verdict fell after its deadline, in us."""
    deadline = limits.move_ms if fault.step is not None else limits.start_ms
    assert deadline is not None
    late = int(fault.evidence["us"] or 0) - 1000 * deadline
    assert late >= 0 or fault.verdict not in (Verdict.TIMEOUT, Verdict.START_TIMEOUT), "a verdict before the deadline"
    return late
