"""What a round owes: the games of its line-ups that are not there yet, in blocks for workers to play."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from referee.cards import shuffled
from referee.record import Bot, LineUp
from referee.tournament.keys import bot_seed, deal_key, game_id, game_key
from referee.tournament.seating import seats_of

BLOCK_SIZE = 50
"""Most games of one block, unless a round says otherwise."""

REPLAYS = 2
"""How often a void game is played again before it is parked."""

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
    """Deals of one line-up in one rotation, ascending: no deal twice, so that the same processes may play them all.

    `absent` are bots that are charged with each of these games before it begins, with the detail of the charge;
    `replays` says how often one is played again that comes to nothing. A block with a `trial` has one deal.
    """

    line_up: LineUp
    rotation: int
    deals: tuple[int, ...]
    absent: tuple[tuple[Bot, str], ...] = ()
    replays: int = REPLAYS
    trial: Trial | None = None

    def only(self, deals: Iterable[int]) -> Block:
        """The same with some of its deals alone."""
        return msgspec.structs.replace(self, deals=tuple(sorted(deals)))


class Place(NamedTuple):
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

    `key` is the deal's key, with which `deck` was shuffled, None where the deck was given by hand; `seats` and
    `seeds` are by seat; `deal` and `rotation` say where the game stands among those of its line-up, `round` is the
    number of its round, None outside a tournament.
    """

    game_id: str
    key: bytes | None
    deck: tuple[int, ...]
    seats: tuple[Bot, ...]
    seeds: tuple[int, ...]
    deal: int
    rotation: int
    round: int | None = None


class Schedule:
    """The games of a round, and their order, which does not depend on what was played.

    Smaller tables come first; then the first `block_size` deals of every line-up come before the next ones of any,
    and the rotations of these deals one after another. Line-ups stand in the order in which `owings` names them,
    each once.
    """

    def __init__(self, owings: Iterable[Owing], *, block_size: int = BLOCK_SIZE) -> None:
        self.block_size = block_size
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

    def place(self, line_up: LineUp, deal: int, rotation: int) -> Place:
        """Where the block of a game stands. Raises KeyError where the line-up does not play."""
        number = self._numbers[line_up]
        first = self._by_size[len(line_up)][number].first
        return Place(len(line_up), (deal - first) // self.block_size, number, rotation)

    def owed(
        self,
        played: Played,
        *,
        share: Share = WHOLE,
        unwanted: Callable[[Block], bool] = lambda _: False,
        stage: Stage | None = None,
    ) -> Iterator[Block]:
        """The games (of a stage) that are not `played`, lazily and in the order of the schedule, without `unwanted`
        blocks.

        Games that exist only leave gaps, so that an interrupted block comes back as a smaller one. `unwanted` is
        asked just before a block is handed out.
        """
        for size in sorted(self._by_size) if stage is None else [stage.players]:
            group = self._by_size[size]
            starts = range(0, max(owing.deals for owing in group), self.block_size)
            for start in starts if stage is None else starts[stage.chunks.start : stage.chunks.stop]:
                for number, owing in enumerate(group):
                    chunk = self._chunk(owing, number, start, share)
                    if chunk:
                        there = played.get(owing.line_up, {})
                        yield from _blocks(owing.line_up, chunk, there, unwanted)

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


def count_games(blocks: Iterable[Block]) -> int:
    """How many games some blocks have."""
    return sum(len(block.deals) for block in blocks)


def games_of(block: Block, secret: bytes, *, of_round: int | None = None, attempt: int = 0) -> Iterator[GameSpec]:
    """The games of a block of the round with this secret, in its order."""
    line_up, rotation = block.line_up, block.rotation
    return (game_of(secret, line_up, deal, rotation, of_round=of_round, attempt=attempt) for deal in block.deals)


def game_of(
    secret: bytes, line_up: LineUp, deal: int, rotation: int, *, of_round: int | None = None, attempt: int = 0
) -> GameSpec:
    """One game, made of nothing but what its record says and the round's secret; for `attempt` see `game_key`."""
    key = deal_key(secret, line_up, deal)
    game = game_key(key, rotation, attempt)
    return GameSpec(
        game_id=game_id(game),
        key=key,
        deck=shuffled(key),
        seats=tuple([line_up[index] for index in seats_of(len(line_up), deal, rotation)]),
        seeds=tuple([bot_seed(game, seat) for seat in range(len(line_up))]),
        deal=deal,
        rotation=rotation,
        round=of_round,
    )
