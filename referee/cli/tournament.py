"""`referee tournament`: from bots to games to a leaderboard; the same command again plays only what is owed."""

from __future__ import annotations

import secrets
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.console import Console

from referee.bots import system
from referee.bots.player import Limits, Reuse
from referee.bots.prepare import Prepared
from referee.bots.scratch import run_folder
from referee.cli.bots import ready_bots, say_platform
from referee.cli.interrupts import stop_on_signals
from referee.cli.options import (
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
from referee.cli.progress import progress
from referee.cli.publishing import check_out, publish_leaderboard, tell_faults
from referee.cli.tables import standings_tables
from referee.errors import InputError
from referee.record import Bot, LineUp, rules_as_dict
from referee.rules import Rules
from referee.store import JSON, Store, open_store
from referee.tournament.block import Conditions
from referee.tournament.keys import line_up_salt, secret_from_seed
from referee.tournament.lineups import LIMIT, line_ups
from referee.tournament.orders import Job
from referee.tournament.pool import Pool
from referee.tournament.run import Tally, run
from referee.tournament.schedule import BLOCK_SIZE, count_games, owed_blocks

_EXAMPLES = """\b
Examples:
  referee tournament bots/*
  referee tournament bots/* --players 2,4 --deals 200 --jobs 4
  referee tournament bots/* --seed practice --db try.db --out try
"""


Cores = tuple[frozenset[int] | None, frozenset[int] | None]
"""A worker's processors, and those of its bots where they are not its own."""


@click.command(short_help="Play a round robin between bots and publish its leaderboard.", epilog=_EXAMPLES)
@click.argument("bots", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="BOTS…")
@players_option
@click.option(
    "--deals",
    type=click.IntRange(min=1),
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
@jobs_option
@click.option(
    "--cores-per-bot",
    type=click.IntRange(min=1),
    metavar="N",
    help="Give each game N processors for its bots; without it they share one. Fewer games are played at once then.",
)
@db_option
@out_option
@seed_option
@rules_option
@limits_options
@pace_option
@fresh_option
@click.option("--skip-refused", is_flag=True, help="Leave out the bots that cannot play, and play the others.")
@click.pass_context
def command(
    ctx: click.Context,
    bots: tuple[Path, ...],
    players: tuple[int, ...],
    deals: int,
    lineups: int,
    jobs: int | None,
    cores_per_bot: int | None,
    db: Path,
    out: Path,
    seed: str | None,
    rules: Rules,
    start_ms: int | None,
    move_ms: int | None,
    game_ms: int | None,
    pace_ms: int | None,
    fresh: Reuse,
    skip_refused: bool,
) -> None:
    """Play every line-up of the bots, rate them, and write the leaderboard.

    A bot is a folder with a bot.toml, an executable file, or a source file of a known kind. Games are kept in the
    database as they end: the same command again plays only what is owed.
    """
    quiet = bool(ctx.obj and ctx.obj.quiet)
    ready = ready_bots(bots, skip_refused=skip_refused, quiet=quiet)
    conditions = Conditions(rules, Limits(start_ms, move_ms, game_ms), pace_ms or 0, fresh)
    cores = _cores(jobs, cores_per_bot)
    _check_tables(ready, players)
    check_out(out)
    say_platform()
    with closing(open_store(db, create=True)) as store:
        store.claim()
        secret = _begin(store, conditions, seed)
        plan = Plan({bot.manifest.identity: bot for bot in ready}, _line_ups(ready, players, lineups, secret), deals)
        store.save_bots({bot: _labels(prepared) for bot, prepared in plan.bots.items()})
        tally = _play(plan, store, secret, conditions, cores, quiet=quiet)
        standings = publish_leaderboard(store, out, _owed_note(plan, store))
        if not quiet:
            console = Console()
            for table in standings_tables(standings):
                console.print(table)
            tell_faults(store, standings, db)
    click.echo(f"leaderboard: {out / 'index.html'}")
    _finish(ctx, tally)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be played: all deals of all line-ups."""

    bots: dict[Bot, Prepared]
    line_ups: tuple[LineUp, ...]
    deals: int


def _begin(store: Store, conditions: Conditions, seed: str | None) -> bytes:
    """The tournament's secret; what it is played under is settled by its first run."""
    limits: dict[str, JSON] = dict(asdict(conditions.limits))
    settings: dict[str, JSON] = {
        "rules": dict(rules_as_dict(conditions.rules)),
        "limits": limits,
        "pace_ms": conditions.pace_ms,
        "processes": conditions.reuse.name.lower(),
    }
    old = store.settings()
    secret = old["secret"] if old else (secret_from_seed(seed) if seed else secrets.token_bytes(16)).hex()
    # Without --seed a run goes on with the cards that the database has, whatever they come from.
    settings["seed"] = seed if seed is not None or not old else old["seed"]
    settings["secret"] = secret
    store.save_settings(settings)
    assert isinstance(secret, str)
    return bytes.fromhex(secret)


def _check_tables(bots: Sequence[Prepared], players: Sequence[int]) -> None:
    """Raise InputError where a table has too few bots."""
    different = {bot.manifest.identity: bot.manifest.players for bot in bots}
    for size in players:
        able = sum(size in sizes for sizes in different.values())
        if able < size:
            raise InputError(f"a table of {size} needs {size} bots that play at it, and there are {able}")


def _line_ups(bots: Sequence[Prepared], players: Sequence[int], limit: int, secret: bytes) -> tuple[LineUp, ...]:
    """The line-ups of every table."""
    plays = {bot.manifest.identity: bot.manifest.players for bot in bots}
    salt = line_up_salt(secret)
    return tuple(one for size in players for one in line_ups(plays, size, salt=salt, limit=limit))


def _labels(bot: Prepared) -> dict[str, str]:
    manifest = bot.manifest
    return {key: value for key, value in (("language", manifest.language), ("author", manifest.author)) if value}


def _play(
    plan: Plan, store: Store, secret: bytes, conditions: Conditions, cores: Sequence[Cores], *, quiet: bool
) -> Tally:
    played = store.played()
    owed = sum(len(block.deals) for block in owed_blocks(plan.line_ups, plan.deals, played))
    if not quiet:
        _announce(plan, owed)
    if not owed:
        return Tally()
    with run_folder() as scratch, stop_on_signals() as stop_wanted, progress(owed, quiet=quiet) as watcher:
        jobs = [Job(secret, plan.bots, conditions, scratch, *share) for share in cores]
        blocks = owed_blocks(
            plan.line_ups, plan.deals, played, block_size=_block_size(count_games(plan.line_ups, plan.deals), len(jobs))
        )
        with closing(Pool(jobs, reaper=system.Reaper())) as pool:
            return run(blocks, pool=pool, store=store, watcher=watcher, stop_wanted=stop_wanted)


def _announce(plan: Plan, owed: int) -> None:
    sizes = Counter(len(line_up) for line_up in plan.line_ups)
    for size, count in sizes.items():
        click.echo(
            f"tables of {size}: {_many(count, 'line-up')}, {_many(plan.deals, 'deal')} each, {size} rotations", err=True
        )
    total = count_games(plan.line_ups, plan.deals)
    click.echo(f"{total} games, of which {total - owed} were played before: {owed} to play", err=True)


def _owed_note(plan: Plan, store: Store) -> tuple[str, ...]:
    """What the page says of a tournament that is not at its end."""
    owed = sum(len(block.deals) for block in owed_blocks(plan.line_ups, plan.deals, store.played()))
    return (f"{_many(owed, 'game')} of this tournament are still to be played",) if owed else ()


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _block_size(games: int, jobs: int) -> int:
    """Small enough that every worker gets several blocks, so that none is idle for long at the end."""
    return max(1, min(BLOCK_SIZE, games // (4 * jobs)))


def _cores(jobs: int | None, per_game: int | None) -> list[Cores]:
    """For each worker: the processors it runs on, and those of its bots where they do not share its one."""
    cores = system.usable_cores()
    if per_game is None:
        return [(frozenset({cores[job % len(cores)]}), None) for job in range(jobs or len(cores))]
    most = len(cores) // per_game
    if (jobs or 1) > most:
        needed = per_game * (jobs or 1)
        raise InputError(f"--cores-per-bot {per_game} with so many jobs needs {needed} processors of {len(cores)}")
    shares = [frozenset(cores[job * per_game : (job + 1) * per_game]) for job in range(jobs or most)]
    return [(share, share) for share in shares]


def _finish(ctx: click.Context, tally: Tally) -> None:
    for notice in tally.notices:
        click.echo(notice, err=True)
    if tally.unplayed:
        worst = ", ".join(f"{count} with {bot.name}" for bot, count in tally.by_bot.most_common(3))
        click.echo(f"{tally.unplayed} games could not be played and stay owed: {worst}", err=True)
    if tally.stopped:
        command_line = shlex.join(["referee", *sys.argv[1:]])
        click.echo(f"stopped; {tally.played} games of this run are kept. To go on: {command_line}", err=True)
        ctx.exit(130)
    if tally.unplayed:
        ctx.exit(1)
