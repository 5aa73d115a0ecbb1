"""A duel in words and as JSON."""

from __future__ import annotations

import math
from collections import Counter

from referee.cli.duel_course import Course
from referee.cli.output.words import many
from referee.ratings.sequential.betting import Verdict
from referee.record import Bot
from referee.tournament.planning.duel import Duel

JSON = dict[str, object]


def names_of(duel: Duel) -> tuple[str, str]:
    """What the two are called: by their names, and where these are the same by their hashes too, or their parts."""
    new, old = duel.pair
    if new == old:
        return f"{new.name} (new)", f"{old.name} (old)"
    if new.name == old.name:
        return f"{new.name} ({new.hash[:8]})", f"{old.name} ({old.hash[:8]})"
    return new.name, old.name


def standing(course: Course) -> str:
    """One line: deals, score, both wealths with the amounts that decide, faults."""
    test, question = course.test, course.test.question
    score = "-" if test.score is None else f"{test.score:.4f}"
    return (
        f"{test.deals:,} of {course.duel.max_deals:,} deals, score {score}, "
        f"K+ {_number(math.exp(test.log_better))} of {1 / question.alpha:.4g}, "
        f"K- {_number(math.exp(test.log_not_better))} of {1 / question.beta:.4g}, "
        f"faults {course.faults.new} and {course.faults.old}"
    )


def faults_of_both(course: Course) -> Counter[Bot]:
    """In how many games of the deals that count each of the two was at fault; both together where they are the same."""
    new, old = course.duel.pair
    return Counter({new: course.faults.new}) + Counter({old: course.faults.old})


def answer(course: Course) -> str:
    """The verdict, or that there is none, in one sentence."""
    question, (new, old) = course.test.question, names_of(course.duel)
    deals = many(course.test.deals, "deal")
    match course.verdict:
        case Verdict.BETTER:
            return f"better: {new} scores more than {question.s0:.4g} against {old}, after {deals}"
        case Verdict.NOT_BETTER:
            return f"not better: {new} scores less than {question.s1:.4g} against {old}, after {deals}"
    return f"undecided: {new} against {old}, after {deals}"


def document(course: Course) -> JSON:
    """All there is to say, as `docs/duel.md` describes it."""
    duel, test, question = course.duel, course.test, course.test.question
    one = duel.round
    return {
        "verdict": None if course.verdict is None else course.verdict.value,
        "new": {"name": duel.pair.new.name, "hash": duel.pair.new.hash, "faults": course.faults.new},
        "old": {"name": duel.pair.old.name, "hash": duel.pair.old.hash, "faults": course.faults.old},
        "players": duel.players,
        "deals": test.deals,
        "max_deals": duel.max_deals,
        "score": None if test.score is None else round(test.score, 6),
        "s0": question.s0,
        "s1": question.s1,
        "alpha": question.alpha,
        "beta": question.beta,
        "wealth_better": _rounded(math.exp(test.log_better)),
        "wealth_not_better": _rounded(math.exp(test.log_not_better)),
        "half_points": test.counts,
        "round": one.number,
        "commitment": one.commitment,
        "sealed": one.sealed,
        "seed": one.seed,
        "secret": one.secret.hex() if one.closed else None,
    }


def _number(wealth: float) -> str:
    return f"{wealth:.2f}" if wealth >= 0.01 else f"{wealth:.0e}"


def _rounded(number: float) -> float:
    """Six digits: libraries may differ in the last ones."""
    return float(f"{number:.6g}")
