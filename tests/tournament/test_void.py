"""Void is no weapon: bots that end or stop their worker are charged with it, and nobody else ever is.

Real programs without isolation, which is where a bot can reach its worker at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest
from runs import Notes, claimed, never
from workers import job, line_up, odd, plain

from referee.bots.limits import Limits
from referee.bots.prepare import Prepared
from referee.errors import Verdict
from referee.record import GameRecord, replay
from referee.store import Store, open_store
from referee.tournament.inquiry import Inquiry
from referee.tournament.pool import Pool
from referee.tournament.run import Tally, run
from referee.tournament.schedule import Owing, Schedule
from referee.tournament.withdrawal import Withdrawals

FIRST, LAST, MIDDLE, SILENT = plain("first"), plain("last"), plain("middle"), plain("silent")
HURRIED = Limits(10_000, 150, None)
"""So that half a second is late."""

KILLS = "os.kill(os.getppid(), 9)"
STOPS = """
import subprocess
worker = os.getppid()
subprocess.Popen(['sh', '-c', f'sleep 0.6; kill -CONT {worker}'], start_new_session=True,
                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
os.kill(worker, signal.SIGSTOP)
time.sleep(0.1)
"""
LOSING = "len(message['hand']) > min(message['hand_sizes'])"
"""Somebody has fewer cards left."""


def weapon(folder: Path, name: str, when: str, what: str) -> Prepared:
    """A bot that does something about its worker when it is asked, under a condition."""
    return odd(folder, name, f"if {when}:\n" + "".join(f"    {line}\n" for line in what.strip().splitlines()))


class Season:
    """A round between some bots, played until it owes nothing or does not get on, as a session does."""

    def __init__(self, folder: Path, bots: Sequence[Prepared], *, seats: int, deals: int, max_faults: int = 3) -> None:
        self.folder = folder
        self.bots = bots
        tables = [line_up(*some) for some in combinations(bots, seats)]
        self.schedule = Schedule([Owing(table, 0, deals) for table in tables], block_size=10)
        self.max_faults = max_faults
        self.notes = Notes()

    def play(self, *, jobs: int = 2, limits: Limits = HURRIED) -> Tally:
        """Play it."""
        whole, inquiry = Tally(), Inquiry()
        with claimed(self.folder / "db") as store:
            while self.owed(store):
                workers = [job(self.folder, *self.bots, limits=limits)] * jobs
                withdrawals = self.withdrawals(store)
                with closing(Pool(workers)) as pool:
                    tally = run(
                        self.schedule.owed(store.played(1), unwanted=withdrawals.sets_aside),
                        pool=pool,
                        store=store,
                        withdrawals=withdrawals,
                        watcher=self.notes,
                        stop_wanted=never,
                        inquiry=inquiry,
                    )
                whole.add(tally)
                if tally.unplayed or not tally.played:
                    break
        return whole

    def withdrawals(self, store: Store) -> Withdrawals:
        return Withdrawals(self.schedule, self.max_faults, store.faulted(1))

    def owed(self, store: Store) -> int:
        withdrawals = self.withdrawals(store)
        blocks = self.schedule.owed(store.played(1), unwanted=withdrawals.sets_aside)
        return sum(len(block.deals) for block in blocks)

    def records(self) -> list[GameRecord]:
        """All games that are on disk."""
        with closing(open_store(self.folder / "db")) as store:
            return list(store.records())

    def withdrawn(self) -> set[str]:
        with closing(open_store(self.folder / "db")) as store:
            assert self.owed(store) == 0, "games stay owed"
            return {bot.name for bot in self.withdrawals(store).points}


def name(bot: Prepared) -> str:
    return bot.manifest.identity.name


def check_charges(season: Season, culprits: set[str]) -> None:
    """Every fault is one of the culprits', of the kind that is due, and each record can be played again."""
    charged: set[str] = set()
    for record in season.records():
        list(replay(record))
        for fault in record.faults:
            charged.add(record.seats[fault.seat].name)
            assert (fault.step, fault.verdict) == (None, Verdict.CRASH)
            assert "games with it come to nothing" in fault.detail
    assert charged == culprits
    assert {one for one, _ in season.notes.found} == culprits


@pytest.mark.parametrize(("what", "when"), [(KILLS, "True"), (KILLS, LOSING), (STOPS, LOSING)])
@pytest.mark.parametrize(("honest", "seats"), [((FIRST,), 2), ((FIRST, LAST), 2), ((FIRST, LAST), 3)])
def test_a_bot_that_ends_or_stops_its_worker_is_charged_and_withdrawn_and_nobody_else(
    tmp_path: Path, what: str, when: str, honest: tuple[Prepared, ...], seats: int
) -> None:
    season = Season(tmp_path, [*honest, weapon(tmp_path, "culprit", when, what)], seats=seats, deals=6)
    tally = season.play()
    assert tally.unplayed == 0
    check_charges(season, {"culprit"})
    assert season.withdrawn() == {"culprit"}
