"""A duel in words and as JSON."""

from __future__ import annotations

import math

from referee.contest.duel_standing import DuelStanding
from referee.ratings.sequential.betting import DuelVerdict
from referee.units import many

JSON = dict[str, object]


def standing_line(standing: DuelStanding) -> str:
    """One line: deals, score, both wealths with the amounts that decide, faults."""
    test, question = standing.test, standing.test.question
    score = "-" if test.score is None else f"{test.score:.4f}"
    return (
        f"{test.deals:,} of {standing.duel.max_deals:,} deals, score {score}, "
        f"K+ {_number(math.exp(test.log_better))} of {1 / question.alpha:.4g}, "
        f"K- {_number(math.exp(test.log_not_better))} of {1 / question.beta:.4g}, "
        f"faults {standing.faults.new} and {standing.faults.old}"
    )


def answer(standing: DuelStanding) -> str:
    """The verdict, or that there is none, in one sentence."""
    question, (new, old) = standing.test.question, standing.names
    deals = many(standing.test.deals, "deal")
    match standing.verdict:
        case DuelVerdict.BETTER:
            return f"better: {new} scores more than {question.s0:.4g} against {old}, after {deals}"
        case DuelVerdict.NOT_BETTER:
            return f"not better: {new} scores less than {question.s1:.4g} against {old}, after {deals}"
    return f"undecided: {new} against {old}, after {deals}"


def document(standing: DuelStanding) -> JSON:
    """All there is to say, as `docs/duel.md` describes it."""
    duel, test, question = standing.duel, standing.test, standing.test.question
    one = duel.round
    return {
        "verdict": None if standing.verdict is None else standing.verdict.value,
        "new": {"name": duel.pair.new.name, "hash": duel.pair.new.hash, "faults": standing.faults.new},
        "old": {"name": duel.pair.old.name, "hash": duel.pair.old.hash, "faults": standing.faults.old},
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
