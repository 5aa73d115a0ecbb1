"""Bots from the paths of a command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from protocol.text import readable
from referee.bots.cache.prepare import Prepared
from referee.bots.source.manifest import BotSpec
from referee.cli.output.listening import TerminalListener
from referee.contest.isolation import Settled
from referee.contest.loading import Programs, load_bots
from referee.errors import InputError


def load(paths: Sequence[Path], settled: Settled, *, quiet: bool = False, skip_refused: bool = False) -> Programs:
    """Return the bots at some paths, and print what is built, passed over or left out. Raises BotsRefused."""
    return load_bots(*paths, isolation=settled, skip_refused=skip_refused, listener=TerminalListener(quiet=quiet))


def load_one(path: Path, settled: Settled, *, quiet: bool = False) -> Prepared:
    """Return the bot at a path. Raises InputError if it is not one bot."""
    found = load([path], settled, quiet=quiet).bots
    if len(found) != 1:
        raise InputError(f"{path} is not a bot: a bot is a folder with a bot.toml, an executable file or a source file")
    return found[0]


def say_platform() -> None:
    """Print what this system lacks."""
    if sys.platform != "linux" and not hasattr(os, "sched_setaffinity"):
        click.echo("this system cannot pin processes to cores: games are slower than they could be", err=True)


def tell_left_out(bot: BotSpec) -> None:
    """Print to stderr what in a bot's folder does not belong to it though its author did not say so."""
    if bot.left_out:
        click.echo(f"{bot.identity.name}: left out: {readable(', '.join(bot.left_out), 300)}", err=True)
