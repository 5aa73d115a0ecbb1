"""What is rare in a question, in words."""

from __future__ import annotations

from collections.abc import Iterator

from referee.cards import QUEENS
from referee.checking.games.sitting import CheckedGame
from referee.rules import DEFAULT_RULES, DiscardRule, OddCard, Question, Scoring

_NUMBERS = ("no", "one", "two", "three", "four", "five")


def where(course: CheckedGame) -> str:
    """At which question of a game the bot was at fault."""
    if len(course.questions) <= len(course.replies):
        return ""
    question = course.questions[-1]
    rare = ", ".join(rare_in(question)) or "nothing rare in it"
    phase = "lay" if question.drawn is None else "drawn"
    return f"question {len(course.questions)} of a game of {len(question.hand_sizes)}, phase {phase}, {rare}"


def rare_in(question: Question) -> Iterator[str]:
    """Each thing that is rare."""
    held = question.hand.bit_count()
    if held < 2:
        yield f"{_NUMBERS[held]} card{'' if held == 1 else 's'} in hand"
    if (question.hand & QUEENS).bit_count() > 2:
        yield f"{_NUMBERS[(question.hand & QUEENS).bit_count()]} queens in hand"
    if question.drawn is not None and len(question.legal[0].taken) > 1:
        yield f"{_NUMBERS[len(question.legal[0].taken)]} matches"
    if len(question.widows) == 3:
        yield "three widows"
    if question.recycled:
        yield "recycled"
    if question.forfeited:
        yield f"{_NUMBERS[len(question.forfeited)]} at fault"
    if question.kept_in_a_row and question.kept_in_a_row == question.rules.stall_limit - 1:
        yield "one turn before the stall"
    if len(question.events) > 5:
        yield f"{len(question.events)} events"
    yield from _rules(question)


def _rules(question: Question) -> Iterator[str]:
    rules = question.rules
    if rules.discard is DiscardRule.ALL:
        yield "discard all"
    if rules.odd_card is OddCard.FIRST:
        yield "odd_card first"
    if rules.scoring is not Scoring.PLACES:
        yield f"scoring {rules.scoring.value}"
    if rules.stall_limit != DEFAULT_RULES.stall_limit:
        yield f"stall_limit {rules.stall_limit}"
