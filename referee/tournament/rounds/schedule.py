"""What a round owes: the games of its line-ups that are not there yet, in blocks for workers to play."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import msgspec

from referee.record import RECORD_VERSION, Bot, LineUp
from referee.tournament.rounds.derivation import Derivation
from referee.tournament.rounds.keys import bot_seed, deal_key, game_id, game_key, turn_of
from referee.tournament.rounds.seating import Seating

BLOCK_SIZE = 50
"""Most games of one block, unless a round says otherwise."""

REPLAYS = 2
"""How often a void game is played again before it is parked."""

_LEAST_DEALS = 5
"""Deals of a piece of a block at least: every piece starts its bots anew, for each rotation."""
_BUSY = 0.9

Played = Mapping[LineUp, Mapping[int, Container[int]]]
"""The games that exist already: by line-up and rotation, their deals, as a range or a set, which answer quickly."""


class Owing(NamedTuple):
    """What a line-up plays in a round: `deals` of them from number `first` on, each in all rotations."""

    line_up: LineUp
    first: int
    deals: int


class Trial(msgspec.Struct, frozen=True):
    """What is played instead of a game that came to nothing, to find out why; its games are never kept.

    `bot` plays its seat, and all others are stand-ins of ours, which make `moves`, by seat, as far as they go. Without
    a bot all seats are played by programs of ours. `number` tells the trials of a run apart.
    """

    number: int
    bot: Bot | None = None
    moves: tuple[tuple[str, ...], ...] = ()


class Block(msgspec.Struct, frozen=True):
    """Deals of one line-up in one rotation, in the order in which they are played: no deal twice, so that the same
    processes may play them all.

    `absent` are bots that are charged with each of these games before it begins, with the detail of the charge;
    `replays` says how often one is played again that comes to nothing. A block with a `trial` has one deal. `seating`
    goes with a block to a worker that does not know those of the whole round.
    """

    line_up: LineUp
    rotation: int
    deals: tuple[int, ...]
    absent: tuple[tuple[Bot, str], ...] = ()
    replays: int = REPLAYS
    trial: Trial | None = None
    seating: Seating | None = None

    def only(self, deals: Iterable[int]) -> Block:
        """The same with some of its deals alone, in the same order."""
        kept = set(deals)
        return msgspec.structs.replace(self, deals=tuple([deal for deal in self.deals if deal in kept]))

    def bars(self, other: Block) -> bool:
        """True if `other` must not be played at the same time: bots of both would play the same deal.

        Processes of a bot that could reach one another would know all hands of such a deal. Programs of the referee's
        own play in a trial without a bot.
        """
        if any(block.trial is not None and block.trial.bot is None for block in (self, other)):
            return False
        return self.line_up == other.line_up and not set(self.deals).isdisjoint(other.deals)


class SchedulePlace(NamedTuple):
    """Where a block stands in its round: places compare as the schedule goes."""

    players: int
    chunk: int
    line_up: int
    rotation: int


class Share(NamedTuple):
    """The share of a round that one machine plays: number `number`, from 1, `of` so many."""

    number: int
    of: int

    def has(self, line_up: int, deal: int) -> bool:
        """Whether a deal is in it: all rotations of a deal are in one share, neighbours in different ones."""
        return (line_up + deal) % self.of == self.number - 1


WHOLE = Share(1, 1)
"""All of a round."""


class Stage(NamedTuple):
    """A part of a round, between two looks at it: the chunks `chunks` of all line-ups of so many `players`."""

    players: int
    chunks: range


class GameSpec(msgspec.Struct, frozen=True, kw_only=True):
    """All that is fixed of a game before it is played.

    `key` is the deal's key, None where the deck was given by hand; `seats` and `seeds` are by seat; `deal` and
    `rotation` say where the game stands among those of its line-up, `round` is the number of its round, None outside a
    tournament. `version` is that of its record, which says how `deck` follows from `key`.
    """

    game_id: str
    key: bytes | None
    deck: tuple[int, ...]
    seats: tuple[Bot, ...]
    seeds: tuple[int, ...]
    deal: int
    rotation: int
    round: int | None = None
    version: int = RECORD_VERSION


class RotationTurn(NamedTuple):
    """When a deal is played in its block: turns compare as they are played."""

    key: bytes
    deal: int


class Schedule:
    """The games of a round, and their order, which does not depend on what was played.

    Smaller tables come first; then the first `block_size` deals of every line-up come before the next ones of any,
    and the rotations of these deals one after another. Line-ups stand in the order in which `owings` names them,
    each once. Each rotation plays the deals of a block in an order of its own, which comes from `secret`; without one
    they are played in ascending order.
    """

    def __init__(self, owings: Iterable[Owing], *, block_size: int = BLOCK_SIZE, secret: bytes | None = None) -> None:
        self.block_size = block_size
        self._secret = secret
        self._numbers: dict[LineUp, int] = {}
        self._by_size: defaultdict[int, list[Owing]] = defaultdict(list)
        for owing in owings:
            group = self._by_size[len(owing.line_up)]
            if owing.line_up in self._numbers:
                raise ValueError(f"a line-up stands twice in a schedule: {owing.line_up}")
            self._numbers[owing.line_up] = len(group)
            group.append(owing)

    def count(self) -> int:
        """How many games there are: every deal is played in as many rotations as the line-up has bots."""
        return sum(size * owing.deals for size, group in self._by_size.items() for owing in group)

    def owings(self) -> Iterator[Owing]:
        """What each line-up plays, smaller tables first."""
        return (owing for size in sorted(self._by_size) for owing in self._by_size[size])

    def has(self, line_up: LineUp, deal: int, rotation: int) -> bool:
        """Whether there is such a game."""
        number = self._numbers.get(line_up)
        if number is None or not 0 <= rotation < len(line_up):
            return False
        owing = self._by_size[len(line_up)][number]
        return owing.first <= deal < owing.first + owing.deals

    def place(self, line_up: LineUp, deal: int, rotation: int) -> SchedulePlace:
        """Where the block of a game stands. Raises KeyError where the line-up does not play."""
        number = self._numbers[line_up]
        first = self._by_size[len(line_up)][number].first
        return SchedulePlace(len(line_up), (deal - first) // self.block_size, number, rotation)

    def turn(self, line_up: LineUp, deal: int, rotation: int) -> RotationTurn:
        """When a deal is played among those of its block."""
        return turn_in(self._secret, line_up, deal, rotation)

    def in_order(self, block: Block) -> Block:
        """The same block with its deals in the order in which they are played."""
        return in_order(block, self._secret)

    def owed(
        self,
        played: Played,
        *,
        share: Share = WHOLE,
        unwanted: Callable[[Block], bool] = lambda _: False,
        stage: Stage | None = None,
        workers: int = 1,
    ) -> Iterator[Block]:
        """The games (of a stage) that are not `played`, lazily, block by block in the order of the schedule, without
        `unwanted` blocks. The deals of a block are ascending: see `in_order`.

        Games that exist only leave gaps, so that an interrupted block comes back as a smaller one. `unwanted` is
        asked just before a block is handed out. Rotations of a deal are played one after the other, so where there
        are few line-ups and deals, blocks are cut so that each of `workers` has deals of its own.
        """
        for size in sorted(self._by_size) if stage is None else [stage.players]:
            group = self._by_size[size]
            starts = range(0, max(owing.deals for owing in group), self.block_size)
            if stage is not None:
                starts = starts[stage.chunks.start : stage.chunks.stop]
            cuts = _cuts(len(group) * len(starts), min(self.block_size, max(one.deals for one in group)), workers)
            for start in starts:
                for number, owing in enumerate(group):
                    chunk = self._chunk(owing, number, start, share)
                    for piece in _cut(chunk, cuts):
                        yield from _blocks(owing.line_up, piece, played.get(owing.line_up, {}), unwanted)

    def _chunk(self, owing: Owing, number: int, start: int, share: Share) -> tuple[int, ...]:
        deals = range(owing.first + start, owing.first + min(start + self.block_size, owing.deals))
        return tuple(deals) if share.of == 1 else tuple([deal for deal in deals if share.has(number, deal)])


def _blocks(
    line_up: LineUp, chunk: tuple[int, ...], there: Mapping[int, Container[int]], unwanted: Callable[[Block], bool]
) -> Iterator[Block]:
    for rotation in range(len(line_up)):
        owed = tuple([deal for deal in chunk if deal not in there[rotation]]) if rotation in there else chunk
        if owed:
            block = Block(line_up, rotation, owed)
            if not unwanted(block):
                yield block


def _cuts(chunks: int, deals: int, workers: int) -> int:
    """Return into how many pieces of about equal size each of some chunks of `deals` deals is cut.

    A piece keeps one worker busy for all its rotations, and the last ones are waited for. As few are taken as keep
    `workers` busy for nine tenths of the time, or the number that comes closest.
    """

    def busy(cuts: int) -> float:
        return chunks * cuts / (workers * -(-chunks * cuts // workers))

    if not chunks:
        return 1
    choices = range(1, max(1, deals // _LEAST_DEALS) + 1)
    return next((cuts for cuts in choices if busy(cuts) >= _BUSY), max(choices, key=busy))


def _cut(chunk: tuple[int, ...], cuts: int) -> Iterator[tuple[int, ...]]:
    """Yield a chunk in pieces, those apart that are empty."""
    ends = [len(chunk) * number // cuts for number in range(cuts + 1)]
    return (chunk[start:end] for start, end in pairwise(ends) if start < end)


def turn_in(secret: bytes | None, line_up: LineUp, deal: int, rotation: int) -> RotationTurn:
    """When a rotation plays a deal, among others of its block; without a secret in ascending order."""
    return RotationTurn(b"" if secret is None else turn_of(deal_key(secret, line_up, deal), rotation), deal)


def in_order(block: Block, secret: bytes | None) -> Block:
    """A block with its deals in the order in which they are played."""
    turns = sorted([turn_in(secret, block.line_up, deal, block.rotation) for deal in block.deals])
    return msgspec.structs.replace(block, deals=tuple([turn.deal for turn in turns]))


def count_games(blocks: Iterable[Block]) -> int:
    """How many games some blocks have."""
    return sum(len(block.deals) for block in blocks)


def games_of(
    block: Block,
    secret: bytes,
    *,
    of_round: int | None = None,
    attempt: int = 0,
    derivation: Derivation | None = None,
) -> Iterator[GameSpec]:
    """The games of a block of the round with this secret, in its order."""
    line_up, rotation = block.line_up, block.rotation
    if block.seating is not None:
        derivation = Derivation((derivation or Derivation()).format, {line_up: block.seating})
    return (
        game_of(secret, line_up, deal, rotation, of_round=of_round, attempt=attempt, derivation=derivation)
        for deal in block.deals
    )


def game_of(
    secret: bytes,
    line_up: LineUp,
    deal: int,
    rotation: int,
    *,
    of_round: int | None = None,
    attempt: int = 0,
    derivation: Derivation | None = None,
) -> GameSpec:
    """One game, made of nothing but what its record says and the round's secret; for `attempt` see `game_key`.

    Without a `derivation` it is that of today, and the line-up sits in the order of its members.
    """
    derivation = derivation or Derivation()
    key = deal_key(secret, line_up, deal)
    game = game_key(key, rotation, attempt)
    return GameSpec(
        game_id=game_id(game),
        key=key,
        deck=derivation.deck(key, rotation),
        seats=tuple([line_up[index] for index in derivation.seats(line_up, deal, rotation)]),
        seeds=tuple([bot_seed(game, seat) for seat in range(len(line_up))]),
        deal=deal,
        rotation=rotation,
        round=of_round,
        version=derivation.format,
    )
