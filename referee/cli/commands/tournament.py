"""`referee tournament`: from bots to games to a leaderboard; the same command again plays only what is owed."""

from __future__ import annotations

from pathlib import Path

import click

from referee.bots.process.limits import Limits, Reuse
from referee.cli.config_file.tournament_file import tournament_file
from referee.cli.interrupts import stop_on_signals
from referee.cli.options.cluster import cluster_option
from referee.cli.options.common import (
    db_option,
    fresh_option,
    jobs_option,
    limits_options,
    out_option,
    pace_option,
    players_option,
    rules_option,
    seed_option,
)
from referee.cli.options.league import (
    all_versions_option,
    author_option,
    check_acts,
    check_plan,
    close_option,
    drop_option,
    max_entries_option,
    max_faults_option,
    new_season_option,
    plan_option,
    replace_option,
    round_option,
    same_author_option,
    shard_option,
)
from referee.cli.options.sandbox import sandbox_options, settle
from referee.cli.options.until import until_options
from referee.cli.output.display import SafeConsole
from referee.cli.output.faults import tell_faults
from referee.cli.output.listening import TerminalListener
from referee.cli.output.same_command import same_command
from referee.cli.output.tables import standings_tables
from referee.cli.preparing import load, say_platform
from referee.cli.streams import echo_line
from referee.contest.contest import PlannedRound, Settings, open_contest, read_round
from referee.contest.isolation import Isolation, begun_tier
from referee.contest.publishing import fault_examples, faults_of
from referee.contest.rounds import Where
from referee.errors import BotsRefused
from referee.rules import Rules
from referee.tournament.engine.run import RunTally, void_in_words, worst_in_words
from referee.tournament.planning.lineups import LIMIT
from referee.tournament.planning.planning import SameAuthor
from referee.tournament.rounds.rounds import Round
from referee.tournament.rounds.schedule import WHOLE, Share
from referee.tournament.rounds.until import Stopping
from referee.units import many

_EXAMPLES = """\b
Examples:
  referee tournament bots/*
  referee tournament bots/* --players 2,4 --deals 200 --jobs 4
  referee tournament bots/* --until-settled 3 --max-deals 2000 --adaptive
  referee tournament bots/* --seed practice --db try.db --out try
"""


@tournament_file
@click.command(short_help="Play a round robin between bots and publish its leaderboard.", epilog=_EXAMPLES)
@click.argument("bots", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="BOTS…")
@players_option
@click.option(
    "--deals",
    type=click.IntRange(min=1, max=1_000_000),
    default=100,
    show_default=True,
    metavar="N",
    help="How many deals for each line-up; each is played once in every rotation of the seats.",
)
@click.option(
    "--lineups",
    type=click.IntRange(min=1),
    default=LIMIT,
    show_default=True,
    metavar="N",
    help="At most so many line-ups for each number of players: of more, a balanced sample.",
)
@until_options
@same_author_option
@author_option
@max_entries_option
@max_faults_option
@jobs_option
@click.option(
    "--cores-per-bot",
    type=click.IntRange(min=1),
    metavar="N",
    help="Give each game N processors for its bots; without it they share one. Fewer games are played at once then.",
)
@cluster_option
@db_option
@out_option
@seed_option
@rules_option
@limits_options
@pace_option
@fresh_option
@sandbox_options
@click.option("--skip-refused", is_flag=True, help="Leave out the bots that cannot play, and play the others.")
@all_versions_option
@new_season_option
@close_option
@drop_option
@plan_option
@round_option
@shard_option
@replace_option
@click.pass_context
def command(
    ctx: click.Context,
    bots: tuple[Path, ...],
    players: tuple[int, ...],
    deals: int,
    until: Stopping | None,
    lineups: int,
    same_author: str,
    authors: dict[str, str],
    max_entries: int | None,
    max_faults: int | None,
    jobs: int | None,
    cores_per_bot: int | None,
    cluster: str | None,
    db: Path,
    out: Path,
    seed: str | None,
    rules: Rules,
    start_ms: int | None,
    move_ms: int | None,
    game_ms: int | None,
    pace_ms: int | None,
    fresh: Reuse,
    isolation: Isolation,
    skip_refused: bool,
    all_versions: bool,
    new_season: bool,
    close_round: bool,
    drop_missing: bool,
    plan: Path | None,
    round_file: Path | None,
    shard: Share,
    force: bool,
) -> None:
    """Play every line-up of the bots, rate them, and write the leaderboard.

    A bot is a folder with a bot.toml, an executable file, or a source file of a known kind. Games are kept in the
    database as they end: the same command again plays only what is owed. New and changed bots, more deals and other
    tables are played in a round of their own.
    """
    quiet = bool(ctx.obj and ctx.obj.quiet)
    check_acts(new_season, close_round, plan, round_file, shard)
    check_plan(plan, out)
    carried = None if round_file is None else read_round(round_file)
    settled = settle(isolation, None if new_season else begun_tier(db, carried))
    try:
        programs = load(bots, settled, skip_refused=skip_refused, quiet=quiet)
    except BotsRefused as refused:
        advice = "nothing was played: mend this, or play the others with --skip-refused"
        raise BotsRefused(refused.reasons, advice) from None
    settings = Settings(
        players=players,
        deals=deals,
        lineups=lineups,
        same_author=SameAuthor(same_author),
        until=until,
        max_faults=max_faults,
        seed=seed,
        rules=rules,
        limits=Limits(start_ms, move_ms, game_ms),
        pace_ms=pace_ms or 0,
        reuse=fresh,
    )
    where = Where(jobs, cores_per_bot, cluster)
    where.check()
    say_platform()
    with open_contest(
        db,
        bots=programs,
        settings=settings,
        authors=authors,
        max_entries=max_entries,
        publish_to=out,
        force=force,
        new_season=new_season,
        create=not close_round and (carried is not None or shard == WHOLE),
        carried=carried,
        listener=TerminalListener(quiet=quiet),
    ) as contest:
        if (ended := contest.league.ended) is not None:
            _say_closed(ended)
        if plan is not None:
            _say_planned(contest.plan(plan, reads=(db, *bots), force=force), plan)
            return
        with stop_on_signals() as stop_wanted:
            if close_round:
                _say_closed(contest.close_round())
            elif carried is None and shard == WHOLE:
                contest.play(where=where, drop_missing=drop_missing, stop_wanted=stop_wanted)
            else:
                contest.play_share(shard, where=where, stop_wanted=stop_wanted)
        standings = contest.publish(all_versions=all_versions)
        if not quiet:
            console = SafeConsole()
            for table in standings_tables(standings):
                console.print(table)
            tell_faults(fault_examples(contest.store, faults_of(standings)), db)
    echo_line(f"leaderboard: {out / 'index.html'}")
    _finish(ctx, contest.tally)


def _say_closed(one: Round) -> None:
    click.echo(f"round {one.number} is closed as it stands; its secret was {one.secret.hex()}", err=True)


def _say_planned(plan: PlannedRound, path: Path) -> None:
    one = plan.round
    already = ", which was open already and stays as it is" if plan.was_open else ""
    games = many(one.schedule.count(), "game")
    click.echo(f"round {one.number}{already}: {games}; its commitment is {one.commitment}", err=True)
    click.echo(f"{path} holds its secret: only those who play it should read it", err=True)


def _finish(ctx: click.Context, tally: RunTally) -> None:
    for notice in tally.notices:
        click.echo(notice, err=True)
    if tally.void:
        click.echo(void_in_words(tally), err=True)
    if tally.unplayed:
        worst = worst_in_words(tally.by_bot)
        click.echo(f"{many(tally.unplayed, 'game')} could not be played and stay owed: {worst}", err=True)
    if tally.stopped:
        kept = f"{many(tally.played, 'game')} of this run {'is' if tally.played == 1 else 'are'} kept"
        click.echo(f"stopped; {kept}. To go on: {same_command('tournament')}", err=True)
        ctx.exit(130)
    if tally.unplayed:
        ctx.exit(1)
