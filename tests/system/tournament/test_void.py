"""Void is no weapon: bots that end or stop their worker are charged with it, and nobody else ever is.

Real programs without isolation, which is where a bot can reach its worker at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest
from runs import Notes, claimed, never
from workers import NO_LIMITS, job, line_up, odd, plain, workers

from referee.bots.cache.prepare import Prepared
from referee.bots.cache.removal import remove_tree
from referee.bots.process.limits import Limits
from referee.errors import RefereeError, Verdict
from referee.record import GameRecord, replay
from referee.store import Store, Stored, open_store
from referee.tournament.engine.inquiry import Inquiry
from referee.tournament.engine.pool import Pool
from referee.tournament.engine.run import RunTally, run
from referee.tournament.progress.withdrawal import Withdrawals
from referee.tournament.rounds.schedule import Owing, Schedule

FIRST, LAST, MIDDLE = plain("first"), plain("last"), plain("middle")
HURRIED = Limits(30_000, 500, None)
"""So that a second is too late for the referee, and half of one is enough for a bot on a busy machine."""

KILLS = "os.kill(os.getppid(), 9)"
STOPS = """
import subprocess
worker = os.getppid()
subprocess.Popen(['sh', '-c', f'sleep 1; kill -CONT {worker}'], start_new_session=True,
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

    def __init__(
        self,
        folder: Path,
        bots: Sequence[Prepared],
        *,
        seats: int,
        deals: int,
        max_faults: int | None = 3,
        limits: Limits = NO_LIMITS,
    ) -> None:
        self.folder = folder
        self.bots = bots
        tables = [line_up(*some) for some in combinations(bots, seats)]
        self.schedule = Schedule([Owing(table, 0, deals) for table in tables], block_size=10)
        self.max_faults = max_faults
        self.limits = limits
        self.notes = Notes()

    def play(self, *, jobs: int = 2, scratch: Path | None = None, watcher: Notes | None = None) -> RunTally:
        """Play it."""
        whole, inquiry = RunTally(), Inquiry()
        with claimed(self.folder / "db") as store:
            while self.owed(store):
                jobs_of_workers = [job(scratch or self.folder, *self.bots, limits=self.limits)] * jobs
                withdrawals = self.withdrawals(store)
                with closing(Pool(jobs_of_workers)) as pool:
                    tally = run(
                        self.schedule.owed(store.played(1), unwanted=withdrawals.sets_aside),
                        pool=pool,
                        store=store,
                        withdrawals=withdrawals,
                        watcher=watcher or self.notes,
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
    season = Season(tmp_path, [*honest, weapon(tmp_path, "culprit", when, what)], seats=seats, deals=6, limits=HURRIED)
    tally = season.play()
    assert tally.unplayed == 0
    check_charges(season, {"culprit"})
    assert season.withdrawn() == {"culprit"}


def test_a_bot_that_strikes_in_one_position_only_is_found_by_the_moves_that_led_there(tmp_path: Path) -> None:
    """Against stand-ins that played anything else it would never come to that position."""
    harmless = odd(tmp_path, "culprit", "(here / 'seen').open('a').write(line)")
    quiet = Season(tmp_path / "quiet", [harmless, LAST], seats=2, deals=1)
    quiet.folder.mkdir()
    quiet.play(jobs=1)
    seen = [json.loads(line) for line in (tmp_path / "seen").read_text().splitlines()]
    late = seen[-1]
    position = {key: late[key] for key in ("hand", "drawn", "hand_sizes", "talon_size", "pile_size")}
    assert sum(position.items() <= one.items() for one in seen) == 1

    struck = f"{position!r}.items() <= message.items()"
    season = Season(
        tmp_path, [FIRST, LAST, weapon(tmp_path, "culprit", struck, KILLS)], seats=2, deals=2, max_faults=None
    )
    tally = season.play()
    assert (tally.unplayed, tally.played) == (0, 3 * 2 * 2)
    check_charges(season, {"culprit"})
    assert [len(record.faults) for record in season.records()].count(1) == 1


@pytest.mark.parametrize("seats", [2, 3])
def test_in_a_league_of_six_two_culprits_are_withdrawn_and_every_other_game_is_played(
    tmp_path: Path, seats: int
) -> None:
    honest = [FIRST, LAST, MIDDLE, odd(tmp_path, "honest", "")]
    culprits = [weapon(tmp_path, "one", LOSING, KILLS), weapon(tmp_path, "two", LOSING, STOPS)]
    season = Season(tmp_path, [*honest, *culprits], seats=seats, deals=1, max_faults=2, limits=HURRIED)
    season.play()
    check_charges(season, {"one", "two"})
    assert season.withdrawn() == {"one", "two"}
    names = {one.manifest.identity.name for one in honest}
    among = [record for record in season.records() if {bot.name for bot in record.seats} <= names]
    assert len(among) == len(list(combinations(honest, seats))) * seats


# -- the machine


def test_a_machine_on_which_nothing_can_be_started_ends_the_run_in_one_sentence_and_charges_nobody(
    tmp_path: Path,
) -> None:
    season = Season(tmp_path, [FIRST, LAST], seats=2, deals=400)
    (tmp_path / "scratch").mkdir()
    notes = season.notes

    class Breaking(Notes):
        """Takes the scratch folder away when the first games have been played."""

        def played(self, games: Sequence[Stored]) -> None:
            notes.played(games)
            remove_tree(tmp_path / "scratch")

    with pytest.raises(RefereeError) as caught:
        season.play(scratch=tmp_path / "scratch", watcher=Breaking())
    assert str(caught.value).startswith(
        "games come to nothing on this machine, and so did one between programs of the referee's own "
        "(no process could be made for (nobody): No such file or directory: "
    )
    assert "\n" not in str(caught.value)
    records = season.records()
    assert 0 < len(records) == len(notes.games) < 800
    assert not any(record.faults for record in records)


def test_trouble_that_passes_is_charged_to_nobody_and_the_same_command_goes_on(tmp_path: Path) -> None:
    """Three workers are killed by somebody else in one game, and no more."""
    season = Season(tmp_path, [FIRST, LAST, odd(tmp_path, "seen", "(here / str(games)).touch()")], seats=3, deals=3)
    killed: list[int] = []

    class Killing(Notes):
        """Kills workers in the middle of a game, as many as one game may cost."""

        def tick(self) -> None:
            for pid in workers() if (tmp_path / "3").exists() and len(killed) < 3 else ():
                killed.append(pid)
                os.kill(pid, 9)

    tally = season.play(jobs=1, watcher=Killing())
    assert len(killed) == 3
    assert not any(record.faults for record in season.records())
    assert tally.unplayed <= 1
    season.play()
    assert season.withdrawn() == set()
    assert len(season.records()) == 9
