"""A run: what came in is on disk however the run ends, and what stays owed is counted for every bot at its table."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from processes import wait_until
from runs import Notes, claimed, never
from workers import block, job, line_up, nobody_withdrawn, odd, plain, workers

from referee.errors import DatabaseError
from referee.store import Stored, open_store
from referee.tournament.engine.block import Parked
from referee.tournament.engine.pool import Arrival, Pool
from referee.tournament.engine.run import run, unplayed_in_words, void_in_words
from referee.tournament.progress.withdrawal import Point, Withdrawals
from referee.tournament.rounds.schedule import Block, Owing, Schedule, games_of

FIRST, LAST = plain("first"), plain("last")


def stored(path: Path) -> set[tuple[int, int]]:
    """Rotation and deal of every game of FIRST and LAST on disk, as another reader finds them."""
    with closing(open_store(path)) as store:
        there = store.played().get(line_up(FIRST, LAST), {})
        return {(rotation, deal) for rotation, deals in there.items() for deal in range(1000) if deal in deals}


def test_a_run_plays_every_block_and_reports_what_is_on_disk(tmp_path: Path) -> None:
    notes = Notes()
    blocks = [block(FIRST, LAST, deals=3, rotation=rotation) for rotation in range(2)]
    with claimed(tmp_path / "db") as store, closing(Pool([job(tmp_path, FIRST, LAST)])) as pool:
        tally = run(
            iter(blocks), pool=pool, store=store, withdrawals=nobody_withdrawn(), watcher=notes, stop_wanted=never
        )
    assert (tally.played, tally.unplayed, tally.stopped, tally.notices) == (6, 0, False, [])
    assert stored(tmp_path / "db") == {(game.rotation, game.deal) for game in notes.games}
    assert len(notes.games) == 6


def test_games_that_stay_owed_are_counted_for_each_bot_at_their_tables(tmp_path: Path) -> None:
    # It looks who else the worker has started: it behaves when it is tried alone, and so is not found out.
    killer = odd(
        tmp_path,
        "killer",
        "parent = os.getppid()\n"
        "children = pathlib.Path(f'/proc/{parent}/task/{parent}/children').read_text().split()\n"
        "if len(children) > 1: os.kill(parent, 9)",
    )
    notes = Notes()
    blocks = [block(FIRST, killer), block(LAST, killer), block(FIRST, LAST)]
    with claimed(tmp_path / "db") as store, closing(Pool([job(tmp_path, FIRST, LAST, killer)] * 2)) as pool:
        tally = run(
            iter(blocks), pool=pool, store=store, withdrawals=nobody_withdrawn(), watcher=notes, stop_wanted=never
        )
    assert (tally.played, tally.unplayed) == (1, 2)
    counts = {bot.name: count for bot, count in tally.by_bot.items()}
    assert counts == {"killer": 2, "first": 1, "last": 1}
    assert void_in_words(tally) == (
        "6 attempts at games came to nothing and did not count: 6 with killer, 3 with first, 3 with last"
    )
    assert {unplayed_in_words(owed) for owed in notes.owed} == {
        f"deal 0, rotation 0 of {names} cost 3 workers and stays owed: it was killed by SIGKILL"
        for names in ("first, killer", "killer, last")
    }


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_a_bot_that_fails_too_often_is_withdrawn_and_the_others_play_on(tmp_path: Path, jobs: int) -> None:
    notes = Notes()
    fails = plain("fails")
    tables = [line_up(FIRST, fails), line_up(FIRST, LAST), line_up(fails, LAST)]
    schedule = Schedule([Owing(table, 0, 40) for table in tables], block_size=20)
    withdrawals = Withdrawals(schedule, 5)
    with claimed(tmp_path / "db") as store, closing(Pool([job(tmp_path, FIRST, LAST, fails)] * jobs)) as pool:
        tally = run(
            schedule.owed({}, unwanted=withdrawals.sets_aside),
            pool=pool,
            store=store,
            withdrawals=withdrawals,
            watcher=notes,
            stop_wanted=never,
        )
        there = store.played()
    failing = fails.manifest.identity
    assert [name for name, _ in notes.out] == ["fails"]
    assert withdrawals.points == {failing: Point(schedule.place(tables[0], 4, 0), schedule.turn(tables[0], 4, 0))}
    assert there[line_up(FIRST, LAST)] == {0: range(40), 1: range(40)}
    assert there[tables[0]][0][:5] == range(5)
    assert tally.played == len(notes.games) == sum(len(deals) for games in there.values() for deals in games.values())
    # How many of its games end before it is dropped, is a matter of time; of six blocks that were begun none is whole.
    assert all(len(deals) < 20 for table in tables[::2] for deals in there.get(table, {}).values())


def test_faults_withdraw_nobody_where_there_is_no_limit(tmp_path: Path) -> None:
    notes = Notes()
    fails = plain("fails")
    schedule = Schedule([Owing(line_up(FIRST, fails), 0, 30)], block_size=30)
    withdrawals = Withdrawals(schedule, None)
    with claimed(tmp_path / "db") as store, closing(Pool([job(tmp_path, FIRST, fails)])) as pool:
        tally = run(
            schedule.owed({}, unwanted=withdrawals.sets_aside),
            pool=pool,
            store=store,
            withdrawals=withdrawals,
            watcher=notes,
            stop_wanted=never,
        )
    assert (tally.played, notes.out) == (60, [])


def test_a_void_game_is_told_with_its_bots() -> None:
    (game,) = games_of(Block(line_up(FIRST, LAST), 1, (7,)), b"s" * 16)
    assert unplayed_in_words(Parked(game, "no memory")) == (
        "deal 7, rotation 1 of first, last was void each time and stays owed: no memory"
    )


class Interrupted(BaseException):
    """Like the second Ctrl-C."""


def test_what_came_in_is_on_disk_when_the_run_is_interrupted(tmp_path: Path) -> None:
    waiting = odd(tmp_path, "last", "(here / str(os.getpid())).touch(); wait_for(['', 'go', 'never'][games])")

    class Interrupting(Pool):
        def run(self, blocks: Iterator[Block], wait: Callable[[], float | None]) -> Iterator[Arrival | None]:
            running = super().run(blocks, wait)
            while len(list(tmp_path.glob("[0-9]*"))) < 2:
                assert next(running) is None
            (tmp_path / "go").touch()
            # Both workers send their first game now: they come in together, and one of them is taken over.
            until = time.monotonic() + 1
            wait_until(lambda: time.monotonic() > until)
            yield next(running)
            raise Interrupted

    notes = Notes()
    # Other deals for the other rotation: two rotations of a deal are never played at the same time.
    blocks = [block(FIRST, waiting, deals=3, rotation=0), block(FIRST, waiting, deals=3, rotation=1, first=3)]
    with (
        claimed(tmp_path / "db") as store,
        closing(Interrupting([job(tmp_path, FIRST, waiting)] * 2)) as pool,
        pytest.raises(Interrupted),
    ):
        run(iter(blocks), pool=pool, store=store, withdrawals=nobody_withdrawn(), watcher=notes, stop_wanted=never)
    assert stored(tmp_path / "db") == {(0, 0), (1, 3)} == {(game.rotation, game.deal) for game in notes.games}


@contextmanager
def files_no_longer_than(size: int) -> Iterator[None]:
    """Inside, no file of this process grows beyond `size` bytes: as good as a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_ends_the_run_in_one_sentence_and_loses_nothing_that_was_reported(tmp_path: Path) -> None:
    path = tmp_path / "db"

    @dataclass
    class Filling(Notes):
        def played(self, games: Sequence[Stored]) -> None:
            super().played(games)
            longest = max(file.stat().st_size for file in tmp_path.glob("db*"))
            resource.setrlimit(resource.RLIMIT_FSIZE, (longest, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    notes = Filling()
    blocks = [block(FIRST, LAST, deals=100, rotation=rotation) for rotation in range(2)]
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    with (
        files_no_longer_than(unlimited),
        claimed(path) as store,
        closing(Pool([job(tmp_path, FIRST, LAST)])) as pool,
        pytest.raises(DatabaseError) as caught,
    ):
        run(iter(blocks), pool=pool, store=store, withdrawals=nobody_withdrawn(), watcher=notes, stop_wanted=never)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    assert not workers()
    assert 0 < len(notes.games) < 200
    assert stored(path) == {(game.rotation, game.deal) for game in notes.games}
