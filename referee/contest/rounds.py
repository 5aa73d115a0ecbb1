"""Playing rounds: what is left of a round, and the engine that plays it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

from referee.bots.cache.prepare import Prepared
from referee.bots.cache.scratch import run_folder
from referee.bots.process import system
from referee.contest.cores import Cores, cores_of
from referee.contest.entries import Entrant
from referee.contest.in_memory import InMemoryEngine, PythonBot
from referee.contest.listener import Listener
from referee.errors import InputError
from referee.record import Bot, LineUp
from referee.store import Deals, Stored
from referee.tournament.engine.engine import Engine
from referee.tournament.planning.league import unwanted
from referee.tournament.progress.stages import Course
from referee.tournament.progress.withdrawal import Withdrawals
from referee.tournament.rounds.rounds import Round
from referee.tournament.rounds.schedule import Block, Share, Stage, count_games


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a round: its games, except those `played` and those that withdrawn or absent bots owe.

    If the round stops by itself, which then has a `course`, this is what is left of its current stage.
    """

    round: Round
    played: Mapping[LineUp, Mapping[int, Deals]]
    withdrawals: Withdrawals
    bots: Collection[Bot]
    course: Course | None

    def count(self, share: Share) -> int:
        """Return how many games of a share are to be played, of the current stage."""
        return count_games(self._blocks(share))

    def most(self, share: Share) -> int:
        """Return how many games are played at most, those of later stages included."""
        return count_games(self._owed(share, None))

    def to_play(self, share: Share, workers: int) -> Iterator[Block]:
        """Yield the blocks to play, with their deals in the order of play; bots withdrawn meanwhile are left out."""
        return map(self.round.schedule.in_order, self._blocks(share, workers))

    def _blocks(self, share: Share, workers: int = 1) -> Iterator[Block]:
        if self.course is not None and self.course.stage is None:
            return iter(())
        return self._owed(share, None if self.course is None else self.course.stage, workers)

    def _owed(self, share: Share, stage: Stage | None, workers: int = 1) -> Iterator[Block]:
        return self.round.schedule.owed(
            self.played, share=share, unwanted=self._is_unwanted, stage=stage, workers=workers
        )

    def _is_unwanted(self, block: Block) -> bool:
        is_spared = self.course is not None and self.course.spares(block)
        return is_spared or unwanted(self.bots, self.withdrawals)(block)


@dataclass(frozen=True, slots=True)
class CourseListener:
    """A listener that first brings games into the course of a round that stops by itself."""

    listener: Listener
    course: Course

    def played(self, games: Sequence[Stored]) -> None:
        """See `Listener`."""
        self.course.add(game.result for game in games)
        self.listener.played(games)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.listener, name)


@dataclass(frozen=True, slots=True)
class Where:
    """Where games are played.

    On this machine by `jobs` workers, by default one for each processor, whose bots share one processor unless
    `cores_per_bot` gives each game that many of its own; or on the machines of a Dask cluster: `cluster` is the address
    of its scheduler, or `local:N`.
    """

    jobs: int | None = None
    cores_per_bot: int | None = None
    cluster: str | None = None

    def check(self) -> None:
        """Raise InputError if this machine has not enough processors."""
        self.cores()

    def cores(self) -> Sequence[Cores]:
        """Return the processors of each worker. Raises InputError if there are not enough."""
        return cores_of(self.jobs, self.cores_per_bot) if self.cluster is None else [(None, None)]


def engine_for(
    stack: ExitStack, one: Round, bots: Mapping[Bot, Entrant], where: Where, cores: Sequence[Cores]
) -> Engine:
    """Return what plays a round: this process if all bots are Python functions, else a pool or a cluster.

    It is closed with `stack`. Raises InputError if some bots are functions and some are programs.
    """
    conditions = one.manifest.conditions
    functions = {bot: given for bot, given in bots.items() if isinstance(given, PythonBot)}
    programs = {bot: given for bot, given in bots.items() if isinstance(given, Prepared)}
    if functions and programs:
        raise InputError("bots that are Python functions and bots that are programs cannot play in one contest")
    if functions:
        return InMemoryEngine(one.number, one.secret, functions, conditions, one.derivation)
    from referee.tournament.engine.pool import Pool
    from referee.tournament.engine.worker_messages import WorkerConfig

    scratch = stack.enter_context(run_folder())
    jobs = [
        WorkerConfig(one.number, one.secret, programs, conditions, scratch, *mine, one.derivation) for mine in cores
    ]
    engine: Engine
    if where.cluster is None:
        engine = Pool(jobs, reaper=system.Reaper())
    else:
        from referee.tournament.cluster.engine import Cluster  # it takes a while to import

        engine = Cluster(where.cluster, jobs[0])
    stack.enter_context(closing(engine))
    return engine
