"""A power cut: the log's tail is cut off or garbled, and what is left is what was committed up to somewhere."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import pytest

from crashes.disks import one_sentence
from crashes.kills import Undisturbed
from crashes.league import League, game_ids

HEAD, FRAME_HEAD = 32, 24
"""Bytes in front of the log, and in front of each page in it (https://www.sqlite.org/fileformat.html#walformat)."""


@dataclass(frozen=True)
class Cut:
    """The files of a run that was killed in the middle, and the games of its commits, first commit first."""

    league: League
    database: bytes
    log: bytes
    commits: list[list[str]]

    @property
    def frames(self) -> list[int]:
        """Where the frames of the log begin; the last one is where the next would."""
        page = int.from_bytes(self.log[8:12], "big")
        return list(range(HEAD, len(self.log) + 1, FRAME_HEAD + page))

    def with_log(self, folder: Path, log: bytes) -> League:
        """A league like it, whose log is another."""
        league = self.league.again(folder)
        league.database.write_bytes(self.database)
        league.database.with_name("referee.db-wal").write_bytes(log)
        return league


@pytest.fixture(scope="module")
def cut(short: Undisturbed, tmp_path_factory: pytest.TempPathFactory) -> Cut:
    league = short.league.again(tmp_path_factory.mktemp("cut") / "league")
    league.begin("games:5").communicate(timeout=300)
    log = league.database.with_name("referee.db-wal").read_bytes()
    made = Cut(league, league.database.read_bytes(), log, league.commits())
    assert len(made.frames) > 10, "the log is too short to be cut"
    return made


def truncated(cut: Cut) -> Iterator[bytes]:
    """The log cut off at, just before, just after and in the middle of its frames, and in its head."""
    yield from (cut.log[:size] for size in (0, 1, HEAD - 1))
    for start in cut.frames:
        yield from (cut.log[: start + more] for more in (-1, 0, 1, FRAME_HEAD, 1000) if start + more <= len(cut.log))


def garbled(cut: Cut) -> Iterator[bytes]:
    """The log with bytes changed, pages of zeros, or noise, from somewhere on."""
    dice = random.Random("garbled")
    for start in cut.frames[:-1]:
        size = len(cut.log) - start
        yield cut.log[:start] + bytes(size)
        yield cut.log[:start] + dice.randbytes(size)
        changed = bytearray(cut.log)
        for _ in range(8):
            changed[dice.randrange(start, len(cut.log))] ^= dice.randrange(1, 256)
        yield bytes(changed)


DAMAGES: dict[str, Callable[[Cut], Iterator[bytes]]] = {"truncated": truncated, "garbled": garbled}


@pytest.mark.parametrize("how", DAMAGES)
def test_what_a_power_cut_leaves_is_whole_and_a_prefix_of_what_was_committed(
    cut: Cut, tmp_path: Path, how: str
) -> None:
    prefixes = [sorted(games) for games in accumulate(cut.commits, initial=list[str]())]
    found = []
    for number, log in enumerate(DAMAGES[how](cut)):
        database = tmp_path / "referee.db"
        database.write_bytes(cut.database)
        database.with_name("referee.db-wal").write_bytes(log)
        games = sorted(game_ids(database))
        assert games in prefixes, f"log {number}: {len(games)} games that are no prefix of the commits"
        found.append(len(games))
    assert {0, len(prefixes[1])} <= set(found), "no log was cut so that all is lost"
    assert len(set(found)) >= 5, f"all logs were cut alike: {set(found)}"


def test_a_log_that_is_whole_has_everything_that_was_committed(cut: Cut, tmp_path: Path) -> None:
    league = cut.with_log(tmp_path / "league", cut.log)
    assert set(league.stored()) == {game for games in cut.commits for game in games}


@pytest.mark.parametrize("how", DAMAGES)
def test_after_a_power_cut_the_same_command_ends_as_if_undisturbed(
    short: Undisturbed, cut: Cut, tmp_path: Path, how: str
) -> None:
    logs = list(DAMAGES[how](cut))
    for number, log in enumerate(logs[:: len(logs) // 6]):
        league = cut.with_log(tmp_path / str(number), log)
        checked = league.referee("db", "check")
        assert checked.returncode == 0, f"log {number}: {checked.stdout} {checked.stderr}"
        league.finish()
        assert league.standings() == short.standings, f"log {number}: the standings differ"
        assert sorted(league.stored()) == sorted(short.games), f"log {number}: games are lost or there twice"
        assert not league.left_over(), f"log {number}: {league.left_over()} were left"


def halved(whole: bytes, page: int) -> bytes:
    """Cut off in the middle."""
    return whole[: len(whole) // 2 // page * page + page // 3]


def no_head(whole: bytes, page: int) -> bytes:
    """Noise where its first page's header was."""
    return random.Random("head").randbytes(100) + whole[100:]


def no_tables(whole: bytes, page: int) -> bytes:
    """Zeros where its tables are described."""
    return whole[:100] + bytes(page - 100) + whole[page:]


def noise(whole: bytes, page: int) -> bytes:
    """Noise in every page but the first."""
    return whole[:page] + random.Random("noise").randbytes(len(whole) - page)


@pytest.mark.parametrize("damage", [halved, no_head, no_tables, noise])
def test_a_database_that_is_damaged_is_refused_in_one_sentence_and_left_as_it_is(
    short: Undisturbed, tmp_path: Path, damage: Callable[[bytes, int], bytes]
) -> None:
    league = short.league.again(tmp_path / "league")
    whole = short.league.database.read_bytes()
    damaged = damage(whole, int.from_bytes(whole[16:18], "big"))
    league.database.write_bytes(damaged)
    run = league.referee(*league.words)
    assert run.returncode == 2, f"exit code {run.returncode}: {run.stderr}"
    assert "referee.db is" in one_sentence(run.stderr)
    assert league.database.read_bytes() == damaged, "it was written to"
    assert not league.left_over(), f"{league.left_over()} were left"
    for reading in ("standings", "export"):
        read = league.referee(reading)
        assert read.returncode in (1, 2), f"{reading}: exit code {read.returncode}: {read.stderr}"
        one_sentence(read.stderr)
    shutil.copy(short.league.database, league.database)
    league.finish()
    assert league.standings() == short.standings, "an older copy, taken as it was told, gives other standings"
