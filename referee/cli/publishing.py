"""From a store to a published leaderboard."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from referee import __version__
from referee.errors import InputError
from referee.ratings.standings import Standings, rate
from referee.record import RECORD_VERSION, Result
from referee.rules import Rules
from referee.site.about import About, Label
from referee.site.publish import publish
from referee.site.text import plain
from referee.store import Store

TIER = "none: bots run with the rights of whoever runs the referee"


def current_results(store: Store) -> Iterator[Result]:
    """The results between bots as they are now: games of older versions stay in the store and out of the table."""
    current = store.current_bots()
    return (result for result in store.results() if current.issuperset(result.seats))


def standings_of(store: Store) -> Standings:
    """The standings of the bots as they are now."""
    return rate(current_results(store))


def about(store: Store, notes: tuple[str, ...] = ()) -> About:
    """What stands beside the numbers."""
    settings: Mapping[str, Any] = store.settings() or {}
    limits = settings.get("limits", {})
    return About(
        rules=msgspec.convert(settings.get("rules", {}), Rules),
        limits={
            "start": _time(limits.get("start_ms")),
            "move": _time(limits.get("move_ms")),
            "game": _time(limits.get("game_ms")),
        },
        tier=TIER,
        seed=settings.get("seed"),
        versions={"referee": __version__, "record": str(RECORD_VERSION), "protocol": "1"},
        labels={
            bot: Label(language=words.get("language", ""), author=words.get("author", ""))
            for bot, words in store.bots().items()
        },
        notes=notes,
    )


def publish_leaderboard(store: Store, out: Path, notes: tuple[str, ...] = ()) -> Standings:
    """Rate and write the pages into `out`. Raises InputError where it cannot be written."""
    standings = standings_of(store)
    publish(standings, about(store, notes), out)
    return standings


def tell_faults(store: Store, standings: Standings, db: Path) -> None:
    """One line on stderr for each bot with faults: how many, one of them, and where to see it."""
    faults = {row.bot: row.faults for table in standings.tables for row in table.rows if row.faults}
    untold = set(faults)
    for record, fault in store.faults() if untold else ():
        bot = record.seats[fault.seat]
        if bot not in untold:
            continue
        untold.remove(bot)
        click.echo(
            f"{bot.name}: {faults[bot]} faults, such as {fault.verdict}: {plain(fault.detail, limit=300)} "
            f"(referee replay {shlex.quote(str(db))} {record.game_id})",
            err=True,
        )
        if not untold:
            return


def check_out(out: Path) -> None:
    """Make the leaderboard's folder before anything is played. Raises InputError where it cannot be written."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"{out} cannot be the leaderboard's folder: {error.strerror}; choose another with --out"
        raise InputError(why) from None
    if not os.access(out, os.W_OK | os.X_OK):
        raise InputError(f"{out} may not be written by this user; choose another folder with --out")


def _time(ms: int | None) -> str:
    return "none" if ms is None else f"{ms / 1000:g} s"
