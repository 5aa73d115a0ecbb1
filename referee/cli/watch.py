"""`referee watch`: a game in the terminal as it is played, or once more as it was."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import click
from rich.console import Console

from referee.bots import system
from referee.bots.limits import Limits, Reuse
from referee.bots.prepare import Prepared
from referee.bots.sandbox.probing import launcher_for
from referee.bots.scratch import run_folder
from referee.bots.turns import Turns
from referee.cards import names as card_names
from referee.cards import parse_deck
from referee.cli.bots import check_plays, ready_bots, say_platform, share_a_core
from referee.cli.keys import Keys
from referee.cli.match import given_game, rotations
from referee.cli.match_report import told_apart
from referee.cli.options import Duration, db_option, limits_options, rules_option, seed_option
from referee.cli.sandbox_options import Wish, sandbox_options, tell
from referee.cli.spectator import Spectator, Stage, Watched, follow
from referee.cli.watch_stages import LeftError, Lines, Screen
from referee.errors import InputError, RefereeError, VoidGame
from referee.play import SystemClock
from referee.record import GameRecord, replay
from referee.rules import MAX_PLAYERS, MIN_PLAYERS, Ending, Rules
from referee.store import open_store
from referee.tournament.block import play_once, player_of, stop
from referee.tournament.conditions import Conditions
from referee.tournament.keys import secret_from_seed
from referee.tournament.schedule import GameSpec

_EXAMPLES = """\b
Examples:
  referee watch bots/mine bots/theirs
  referee watch bots/mine bots/theirs --seat 0 --step
  referee watch 3f9a --db league.db --delay 1s
"""


@click.command(short_help="Watch a game as it is played.", epilog=_EXAMPLES)
@click.argument("target", nargs=-1, required=True, metavar="BOT BOT…|GAME")
@click.option(
    "--seat", type=click.IntRange(min=0), metavar="N", help="Show only what this seat sees; seats count from 0."
)
@click.option(
    "--delay",
    type=Duration(unlimited=False),
    default="300ms",
    show_default=True,
    metavar="TIME",
    help="How long each move is shown, at a terminal.",
)
@click.option("--step", is_flag=True, help="Wait for a key after each move, at a terminal.")
@seed_option
@click.option("--deck", metavar="CARDS", help="Play with this deck, seats as given: 36 cards in deal order.")
@rules_option
@limits_options
@sandbox_options
@db_option
def command(
    target: tuple[str, ...],
    seat: int | None,
    delay: int,
    step: bool,
    seed: str | None,
    deck: str | None,
    rules: Rules,
    start_ms: int | None,
    move_ms: int | None,
    game_ms: int | None,
    isolation: Wish,
    db: Path,
) -> None:
    """Play one game between the bots and show the table after each move, or show GAME of the database once more.

    Hands lie open, but with --seat. Space or enter goes on at once, p waits after each move or goes on by itself,
    q leaves. Where standard output is no terminal the turns are lines, as of `referee replay`, without pauses.
    """
    if len(target) == 1:
        record = _stored(target[0], db)
        _check_seat(seat, len(record.seats))
        _show([bot.name for bot in record.seats], seat, delay, step, lambda stage: follow(record, stage))
        return
    if len(target) > MAX_PLAYERS:
        raise InputError(f"a game is for {MIN_PLAYERS} to {MAX_PLAYERS} bots, not {len(target)}")
    _check_seat(seat, len(target))
    cards = None if deck is None else parse_deck(deck)
    tier = isolation.settle()
    bots = [Path(name) for name in target]
    table = ready_bots(bots, quiet=True, view=isolation.view(tier), builder=isolation.builder(tier))
    check_plays([bot.manifest for bot in table], len(table))
    say_platform()
    tell(tier)
    conditions = Conditions(rules, Limits(start_ms, move_ms, game_ms), 0, Reuse.MANY_GAMES, tier, isolation.box)
    secret = secrets.token_bytes(16) if seed is None else secret_from_seed(seed)
    game = given_game(table, cards, secret) if cards is not None else next(iter(next(rotations(table, 1, secret))))
    names = told_apart([bot.name for bot in game.seats])
    _show(names, seat, delay, step, lambda stage: _play(game, table, conditions, stage), game_ms)


def _stored(game: str, db: Path) -> GameRecord:
    if os.path.lexists(game):  # which says no, too, where it cannot look
        raise InputError(f"{game} is one bot, and a game is for {MIN_PLAYERS} to {MAX_PLAYERS}: name its opponents too")
    with open_store(db) as store:
        record = store.record(game)
    for _ in replay(record):  # it is followed below, and what breaks the rules is to be said in a sentence
        pass
    return record


def _check_seat(seat: int | None, players: int) -> None:
    if seat is not None and seat >= players:
        raise InputError(f"there is no seat {seat}: they are 0 to {players - 1}")


def _show(
    names: Sequence[str],
    seat: int | None,
    delay: int,
    step: bool,
    game: Callable[[Stage], None],
    game_ms: int | None = None,
) -> None:
    """Show a game where standard output leads."""
    console = Console(highlight=False)
    if not sys.stdout.isatty() or not console.is_terminal or console.is_dumb_terminal:
        game(Lines(names, seat))
        return
    screen: Screen | None = None
    try:
        with ExitStack() as stack:
            keys = stack.enter_context(Keys())
            screen = Screen(names, seat, delay=delay / 1000, paused=step, keys=keys, console=console, game_ms=game_ms)
            stack.enter_context(screen)
            game(screen)
    except LeftError:
        return
    for line in screen.foot():
        click.echo(line)


def _play(game: GameSpec, table: Sequence[Prepared], conditions: Conditions, stage: Stage) -> None:
    """Play a game before a stage. Raises RefereeError where it comes to nothing."""
    share_a_core()
    bots = {bot.manifest.identity: bot for bot in table}
    clock = SystemClock()
    spectator = Spectator(_opening(game, conditions), stage)
    with run_folder() as scratch:
        launcher = launcher_for(conditions.isolation, scratch=scratch, box=conditions.box, reaper=system.Reaper())
        turns = Turns(clock)
        players = [player_of(bots[bot], conditions, launcher, clock, turns) for bot in game.seats]
        seats = [Watched(player, seat, spectator) for seat, player in enumerate(players)]
        try:
            record = play_once(game, seats, conditions, clock)
        except VoidGame as void:
            raise RefereeError(f"the game could not be played, and no bot is to blame: {void}") from None
        finally:
            stop(players, clock)
    spectator.closed(record)


def _opening(game: GameSpec, conditions: Conditions) -> GameRecord:
    """A game's record before the first question; how it ends is not known, and nobody asks yet."""
    return GameRecord(
        game_id=game.game_id,
        seats=game.seats,
        deal=game.deal,
        rotation=game.rotation,
        rules=conditions.rules,
        key=None if game.key is None else game.key.hex(),
        deck=tuple(card_names(game.deck)),
        seeds=game.seeds,
        steps=(),
        faults=(),
        reason=Ending.STALLED,
        places=(),
        hand_sizes=(),
        forfeited=(),
        ms=0,
    )
