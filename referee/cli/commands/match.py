"""`referee match`: some games between a few bots, at once and in this process; for authors and for scripts."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

import click
import msgspec
from click.core import ParameterSource

from referee.bots.cache.prepare import Prepared
from referee.bots.cache.scratch import run_folder
from referee.bots.process import system
from referee.bots.process.limits import Limits, Reuse
from referee.bots.sandbox.probing import launcher_for
from referee.cards import parse_deck
from referee.cli.bots import check_plays, ready_bots, say_platform
from referee.cli.cores import share_a_core
from referee.cli.options.common import Duration, fresh_option, limits_options, pace_option, rules_option, seed_option
from referee.cli.options.sandbox import Wish, sandbox_options, tell
from referee.cli.output.logs import LogFolder, check_logs
from referee.cli.output.match_report import MatchReport
from referee.errors import InputError, RefereeError
from referee.play import SystemClock
from referee.record import Bot, GameRecord, LineUp
from referee.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from referee.tournament.engine.block import Parked, play_block
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.keys import bot_seed, derive, game_id, secret_from_seed
from referee.tournament.rounds.schedule import BLOCK_SIZE, Block, GameSpec, games_of, in_order
from referee.tournament.rounds.seating import seats_of

_EXAMPLES = """\b
Examples:
  referee match example_bots/greedy example_bots/random
  referee match --deals 100 --json mybot mybot > games.json
  referee match --deals 1 --show --log logs mybot example_bots/greedy
"""


@click.command(short_help="Play some games between a few bots.", epilog=_EXAMPLES)
@click.argument("bots", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="BOT BOT…")
@click.option(
    "--deals",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="How many deals; each is played once in every rotation of the seats.",
)
@seed_option
@click.option("--deck", metavar="CARDS", help="Play one game with this deck, seats as given: 36 cards in deal order.")
@rules_option
@limits_options
@pace_option
@fresh_option
@sandbox_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with every game.")
@click.option(
    "--log",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write every byte that each bot got and gave, and its stderr, one file a bot and game.",
)
@click.option("--show", is_flag=True, help="Show every game as it was played.")
@click.option(
    "--delay", type=Duration(unlimited=False), metavar="TIME", help="With --show, how long to wait after each turn."
)
def command(
    bots: tuple[Path, ...],
    deals: int,
    seed: str | None,
    deck: str | None,
    rules: Rules,
    start_ms: int | None,
    move_ms: int | None,
    game_ms: int | None,
    pace_ms: int | None,
    fresh: Reuse,
    isolation: Wish,
    as_json: bool,
    log: Path | None,
    show: bool,
    delay: int | None,
) -> None:
    """Play games between the bots at one table, who sit as given in the first and rotate then.

    A bot may be named more than once. Nothing is stored. The exit code is 0 whatever the bots did.
    """
    if not MIN_PLAYERS <= len(bots) <= MAX_PLAYERS:
        raise InputError(f"a match is for {MIN_PLAYERS} to {MAX_PLAYERS} bots, not {len(bots)}")
    if deck is not None and _is_given("deals"):
        raise click.UsageError("--deck is one game, and --deals deals others: give one of them")
    check_logs(log)
    cards = None if deck is None else parse_deck(deck)
    tier = isolation.settle()
    table = ready_bots(bots, quiet=as_json, view=isolation.view(tier), builder=isolation.builder(tier))
    check_plays([bot.manifest for bot in table], len(table))
    say_platform()
    if not as_json:
        tell(tier)
    conditions = Conditions(rules, Limits(start_ms, move_ms, game_ms), pace_ms or 0, fresh, tier, isolation.box)
    secret = secrets.token_bytes(16) if seed is None else secret_from_seed(seed)
    blocks = rotations(table, deals, secret) if cards is None else [[_given_game(table, cards, secret)]]
    began = time.monotonic()
    report = MatchReport([bot.manifest for bot in table], as_json=as_json, show=show, delay=(delay or 0) / 1000)
    try:
        for record in _play(blocks, table, conditions, log):
            report.add(record, _seating(record, given=cards is not None))
    finally:
        if report.games:  # what was played before a Ctrl-C is told all the same
            report.finish(conditions, seed, time.monotonic() - began)


def _is_given(parameter: str) -> bool:
    return click.get_current_context().get_parameter_source(parameter) is ParameterSource.COMMANDLINE


def rotations(table: Sequence[Prepared], deals: int, secret: bytes) -> Iterator[Iterable[GameSpec]]:
    """Yield the games of each rotation, as one block, so that no process meets a deal twice."""
    # The deals depend on the seed alone: an author who edits a bot meets the same cards again.
    anybody = tuple(Bot(str(place), "") for place in range(len(table)))
    names = {bot: prepared.manifest.identity for bot, prepared in zip(anybody, table, strict=True)}
    for rotation in range(len(table)):
        games = chain.from_iterable(games_of(part, secret) for part in _parts(anybody, rotation, deals, secret))
        yield (msgspec.structs.replace(game, seats=tuple(names[bot] for bot in game.seats)) for game in games)


def _parts(line_up: LineUp, rotation: int, deals: int, secret: bytes) -> Iterator[Block]:
    """Yield the deals of a rotation, some at a time: each part is played in an order of its own, as in a round."""
    for start in range(0, deals, BLOCK_SIZE):
        yield in_order(Block(line_up, rotation, tuple(range(start, min(start + BLOCK_SIZE, deals)))), secret)


def _seating(record: GameRecord, *, given: bool) -> Sequence[int]:
    """By seat: the place on the command line of the bot that sat there."""
    size = len(record.seats)
    return range(size) if given else seats_of(size, record.deal, record.rotation)


def _given_game(table: Sequence[Prepared], deck: tuple[int, ...], secret: bytes) -> GameSpec:
    """The one game of a deck given by hand."""
    key = derive(secret, "given deck", *deck)
    return GameSpec(
        game_id=game_id(key),
        key=None,
        deck=deck,
        seats=tuple(bot.manifest.identity for bot in table),
        seeds=tuple(bot_seed(key, seat) for seat in range(len(table))),
        deal=0,
        rotation=0,
    )


def _play(
    blocks: Iterable[Iterable[GameSpec]], table: Sequence[Prepared], conditions: Conditions, log: Path | None
) -> Iterator[GameRecord]:
    share_a_core()
    bots = {bot.manifest.identity: bot for bot in table}
    with run_folder() as scratch, LogFolder.at(log) as taps:
        launcher = launcher_for(conditions.isolation, scratch=scratch, box=conditions.box, reaper=system.Reaper())
        for block in blocks:
            playing = play_block(
                block, bots=bots, conditions=conditions, launcher=launcher, clock=SystemClock(), taps=taps
            )
            with closing(playing):
                for outcome in playing:
                    if isinstance(outcome, Parked):
                        raise RefereeError(f"a game could not be played, and no bot is to blame: {outcome.reason}")
                    yield outcome
