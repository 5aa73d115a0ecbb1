"""A match: some games between a few bots at one table, played in this process and stored nowhere."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain

import msgspec

from referee.bots.cache.prepare import Prepared
from referee.bots.cache.scratch import run_folder
from referee.bots.process import system
from referee.bots.process.limits import DEFAULT_BOX, Limits, Reuse
from referee.bots.process.process import Tap
from referee.bots.sandbox.probing import launcher_for
from referee.bots.tiers import Tier
from referee.contest.cores import share_a_core
from referee.contest.entries import Entrant
from referee.contest.in_memory import PythonBot, play_in_memory
from referee.contest.loading import Programs, check_plays
from referee.errors import InputError, RefereeError
from referee.play import SystemClock
from referee.record import Bot, GameRecord, LineUp
from referee.rules import DEFAULT_RULES, MAX_PLAYERS, MIN_PLAYERS, Rules
from referee.tournament.engine.block import Parked, play_block
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.keys import bot_seed, derive, game_id, secret_from_seed
from referee.tournament.rounds.schedule import BLOCK_SIZE, Block, GameSpec, games_of, in_order
from referee.tournament.rounds.seating import seats_of

Taps = Callable[[GameSpec], Sequence[Tap]]


@dataclass(frozen=True, slots=True)
class MatchGame:
    """One game of a match; `seating[seat]` is the index, among the match's bots, of the bot at that seat."""

    record: GameRecord
    seating: Sequence[int]


def match(
    bots: Programs | Sequence[PythonBot],
    *,
    deals: int = 10,
    deck: tuple[int, ...] | None = None,
    seed: str | None = None,
    rules: Rules = DEFAULT_RULES,
    limits: Limits | None = None,
    pace_ms: int = 0,
    reuse: Reuse = Reuse.MANY_GAMES,
    taps: Taps | None = None,
) -> Iterator[MatchGame]:
    """Yield games between bots at one table, each as soon as it is over.

    Each of the `deals` is played once in every rotation of the seats; or one game is played with `deck`, 36 cards in
    the order in which they are dealt, and the bots seated as given. A bot may be given more than once. `seed` fixes
    the decks. `taps` returns a listener for each seat, which hears every byte that the seat's process reads and writes.

    Raises InputError if the bots cannot play at one table, RefereeError if this machine cannot play.
    """
    table: Sequence[Entrant] = bots.bots if isinstance(bots, Programs) else bots
    if not MIN_PLAYERS <= len(table) <= MAX_PLAYERS:
        raise InputError(f"a match is for {MIN_PLAYERS} to {MAX_PLAYERS} bots, not {len(table)}")
    check_plays([bot.manifest for bot in table], len(table))
    secret = secrets.token_bytes(16) if seed is None else secret_from_seed(seed)
    tier, box = (bots.tier, bots.box) if isinstance(bots, Programs) else (Tier.D, DEFAULT_BOX)
    conditions = Conditions(rules, limits or Limits(), pace_ms, reuse, tier, box)
    blocks = rotations(table, deals, secret) if deck is None else [[_given_game(table, deck, secret)]]
    size, given = len(table), deck is not None
    if isinstance(bots, Programs):
        records = _played(blocks, bots, conditions, taps)
    else:
        here = {bot.manifest.identity: bot for bot in bots}
        records = (play_in_memory(game, here, conditions) for game in chain.from_iterable(blocks))
    return (
        MatchGame(record, range(size) if given else seats_of(size, record.deal, record.rotation)) for record in records
    )


def play_game(
    bots: Sequence[PythonBot],
    *,
    deck: tuple[int, ...] | None = None,
    seed: str | None = None,
    rules: Rules = DEFAULT_RULES,
) -> GameRecord:
    """Play one game between Python functions, seated as given, and return its record.

    `deck` are 36 cards in the order in which they are dealt (see `referee.cards.parse_deck`); without it they are
    shuffled by `seed`, or by chance. Raises InputError if the bots cannot play at one table.
    """
    given = deck
    if given is None:
        secret = secrets.token_bytes(16) if seed is None else secret_from_seed(seed)
        given = next(games_of(Block(_places(len(bots)), 0, (0,)), secret)).deck
    return next(match(bots, deck=given, seed=seed, rules=rules)).record


def rotations(table: Sequence[Entrant], deals: int, secret: bytes) -> Iterator[Iterable[GameSpec]]:
    """Yield the games of each rotation, as one block, so that no process meets a deal twice."""
    # The deals depend on the seed alone: an author who edits a bot meets the same cards again.
    places = _places(len(table))
    names = {place: bot.manifest.identity for place, bot in zip(places, table, strict=True)}
    for rotation in range(len(table)):
        games = chain.from_iterable(games_of(part, secret) for part in _parts(places, rotation, deals, secret))
        yield (msgspec.structs.replace(game, seats=tuple(names[bot] for bot in game.seats)) for game in games)


def _places(size: int) -> LineUp:
    return tuple(Bot(str(place), "") for place in range(size))


def _parts(line_up: LineUp, rotation: int, deals: int, secret: bytes) -> Iterator[Block]:
    """Yield the deals of a rotation in parts: each part is played in an order of its own, as in a round."""
    for start in range(0, deals, BLOCK_SIZE):
        yield in_order(Block(line_up, rotation, tuple(range(start, min(start + BLOCK_SIZE, deals)))), secret)


def _given_game(table: Sequence[Entrant], deck: tuple[int, ...], secret: bytes) -> GameSpec:
    """Return the one game of a deck that is given."""
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


def _played(
    blocks: Iterable[Iterable[GameSpec]], bots: Programs, conditions: Conditions, taps: Taps | None
) -> Generator[GameRecord, None, None]:
    share_a_core()
    here: dict[Bot, Prepared] = {bot.manifest.identity: bot for bot in bots.bots}
    with run_folder() as scratch:
        launcher = launcher_for(bots.tier, scratch=scratch, box=bots.box, reaper=system.Reaper())
        for block in blocks:
            playing = play_block(
                block, bots=here, conditions=conditions, launcher=launcher, clock=SystemClock(), taps=taps
            )
            with closing(playing):
                for outcome in playing:
                    if isinstance(outcome, Parked):
                        raise RefereeError(f"a game could not be played, and no bot is to blame: {outcome.reason}")
                    yield outcome
