"""`referee duel`: is a new version of a bot better than the old one? Plays until that is shown, and no longer."""

from __future__ import annotations

import json
from pathlib import Path

import click

from referee.bots.process.limits import Limits, Reuse
from referee.cli.exit_codes import ExitCode, say
from referee.cli.interrupts import stop_on_signals
from referee.cli.options.common import fresh_option, jobs_option, limits_options, pace_option, rules_option, seed_option
from referee.cli.options.duel import db_option, max_deals_option, question_options, seats_option
from referee.cli.options.sandbox import sandbox_options, settle
from referee.cli.output.duel_report import answer, document, standing_line
from referee.cli.output.faults import tell_faults
from referee.cli.output.listening import TerminalListener
from referee.cli.output.same_command import same_command
from referee.cli.preparing import load, say_platform
from referee.contest.duel import DuelSettings, duel
from referee.contest.isolation import Isolation, Settled, begun_tier
from referee.contest.loading import Programs
from referee.errors import DatabaseError, InputError, RefereeError
from referee.outputs import check_place
from referee.ratings.sequential.betting import DuelHypotheses, DuelVerdict
from referee.rules import Rules
from referee.tournament.engine.run import void_in_words

_EXAMPLES = """\b
Examples:
  referee duel bots/mine-2 bots/mine-1
  referee duel new/mine old/mine --elo0 0 --elo1 20 --db mine.db
  referee duel mybot example_bots/greedy --players 4 --max-deals 2000 --json
"""


@click.command(
    short_help="Find out whether a bot is better than another, in as few deals as that takes.", epilog=_EXAMPLES
)
@click.argument("new", type=click.Path(path_type=Path), metavar="NEW")
@click.argument("old", type=click.Path(path_type=Path), metavar="OLD")
@question_options
@max_deals_option
@seats_option
@jobs_option
@db_option
@seed_option
@rules_option
@limits_options
@pace_option
@fresh_option
@sandbox_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of words.")
@click.pass_context
def command(
    ctx: click.Context,
    new: Path,
    old: Path,
    question: DuelHypotheses,
    max_deals: int,
    players: int,
    jobs: int | None,
    db: Path,
    seed: str | None,
    rules: Rules,
    start_ms: int | None,
    move_ms: int | None,
    game_ms: int | None,
    pace_ms: int | None,
    fresh: Reuse,
    isolation: Isolation,
    as_json: bool,
) -> None:
    """Play NEW against OLD until it is shown that NEW scores more than s0, or less than s1.

    With three players or more NEW sits among copies of OLD. The same command goes on with a duel that was
    interrupted. The exit code is 0 where NEW is better, 1 where it is not, 3 where that is not known.
    """
    quiet = bool(ctx.obj and ctx.obj.quiet)
    check_place(db, remedy="name a place outside it with --db")
    settled = settle(isolation, begun_tier(db))
    challenger, incumbent = (_one_bot(path, settled, quiet=quiet) for path in (new, old))
    settings = DuelSettings(
        question=question,
        players=players,
        max_deals=max_deals,
        seed=seed,
        rules=rules,
        limits=Limits(start_ms, move_ms, game_ms),
        pace_ms=pace_ms or 0,
        reuse=fresh,
    )
    say_platform()
    try:
        with stop_on_signals() as stop_wanted:
            result = duel(
                challenger,
                incumbent,
                settings,
                db=db,
                jobs=jobs,
                listener=TerminalListener(quiet=quiet),
                stop_wanted=stop_wanted,
            )
    except (InputError, DatabaseError):
        raise
    except RefereeError as error:  # its usual exit code would say that NEW is not better
        say(str(error))
        ctx.exit(ExitCode.NO_VERDICT)
    for notice in result.tally.notices:
        click.echo(notice, err=True)
    if result.tally.void:
        click.echo(void_in_words(result.tally), err=True)
    if not quiet:
        tell_faults(result.faults, db)
    standing = result.standing
    click.echo(json.dumps(document(standing)) if as_json else f"{answer(standing)}\n{standing_line(standing)}")
    if result.interrupted:
        click.echo(f"stopped; to go on: {same_command('duel')}", err=True)
    ctx.exit(ExitCode.INTERRUPTED if result.interrupted else _CODES.get(standing.verdict, ExitCode.NO_VERDICT))


_CODES: dict[DuelVerdict | None, ExitCode] = {
    DuelVerdict.BETTER: ExitCode.DONE,
    DuelVerdict.NOT_BETTER: ExitCode.NEGATIVE,
}


def _one_bot(path: Path, settled: Settled, *, quiet: bool) -> Programs:
    found = load([path], settled, quiet=quiet)
    if len(found.bots) != 1:
        raise InputError(f"{path} is not a bot: a duel is between two, each a folder with bot.toml, or a file")
    return found
