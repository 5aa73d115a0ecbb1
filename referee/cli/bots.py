"""From the paths on a command line to bots that can be started, with words for those that cannot."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from protocol.text import readable
from referee.bots.cache.build import Builder, Task
from referee.bots.cache.prepare import Prepared, prepare
from referee.bots.cache.scratch import sweep
from referee.bots.source.manifest import Found, Manifest, find_bots
from referee.bots.source.programs import HOST, View
from referee.errors import BotsRefused, InputError, refusal_lines


@dataclass(slots=True)
class Telling:
    """A builder that tells when it begins, and knows how long the last build took."""

    real: Builder
    seconds: float | None = None

    def build(self, task: Task) -> None:
        """See `Builder`."""
        click.echo(f"building {task.bot.identity.name} …", err=True)
        began = time.monotonic()
        self.real.build(task)
        self.seconds = round(time.monotonic() - began, 3)


def ready_bots(
    paths: Sequence[Path],
    *,
    skip_refused: bool = False,
    quiet: bool = False,
    view: View = HOST,
    builder: Builder | None = None,
) -> list[Prepared]:
    """The bots of `paths`, in that order, copied and built; for `view` and `builder` see `prepare`.

    What is no bot is passed over and named on stderr. Raises BotsRefused with every reason at once, unless
    `skip_refused`: then the reasons are told and the others are returned. What killed runs left is swept before, also
    where nothing is going to be played.
    """
    sweep()
    found = find_bots(paths, view)
    refused: dict[str, str] = {str(path): reason for path, reason in found.refused.items()}
    ready: list[Prepared] = []
    if builder is not None and not quiet:
        builder = Telling(builder)
    for bot in found.bots:
        try:
            ready.append(prepare(bot, view=view, builder=builder))
        except BotsRefused as error:
            refused.update(error.reasons)
    if refused and not skip_refused:
        raise BotsRefused(refused)
    if not quiet:
        _tell(found, refused)
    return ready


def _tell(found: Found, refused: dict[str, str]) -> None:
    for path, reason in found.passed_over.items():
        click.echo(f"passed over: {path} ({reason})", err=True)
    for name, reason in refused.items():
        for line in refusal_lines(f"left out: {name}", reason):
            click.echo(line, err=True)


def check_plays(bots: Sequence[Manifest], players: int) -> None:
    """Raise InputError where a bot cannot sit at a table of `players`."""
    for bot in bots:
        if players not in bot.players:
            plays = ", ".join(map(str, sorted(bot.players)))
            raise InputError(f"{bot.identity.name} plays at tables of {plays} (see its bot.toml), not of {players}")


def say_platform() -> None:
    """Say once what this system lacks."""
    if sys.platform != "linux" and not hasattr(os, "sched_setaffinity"):
        click.echo("this system cannot pin processes to cores: games are slower than they could be", err=True)


def tell_left_out(bot: Manifest) -> None:
    """Print to stderr what in a bot's folder does not belong to it though its author did not say so."""
    if bot.left_out:
        click.echo(f"{bot.identity.name}: left out: {readable(', '.join(bot.left_out), 300)}", err=True)
