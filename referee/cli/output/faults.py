"""Faults of bots, one line each."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

import click

from referee.contest.publishing import FaultExample
from referee.site.text import plain
from referee.units import many


def tell_faults(examples: Iterable[FaultExample], db: Path) -> None:
    """Print a line to stderr for each example: how many faults, this one, and the command that shows it."""
    for bot, count, game_id, fault in examples:
        click.echo(
            f"{bot.name}: {many(count, 'fault')}, such as {fault.verdict}: {plain(fault.detail, limit=300)} "
            f"(referee replay {shlex.quote(str(db))} {game_id})",
            err=True,
        )
