"""Rounds that stop by themselves: they are played stage by stage, looked at after each, and over when it is settled.

A stage is so many deals of every line-up. It is looked at when all of its games are there, those apart that withdrawals
set aside, and none of the next stage is begun before. So where a round stops is a function of the set of its games.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from referee.record import Bot, GameResult
from referee.tournament.progress.withdrawal import Withdrawals
from referee.tournament.rounds.schedule import Block, Owing, Played, Stage
from referee.tournament.rounds.until import Until

if TYPE_CHECKING:  # numpy is slow to import, and most rounds are of a fixed length
    from referee.ratings.sequential.settling import Settling, SettlingRule
    from referee.tournament.progress.deal_scores import Points
    from referee.tournament.rounds.rounds import Round


class StageOutcome(NamedTuple):
    """How far the tables of so many players came: so many deals of `most`, and the pairs that are not told apart.

    `over` says that they play no more, be it that no pair is left or no deal.
    """

    players: int
    deals: int
    most: int
    pairs: int
    left: tuple[tuple[Bot, Bot], ...]
    over: bool


@dataclass(slots=True)
class _StageTable:
    """The line-ups of one size: their bots, what is proven of them, and who played on in which stage so far."""

    owings: list[Owing]
    bots: list[Bot]
    settling: Settling
    points: Points
    playing: list[frozenset[Bot]]
    """For each stage that was begun, whose line-ups play in it."""
    gone: frozenset[Bot] = frozenset()
    over: bool = False

    @property
    def most(self) -> int:
        return self.owings[0].deals


class Course:
    """Where a round that stops by itself stands, as its games come in."""

    def __init__(self, one: Round) -> None:
        from referee.ratings.sequential.settling import SettlingRule

        manifest = one.manifest
        assert not isinstance(manifest.until, msgspec.UnsetType)
        self.until: Until = manifest.until
        self._schedule = one.schedule
        self._chunks = self.until.every // manifest.block_size
        rule = SettlingRule(self.until.alpha, self.until.top, self.until.indifference)
        by_size: dict[int, list[Owing]] = {}
        for owing in one.schedule.owings():
            by_size.setdefault(len(owing.line_up), []).append(owing)
        self._tables = {size: _table(owings, rule, self.until.every) for size, owings in sorted(by_size.items())}

    @property
    def stage(self) -> Stage | None:
        """What is being played; None where the round is over."""
        for size, table in self._tables.items():
            if not table.over:
                begun = (len(table.playing) - 1) * self._chunks
                return Stage(size, range(begun, begun + self._chunks))
        return None

    def add(self, results: Iterable[GameResult]) -> None:
        """Take in games of the round, each once."""
        for result in results:
            self._tables[len(result.seats)].points.add(result)

    def advance(self, played: Played, withdrawals: Withdrawals) -> None:
        """Look at every stage that is complete: `played` are all games of the round, which were added before."""
        while (stage := self.stage) is not None:
            owed = self._schedule.owed(
                played, stage=stage, unwanted=lambda block: withdrawals.sets_aside(block) or self.spares(block)
            )
            if next(owed, None) is not None:
                return
            self._look(stage, withdrawals)

    def spares(self, block: Block) -> bool:
        """Whether a block is not to be played, as far as is known: the round stops before, or it would tell nothing."""
        table = self._tables[len(block.line_up)]
        number = self._schedule.place(block.line_up, block.deals[0], block.rotation).chunk // self._chunks
        if number >= len(table.playing):
            return table.over or table.playing[-1].isdisjoint(block.line_up)
        return table.playing[number].isdisjoint(block.line_up)

    def outcomes(self) -> tuple[StageOutcome, ...]:
        """How far each size of tables came, smaller ones first."""
        return tuple(_outcome(size, table, self.until.every) for size, table in self._tables.items())

    def _look(self, stage: Stage, withdrawals: Withdrawals) -> None:
        table, settling = self._tables[stage.players], self._tables[stage.players].settling
        gone = frozenset(
            bot
            for bot, point in withdrawals.points.items()
            if bot in table.bots and (point.block.players, point.block.chunk) < (stage.players, stage.chunks.stop)
        )
        stages = range(len(table.playing) - 1, len(table.playing))
        if gone != table.gone:  # whoever is withdrawn rates nobody, in earlier stages neither
            table.gone, stages = gone, range(len(table.playing))
            settling.leave_out([table.bots.index(bot) for bot in gone])
        for number in stages:
            settling.bet(table.points.scores(number, table.playing[number], gone))
        settling.look()
        left = frozenset(table.bots[bot] for pair in settling.open_pairs() for bot in pair)
        table.over = not left or len(table.playing) * self.until.every >= table.most
        if not table.over:
            table.playing.append(left if self.until.adaptive else frozenset(table.bots))


def _table(owings: list[Owing], rule: SettlingRule, every: int) -> _StageTable:
    from referee.ratings.sequential.settling import Settling
    from referee.tournament.progress.deal_scores import Points

    bots = sorted({bot for owing in owings for bot in owing.line_up})
    return _StageTable(owings, bots, Settling(len(bots), rule), Points(owings, bots, every), [frozenset(bots)])


def _outcome(size: int, table: _StageTable, every: int) -> StageOutcome:
    looked = len(table.playing) if table.over else len(table.playing) - 1
    there = len(table.bots) - len(table.gone)
    left = tuple((table.bots[one], table.bots[two]) for one, two in table.settling.open_pairs())
    return StageOutcome(size, min(looked * every, table.most), table.most, there * (there - 1) // 2, left, table.over)
