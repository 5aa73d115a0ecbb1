"""One run of a tournament: the round that is open, then the next one, each played, closed and published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from referee.bots.cache.prepare import Prepared
from referee.bots.cache.scratch import run_folder
from referee.bots.sandbox.probing import as_recorded, in_words
from referee.cli.cores import Cores
from referee.cli.interrupts import stop_on_signals
from referee.cli.options.cluster import engine
from referee.cli.output.progress import Notes, progress
from referee.cli.output.stop_notes import stops_in_words
from referee.cli.output.words import closed_in_words, many, sealed_in_words
from referee.cli.publishing import publish_commitments
from referee.errors import InputError
from referee.record import Bot, LineUp
from referee.store import Deals, Store, Stored
from referee.tournament.engine.inquiry import Inquiry
from referee.tournament.engine.run import Tally, run
from referee.tournament.engine.worker_messages import Job
from referee.tournament.planning.league import League, Terms, missing, require_all, unwanted
from referee.tournament.progress.owed import course_of, stops_by_itself
from referee.tournament.progress.stages import Course
from referee.tournament.progress.withdrawal import Withdrawals
from referee.tournament.rounds.rounds import Entry, Round
from referee.tournament.rounds.schedule import WHOLE, Block, Share, Stage, count_games


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a round: its games less those `played` and those that its withdrawn or absent bots owe.

    Of a round that stops by itself, which has a `course`, that is what is left of its stage.
    """

    round: Round
    played: Mapping[LineUp, Mapping[int, Deals]]
    withdrawals: Withdrawals
    bots: Collection[Bot]
    course: Course | None

    def count(self, share: Share) -> int:
        """How many games of a share are to be played, of the stage that is being played."""
        return count_games(self._blocks(share))

    def most(self, share: Share) -> int:
        """How many games are played at most, those of later stages too."""
        return count_games(self._owed(share, None))

    def to_play(self, share: Share, workers: int) -> Iterator[Block]:
        """The blocks to play, with their deals in the order of play; what is withdrawn meanwhile is left out too."""
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
class _Listener:
    """A watcher that brings games into the course of a round that stops by itself."""

    watcher: Notes
    course: Course

    def played(self, games: Sequence[Stored]) -> None:
        self.course.add(game.result for game in games)
        self.watcher.played(games)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.watcher, name)


class Session:
    """A claimed store, the bots that are here, and where they play."""

    def __init__(
        self,
        store: Store,
        league: League,
        bots: Mapping[Bot, Prepared],
        *,
        out: Path,
        force: bool,
        cores: Sequence[Cores],
        cluster: str | None,
        quiet: bool,
    ) -> None:
        self.store = store
        self.league = league
        self.bots = bots
        self._out = out
        self._force = force
        self._cores = cores
        self._cluster = cluster
        self._quiet = quiet
        self.tally = Tally()
        self._inquiry = Inquiry()

    def play_all(self, entries: Collection[Entry], terms: Terms) -> None:
        """Play what is left of the open round, and then the next one, if anything is owed."""
        one = self.league.open
        if one is not None and not self._play(one):
            return
        following = self.league.open_next(entries, terms)
        if following is not None:
            if left_out := out_of_it(self.league, entries):
                self._say(f"withdrawn earlier in this season, so left out until they are changed: {left_out}")
            self._play(following)
        else:
            self._say(f"nothing is owed: {all_there(self.league, entries)}")

    def require_all(self, *, drop_missing: bool) -> None:
        """Raise InputError where a bot of the open round is not here under its name, unless its games may be dropped.

        A mistyped path is not to close a round. Nor are bots of another round: to drop all games would tell the secret.
        """
        one = self.league.open
        if one is None:
            return
        here = {bot.name for bot in self.bots}
        absent = sorted({bot.name for bot in missing(one, self.bots, self.league.withdrawals(one))} - here)
        if absent and (not drop_missing or here.isdisjoint(bot.name for bot in one.bots)):
            more = f" and {len(absent) - 5} more" if len(absent) > 5 else ""
            are = "is" if len(absent) == 1 else "are"
            raise InputError(
                f"round {one.number} is open in {self.store.path}, and of its bots {', '.join(absent[:5])}{more} {are} "
                "not here: name them too, give --drop-missing to leave out their games, or end the round with "
                "--close-round"
            )

    def play_share(self, one: Round, share: Share) -> None:
        """Play a share of a round, all of whose bots have to be here; nothing where it is closed."""
        if one.closed:
            self._say(f"round {one.number} is closed: as its secret may be known, no game of it is played any more")
            return
        if share != WHOLE and stops_by_itself(one):
            raise InputError(
                f"round {one.number} is looked at while it is played, and a share of it cannot tell when to stop: play "
                "all of it with --round, or with several machines by --cluster"
            )
        require_all(one, self.bots.keys(), self.league.withdrawals(one))
        self._play(one, share)

    def owed(self) -> int:
        """How many games of the open round are still to be played here."""
        one = self.league.open
        return 0 if one is None else self._left(one, self._course(one)).most(WHOLE)

    def _play(self, one: Round, share: Share = WHOLE) -> bool:
        """Play a round and close it; whether it is closed."""
        publish_commitments(self.store, self._out, force=self._force)
        course = self._course(one)
        left = self._left(one, course)
        self._announce(left, share)
        if left.count(share):
            left = self._play_left(left, share)
        if self.tally.stopped or self.tally.unplayed or left.count(WHOLE):
            return False
        closed = self.league.close(one)
        for sentence in () if course is None else stops_in_words(closed, course):
            self._say(sentence)
        self._say(closed_in_words(closed))
        return True

    def _course(self, one: Round) -> Course | None:
        return course_of(one, self.store) if stops_by_itself(one) else None

    def _left(self, one: Round, course: Course | None) -> Left:
        """What is left of a round as it stands now, its course advanced as far as its games go."""
        played, withdrawals = self.store.played(one.number), self.league.withdrawals(one)
        if course is not None:
            course.advance(played, withdrawals)
        return Left(one, played, withdrawals, self.bots.keys(), course)

    def _play_left(self, left: Left, share: Share) -> Left:
        """Play a round, stage by stage where it stops by itself, with the same workers; what is left of it then."""
        one, course, most = left.round, left.course, left.most(share)
        conditions = one.manifest.conditions
        with run_folder() as scratch, stop_on_signals() as stop_wanted, progress(most, quiet=self._quiet) as watcher:
            jobs = [
                Job(one.number, one.secret, dict(self.bots), conditions, scratch, *cores, one.derivation)
                for cores in self._cores
            ]
            with closing(engine(self._cluster, jobs)) as pool:
                while left.count(share):
                    tally = run(
                        left.to_play(share, pool.workers),
                        pool=pool,
                        store=self.store,
                        withdrawals=left.withdrawals,
                        watcher=watcher if course is None else _Listener(watcher, course),
                        stop_wanted=stop_wanted,
                        inquiry=self._inquiry,
                    )
                    self.tally.add(tally)
                    # What was left out because of a withdrawal that later games have undone is owed again.
                    left = self._left(one, course)
                    if tally.stopped or tally.unplayed or not tally.played:
                        break
        return left

    # -- words

    def _announce(self, left: Left, share: Share) -> None:
        one, withdrawals = left.round, left.withdrawals
        self._say(f"isolation {in_words(one.manifest.conditions.isolation)}")
        self._say_other_isolation(one)
        for (size, deals), count in sorted(
            Counter((len(line_up), deals) for line_up, _, deals in one.manifest.owings()).items()
        ):
            most = "" if left.course is None else f" at most, looked at after every {left.course.until.every}"
            self._say(f"tables of {size}: {many(count, 'line-up')}, {many(deals, 'deal')} each{most}, {size} rotations")
        seal = sealed_in_words(one)
        before = sum(len(deals) for rotations in left.played.values() for deals in rotations.values())
        games = many(one.manifest.count(), "game")
        owed = left.most(share)
        at_most = " at most" if left.course is not None else ""
        self._say(f"round {one.number}: {games}, of which {before} were played before: {owed} to play{at_most}; {seal}")
        for bot in sorted(withdrawals.points):
            self._say(f"{bot.name} is withdrawn from this round after {many(withdrawals.max_faults or 0, 'fault')}")
        absent = missing(one, self.bots.keys(), withdrawals)
        if absent:
            names = ", ".join(f"{bot.name} ({bot.hash[:8]})" for bot in absent)
            self._say(f"not here any more, so their games of this round are dropped: {names}")

    def _say_other_isolation(self, one: Round) -> None:
        """Say that games are played in another way than those before, of which a manifest knows nothing."""
        before = self.store.isolations([other.number for other in self.league.of_season()])
        now = as_recorded(one.manifest.conditions.isolation)
        if self._cluster is None and before and now not in before:
            self._say(f"games of this season were played at {' and '.join(sorted(before))}, and are now at {now}")

    def _say(self, text: str) -> None:
        if not self._quiet:
            click.echo(text, err=True)


def all_there(league: League, entries: Collection[Entry]) -> str:
    """Why no round is to be opened, in words: withdrawn bots are not waited for."""
    names = out_of_it(league, entries)
    return f"every line-up has its deals{f', but those of bots that were withdrawn: {names}' if names else ''}"


def out_of_it(league: League, entries: Collection[Entry]) -> str:
    """The names of those that were withdrawn earlier in this season."""
    withdrawn = league.withdrawn()
    return ", ".join(sorted(entry.name for entry in entries if entry.bot in withdrawn))
