"""`referee match`: some games between a few bots, at once and in this process; for authors and for scripts."""

from __future__ import annotations

import time
from pathlib import Path

import click
from click.core import ParameterSource

from referee.bots.process.limits import Limits, Reuse
from referee.cards import parse_deck
from referee.cli.options.common import Duration, fresh_option, limits_options, pace_option, rules_option, seed_option
from referee.cli.options.sandbox import sandbox_options, settle, tell
from referee.cli.output.logs import LogFolder, check_logs
from referee.cli.output.match_report import MatchReport
from referee.cli.preparing import load, say_platform
from referee.contest.isolation import Isolation
from referee.contest.match import match
from referee.errors import InputError
from referee.rules import MAX_PLAYERS, MIN_PLAYERS, Rules

_EXAMPLES = """\b
Examples:
  referee match example_bots/greedy example_bots/random
  referee match --deals 100 --json mybot mybot > games.json
  referee match --deals 1 --show --log logs mybot example_bots/greedy
"""


@click.command(short_help="Play some games between a few bots.", epilog=_EXAMPLES)
@click.argument("bots", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="BOT BOT…")
@click.option(
    "--deals",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="How many deals; each is played once in every rotation of the seats.",
)
@seed_option
@click.option("--deck", metavar="CARDS", help="Play one game with this deck, seats as given: 36 cards in deal order.")
@rules_option
@limits_options
@pace_option
@fresh_option
@sandbox_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with every game.")
@click.option(
    "--log",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write every byte that each bot got and gave, and its stderr, one file a bot and game.",
)
@click.option("--show", is_flag=True, help="Show every game as it was played.")
@click.option(
    "--delay", type=Duration(unlimited=False), metavar="TIME", help="With --show, how long to wait after each turn."
)
def command(
    bots: tuple[Path, ...],
    deals: int,
    seed: str | None,
    deck: str | None,
    rules: Rules,
    start_ms: int | None,
    move_ms: int | None,
    game_ms: int | None,
    pace_ms: int | None,
    fresh: Reuse,
    isolation: Isolation,
    as_json: bool,
    log: Path | None,
    show: bool,
    delay: int | None,
) -> None:
    """Play games between the bots at one table, who sit as given in the first and rotate then.

    A bot may be named more than once. Nothing is stored. The exit code is 0 whatever the bots did.
    """
    if not MIN_PLAYERS <= len(bots) <= MAX_PLAYERS:
        raise InputError(f"a match is for {MIN_PLAYERS} to {MAX_PLAYERS} bots, not {len(bots)}")
    if deck is not None and _is_given("deals"):
        raise click.UsageError("--deck is one game, and --deals deals others: give one of them")
    check_logs(log)
    cards = None if deck is None else parse_deck(deck)
    settled = settle(isolation)
    table = load(bots, settled, quiet=as_json)
    limits = Limits(start_ms, move_ms, game_ms)
    say_platform()
    began = time.monotonic()
    report = MatchReport([bot.manifest for bot in table.bots], as_json=as_json, show=show, delay=(delay or 0) / 1000)
    with LogFolder.at(log) as taps:
        games = match(
            table,
            deals=deals,
            deck=cards,
            seed=seed,
            rules=rules,
            limits=limits,
            pace_ms=pace_ms or 0,
            reuse=fresh,
            taps=taps,
        )
        if not as_json:
            tell(settled.tier)
        try:
            for game in games:
                report.add(game.record, game.seating)
        finally:
            if report.games:  # what was played before a Ctrl-C is reported all the same
                report.finish(rules, limits, seed, time.monotonic() - began)


def _is_given(parameter: str) -> bool:
    return click.get_current_context().get_parameter_source(parameter) is ParameterSource.COMMANDLINE
