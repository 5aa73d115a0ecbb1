"""One run of a duel: it is gone on with or begun, played until there is a verdict, and closed."""

from __future__ import annotations

from contextlib import closing

import click

from referee.bots.cache.prepare import Prepared
from referee.bots.cache.scratch import run_folder
from referee.bots.sandbox.probing import in_words
from referee.cli.cores import cores_of
from referee.cli.duel_course import Course
from referee.cli.entries import entries_of, labels_of
from referee.cli.interrupts import stop_on_signals
from referee.cli.options.cluster import engine
from referee.cli.output.duel_progress import duel_progress
from referee.cli.output.duel_report import names_of
from referee.cli.output.words import closed_in_words, sealed_in_words
from referee.store import Store
from referee.tournament.engine.inquiry import Inquiry
from referee.tournament.engine.run import Tally, run, void_in_words
from referee.tournament.engine.worker_messages import Job
from referee.tournament.planning.duel import Asked, Duel, Duels, Pair
from referee.tournament.progress.withdrawal import Withdrawals


class DuelSession:
    """A claimed store, and the two bots: NEW and OLD."""

    def __init__(self, store: Store, new: Prepared, old: Prepared, *, jobs: int | None, quiet: bool) -> None:
        self.store = store
        self._new, self._old = entries_of([new, old], {}, None)
        self._bots = {entry.bot: bot for entry, bot in ((self._new, new), (self._old, old))}
        self._labels = {entry.bot: labels_of(self._bots[entry.bot], entry) for entry in (self._new, self._old)}
        self._duels = Duels(store)
        self._cores = cores_of(jobs)
        self._quiet = quiet

    def settle(self, asked: Asked, seed: str | None) -> Course:
        """The duel of these two as it stands: that of the same command before, else a new one.

        Raises DatabaseError, naming the differences, where it was begun with other settings.
        """
        pair = Pair(self._new.bot, self._old.bot)
        last = self._duels.last(pair)
        if last is not None:
            self._duels.check(last, asked, seed)
            course = self._course(last)
            if not last.round.closed or course.is_over:
                return course
        before = self._duels.supersede(pair)
        if before is not None:
            self._say(
                f"the bots have changed: round {before.round.number}, a duel of them as they were, is closed without a "
                "verdict, and a new one begins"
            )
        self.store.save_bots(self._labels)
        return Course(self._duels.begin(self._new, self._old, asked, seed))

    def play(self, course: Course) -> bool:
        """Play until there is a verdict, and close the duel; whether it was interrupted before."""
        duel = course.duel
        interrupted = False
        if not course.is_over:
            self._announce(course)
            tally, interrupted = self._run(course)
            for notice in tally.notices:
                click.echo(notice, err=True)
            if tally.void:
                click.echo(void_in_words(tally), err=True)
        if not course.is_over:
            return interrupted
        if not duel.round.closed:
            closed = self._duels.close(duel)
            course.duel = closed
            self._say(closed_in_words(closed.round))
        return False

    def _course(self, duel: Duel) -> Course:
        course = Course(duel)
        course.add(self.store.results(duel.players, [duel.round.number]))
        return course

    def _run(self, course: Course) -> tuple[Tally, bool]:
        one = course.duel.round
        conditions = one.manifest.conditions
        owed = one.schedule.owed(self.store.played(one.number), workers=len(self._cores))
        with (
            run_folder() as scratch,
            stop_on_signals() as signalled,
            duel_progress(course, quiet=self._quiet) as watcher,
        ):
            jobs = [
                Job(one.number, one.secret, self._bots, conditions, scratch, *cores, one.derivation)
                for cores in self._cores
            ]
            with closing(engine(None, jobs)) as pool:
                tally = run(
                    map(one.schedule.in_order, owed),
                    pool=pool,
                    store=self.store,
                    withdrawals=Withdrawals(one.schedule, None),
                    watcher=watcher,
                    stop_wanted=lambda: course.is_over or watcher.stuck or signalled(),
                    inquiry=Inquiry(),
                )
            return tally, signalled()

    def _announce(self, course: Course) -> None:
        one = course.duel.round
        new, old = names_of(course.duel)
        seal = sealed_in_words(one)
        self._say(f"isolation {in_words(one.manifest.conditions.isolation)}")
        if _are_alike(self._bots[self._new.bot], self._bots[self._old.bot]):
            self._say(f"{new} and {old} are the same bot, byte for byte: neither is better, whatever the verdict")
        most, before = f"{course.duel.max_deals:,} deals at most", f"{course.test.deals:,} were played before"
        tables = f"tables of {course.duel.players}"
        self._say(f"round {one.number}: {new} against {old}, {tables}, {most}, of which {before}; {seal}")

    def _say(self, text: str) -> None:
        if not self._quiet:
            click.echo(text, err=True)


def _are_alike(one: Prepared, two: Prepared) -> bool:
    """Whether two bots have the same files; that of a single file may have another name."""
    paths = [one.manifest.path, two.manifest.path]
    if one.manifest.identity.hash == two.manifest.identity.hash:
        return True
    return all(path.is_file() for path in paths) and paths[0].read_bytes() == paths[1].read_bytes()
