"""`referee tournament`: from bots to games to a leaderboard; the same command again plays only what is owed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from referee.bots.process.limits import Limits, Reuse
from referee.cli.bots import ready_bots, say_platform
from referee.cli.config_file.tournament_file import tournament_file
from referee.cli.cores import cores_of
from referee.cli.entries import check_tables, entries_of, known_bots, labels_of, under_known_names
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
from referee.cli.options.sandbox import Wish, begun_tier, sandbox_options
from referee.cli.options.until import until_options
from referee.cli.output.display import SafeConsole
from referee.cli.output.stop_notes import same_command, stop_notes
from referee.cli.output.tables import standings_tables
from referee.cli.output.words import many
from referee.cli.publishing import (
    check_out,
    check_owner,
    faults_of,
    publish_commitments,
    publish_leaderboard,
    tell_faults,
)
from referee.cli.round_admin import check_acts, check_plan, close_open, open_round, read_file, say_closed, write_plan
from referee.cli.session import Session
from referee.cli.streams import echo_line
from referee.errors import BotsRefused
from referee.outputs import check_place
from referee.rules import Rules
from referee.store import open_store
from referee.tournament.engine.run import Tally, void_in_words, worst_in_words
from referee.tournament.planning.duel import refuse_duels
from referee.tournament.planning.league import League, Terms
from referee.tournament.planning.lineups import LIMIT
from referee.tournament.planning.planning import SameAuthor, Wanted
from referee.tournament.progress.owed import stops_by_itself
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.rounds import from_file
from referee.tournament.rounds.schedule import WHOLE, Share
from referee.tournament.rounds.until import Stopping

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
    isolation: Wish,
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
    carried = None if round_file is None else from_file(read_file(round_file), str(round_file))
    tier = isolation.settle(None if new_season else begun_tier(db, carried))
    view, builder = isolation.view(tier), isolation.builder(tier)
    try:
        found = ready_bots(bots, skip_refused=skip_refused, quiet=quiet, view=view, builder=builder)
    except BotsRefused as refused:
        advice = "nothing was played: mend this, or play the others with --skip-refused"
        raise BotsRefused(refused.reasons, advice) from None
    found = under_known_names(found, known_bots(db, carried))
    ready = {bot.manifest.identity: bot for bot in found}
    entries = entries_of(list(ready.values()), authors, max_entries)
    conditions = Conditions(rules, Limits(start_ms, move_ms, game_ms), pace_ms or 0, fresh, tier, isolation.box)
    wanted = Wanted(players, deals, lineups, SameAuthor(same_author))
    terms = Terms(conditions, wanted, max_faults, seed, until)
    cores = cores_of(jobs, cores_per_bot) if cluster is None else [(None, None)]
    check_tables(entries, wanted)
    check_place(db, remedy="name a place outside it with --db")
    check_out(out, db, carried, force=force)
    say_platform()
    goes_on = close_round or (carried is None and shard != WHOLE)
    with closing(open_store(db, create=not goes_on)) as store:
        store.claim()
        refuse_duels(store)
        check_owner(store, out, carried, force=force)
        league = League(store, new_season=new_season)
        if league.ended is not None:
            say_closed(league.ended)
        session = Session(store, league, ready, out=out, force=force, cores=cores, cluster=cluster, quiet=quiet)
        league.check(terms, carried)
        if carried is not None:
            carried = league.take(carried, ready.keys())
        plays_on = not close_round and plan is None and carried is None and shard == WHOLE
        if plays_on:
            session.require_all(drop_missing=drop_missing)
        store.save_bots({entry.bot: labels_of(ready[entry.bot], entry) for entry in entries})
        if close_round:
            close_open(league, db)
        elif plan is not None:
            write_plan(league, entries, terms, plan, reads=(db, *bots), force=force)
            publish_commitments(store, out, force=force)
            return
        elif plays_on:
            session.play_all(entries, terms)
        else:
            session.play_share(carried or open_round(league, db), shard)
        _publish(session, out, db, all_versions=all_versions, force=force, quiet=quiet)
    echo_line(f"leaderboard: {out / 'index.html'}")
    _finish(ctx, session.tally)


def _publish(session: Session, out: Path, db: Path, *, all_versions: bool, force: bool, quiet: bool) -> None:
    owed = session.owed()
    at_most = "" if session.league.open is None or not stops_by_itself(session.league.open) else ", at most,"
    notes = [f"{many(owed, 'game')} of this tournament are still{at_most} to be played"] if owed else []
    notes += stop_notes(session.league.of_season(), session.store)
    standings = publish_leaderboard(session.store, out, tuple(notes), all_versions=all_versions, force=force)
    if not quiet:
        console = SafeConsole()
        for table in standings_tables(standings):
            console.print(table)
        tell_faults(session.store, faults_of(standings), db)


def _finish(ctx: click.Context, tally: Tally) -> None:
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
