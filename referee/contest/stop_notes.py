"""How rounds that stop by themselves were stopped, in sentences for pages and listeners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from referee.store import Store
from referee.tournament.progress.owed import course_of, stops_by_itself
from referee.tournament.progress.stages import Course, StageOutcome
from referee.tournament.rounds.rounds import Round
from referee.tournament.rounds.until import Until
from referee.units import many

_NAMED = 5
"""At most this many pairs are named."""


def stop_notes(rounds: Iterable[Round], store: Store) -> tuple[str, ...]:
    """Return how the last round of a season that stops by itself was stopped. Raises DatabaseError."""
    ours = [one for one in rounds if stops_by_itself(one)]
    return tuple(stops_in_words(ours[-1], course_of(ours[-1], store))) if ours else ()


def stops_in_words(one: Round, course: Course) -> Iterator[str]:
    """Yield a sentence for each table size, and one for what unequal numbers of games mean."""
    for outcome in course.outcomes():
        yield f"Round {one.number}, tables of {outcome.players}: {_how(one, outcome, course.until)}"
    if course.until.adaptive:
        yield (
            f"In round {one.number} line-ups of settled bots played no more: where bots have different numbers of "
            "games compare strengths, for which line-ups weigh alike, and not scores"
        )


def _how(one: Round, outcome: StageOutcome, until: Until) -> str:
    after = f"after {outcome.deals:,} of at most {outcome.most:,} deals a line-up"
    if not outcome.left and outcome.over:
        return f"played until {_what(until)} was settled, {after}; at most {until.alpha:.4g} of such tables are wrong"
    if outcome.over:
        return f"not settled {after}: {_pairs(outcome)} not told apart"
    if one.closed:
        return f"closed before it was settled, {after}"
    return f"stops when {_what(until)} is settled, {after}: {_pairs(outcome)} not told apart yet"


def _what(until: Until) -> str:
    what = "the order of all bots"
    if until.top is not None:
        what = "the first place" if until.top == 1 else f"the order of the first {until.top} places"
    return f"{what} up to {until.indifference:.4g}" if until.indifference else what


def _pairs(outcome: StageOutcome) -> str:
    named = ", ".join(f"{one.name} and {two.name}" for one, two in outcome.left[:_NAMED])
    more = len(outcome.left) - _NAMED
    others = f" and {many(more, 'pair')} more" if more > 0 else ""
    return f"{named}{others} are"
