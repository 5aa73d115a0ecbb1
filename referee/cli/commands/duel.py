"""`referee duel`: is a new version of a bot better than the old one? Plays until that is shown, and no longer."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import click

from referee.bots.cache.prepare import Prepared
from referee.bots.process.limits import Limits, Reuse
from referee.bots.tiers import Tier
from referee.cli.bots import check_plays, ready_bots, say_platform
from referee.cli.duel_session import DuelSession
from referee.cli.exit_codes import ExitCode, say
from referee.cli.options.common import fresh_option, jobs_option, limits_options, pace_option, rules_option, seed_option
from referee.cli.options.duel import db_option, max_deals_option, question_options, seats_option
from referee.cli.options.sandbox import Wish, begun_tier, sandbox_options
from referee.cli.output.duel_report import answer, document, faults_of_both, standing
from referee.cli.output.stop_notes import same_command
from referee.cli.publishing import tell_faults
from referee.errors import DatabaseGone, InputError, RefereeError
from referee.outputs import check_place
from referee.ratings.sequential.betting import Question, Verdict
from referee.rules import Rules
from referee.store import open_store
from referee.tournament.planning.duel import Asked
from referee.tournament.rounds.conditions import Conditions

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
    question: Question,
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
    isolation: Wish,
    as_json: bool,
) -> None:
    """Play NEW against OLD until it is shown that NEW scores more than s0, or less than s1.

    With three players or more NEW sits among copies of OLD. The same command goes on with a duel that was
    interrupted. The exit code is 0 where NEW is better, 1 where it is not, 3 where that is not known.
    """
    quiet = bool(ctx.obj and ctx.obj.quiet)
    check_place(db, remedy="name a place outside it with --db")
    tier = isolation.settle(begun_tier(db))
    challenger, incumbent = (_one_bot(path, isolation, tier, quiet=quiet) for path in (new, old))
    check_plays([challenger.manifest, incumbent.manifest], players)
    say_platform()
    conditions = Conditions(rules, Limits(start_ms, move_ms, game_ms), pace_ms or 0, fresh, tier, isolation.box)
    asked = Asked(conditions, players, max_deals, question.s0, question.s1, question.alpha, question.beta)
    try:
        with closing(open_store(db, create=True)) as store:
            store.claim()
            session = DuelSession(store, challenger, incumbent, jobs=jobs, quiet=quiet)
            course = session.settle(asked, seed)
            try:
                interrupted = session.play(course)
            except (InputError, DatabaseGone):
                raise
            except RefereeError as error:  # its usual exit code would say that NEW is not better
                say(str(error))
                ctx.exit(ExitCode.NO_VERDICT)
            if not quiet:
                tell_faults(store, faults_of_both(course), db)
    except DatabaseGone as error:
        say(str(error))
        ctx.exit(ExitCode.NO_VERDICT)
    click.echo(json.dumps(document(course)) if as_json else f"{answer(course)}\n{standing(course)}")
    if interrupted:
        click.echo(f"stopped; to go on: {same_command('duel')}", err=True)
    ctx.exit(ExitCode.INTERRUPTED if interrupted else _CODES.get(course.verdict, ExitCode.NO_VERDICT))


_CODES: dict[Verdict | None, ExitCode] = {Verdict.BETTER: ExitCode.DONE, Verdict.NOT_BETTER: ExitCode.NEGATIVE}


def _one_bot(path: Path, isolation: Wish, tier: Tier, *, quiet: bool) -> Prepared:
    found = ready_bots([path], quiet=quiet, view=isolation.view(tier), builder=isolation.builder(tier))
    if len(found) != 1:
        raise InputError(f"{path} is no bot: a duel is between two, each a folder with bot.toml, or a file")
    return found[0]
