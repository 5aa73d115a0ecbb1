"""Options of `referee duel`: the question, and how long it may take to answer it."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import Any

import click

from referee.cli.options.common import Command, with_options
from referee.ratings.sequential.betting import DuelHypotheses, expected_score
from referee.rules import MAX_PLAYERS, MIN_PLAYERS

_DEFAULT = DuelHypotheses()
MAX_DEALS = 20_000

_QUESTION = (
    click.option(
        "--s0",
        type=float,
        show_default=f"{_DEFAULT.s0:.2f}",
        metavar="SCORE",
        help="NEW is better if its expected score, from 0 to 1, is above this.",
    ),
    click.option(
        "--s1",
        type=float,
        show_default=f"{_DEFAULT.s1:.2f}",
        metavar="SCORE",
        help="NEW is not better if its expected score is below this: the least that would be worth having.",
    ),
    click.option("--elo0", type=float, metavar="POINTS", help="--s0 in Elo points: 1 / (1 + 10^(-POINTS/400))."),
    click.option("--elo1", type=float, metavar="POINTS", help="--s1 in Elo points."),
    click.option(
        "--alpha",
        type=float,
        default=_DEFAULT.alpha,
        show_default=True,
        metavar="P",
        help="How often NEW may be called better where its expected score is s0 or less.",
    ),
    click.option(
        "--beta",
        type=float,
        default=_DEFAULT.beta,
        show_default=True,
        metavar="P",
        help="How often NEW may be called not better where its expected score is s1 or more.",
    ),
)


def question_options(command: Command) -> Command:
    """`question: Question`, from all of these options."""

    @wraps(command)
    def merged(
        *args: Any,
        s0: float | None,
        s1: float | None,
        elo0: float | None,
        elo1: float | None,
        alpha: float,
        beta: float,
        **kwargs: Any,
    ) -> Any:
        low, high = _score("0", s0, elo0, _DEFAULT.s0), _score("1", s1, elo1, _DEFAULT.s1)
        try:
            question = DuelHypotheses(low, high, alpha, beta)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        return command(*args, question=question, **kwargs)

    return with_options(merged, _QUESTION)


def _score(which: str, score: float | None, elo: float | None, default: float) -> float:
    if score is not None and elo is not None:
        raise click.UsageError(f"--s{which} and --elo{which} say the same in two ways: give one of them")
    if elo is None:
        return default if score is None else score
    if not -4000 <= elo <= 4000:
        raise click.UsageError(f"--elo{which} is a number of points such as 10, not {elo:g}")
    return expected_score(elo)


max_deals_option = click.option(
    "--max-deals",
    type=click.IntRange(min=1, max=1_000_000),
    default=MAX_DEALS,
    show_default=True,
    metavar="N",
    help="Give up, undecided, after so many deals; each is played once in every rotation of the seats.",
)
"""`max_deals: int`"""

seats_option = click.option(
    "--players",
    type=click.IntRange(MIN_PLAYERS, MAX_PLAYERS),
    default=2,
    show_default=True,
    metavar="N",
    help="How many sit at the table: NEW, and OLD on all other seats.",
)
"""`players: int`"""

db_option = click.option(
    "--db",
    type=click.Path(path_type=Path, readable=False),
    default="duel.db",
    show_default=True,
    metavar="FILE",
    help="The database of the duel's games, which holds duels alone.",
)
"""`db: Path`"""
