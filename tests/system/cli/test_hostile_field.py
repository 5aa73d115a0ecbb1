"""A tournament of the example bots, with ten hostile ones and without: their own games are the same, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bots.hostile.entrants import enter, target, victim
from command_line import ROOT, referee_command

from referee.bots.cache.removal import remove_tree

EXAMPLES = {name: ROOT / "example_bots" / name for name in ("greedy", "greedy-c", "memory", "pairs", "random")}
AT_FAULT = {
    "crashes": "dies.py exits",
    "never-starts": "starts.py exits",
    "hangs": "stalls.py thinks_for_ever",
    "floods": "babbles.py bytes_without_end",
    "lies": "cheats.py a_card_of_another",
}
"""Those that lose every game by a fault."""
CONTAINED = {
    "fork-bomb": "hoards.py processes",
    "burns": "breaks.py burning",
    "fills-the-disk": "hoards.py disk",
    "kills": "breaks.py killing",
    "leaves-a-daemon": "leaves.py a_hidden_one ./daemon bare",
}
"""Those that play on."""
MORE_AT_FAULT = {
    "segfaults": "dies.py segfaults",
    "leaves-a-child": "leaves.py a_child",
    "babbles": "babbles.py many_short_lines",
    "echoes-old-ids": "babbles.py an_old_id",
    "floods-stderr": "stalls.py floods_stderr",
}
AT_TABLES_OF_THREE = {"crashes", "lies"}
GAMES = 2 * (10 * 2 + 10 * 3)
"""Pairs and triples of five example bots, two deals each, in all rotations."""
RATED = ("rank", "name", "hash", "deals", "score", "score_error", "mu", "sigma", "rating", "wins", "places")


@dataclass(frozen=True)
class Tournament:
    """One that was played to its end in a folder of its own."""

    folder: Path

    @classmethod
    def play(cls, folder: Path, tier: str, *hostile: Path) -> Tournament:
        """Five example bots, and these."""
        folder.mkdir()
        done = referee_command(
            *("tournament", *map(str, EXAMPLES.values()), *map(str, hostile)),
            *("--players", "2,3", "--deals", "2", "--seed", "field", "--jobs", "2", "--max-faults", "1"),
            *("--move-time", "3s", "-q"),
            env={"REFEREE_TOURNAMENT_SANDBOX": tier, "XDG_CACHE_HOME": str(folder.parent / "cache")},
            cwd=folder,
            seconds=300,
        )
        assert done.returncode == 0, done.stderr
        return cls(folder)

    def export(self) -> list[bytes]:
        """Every record, without what a clock said."""
        done = referee_command("export", "--no-times", cwd=self.folder)
        assert done.returncode == 0, done.stderr
        return done.stdout.encode().splitlines(keepends=True)

    def withdrawn(self) -> set[str]:
        """Who plays no more."""
        return {bot["name"] for bot in self._standings()["withdrawn"]}

    def ratings(self) -> list[list[dict[str, Any]]]:
        """The example bots' rows of each table, without how many of their games rate nobody."""
        kept = [[row for row in table["rows"] if row["name"] in EXAMPLES] for table in self._standings()["tables"]]
        return [[{key: row[key] for key in RATED} for row in rows] for rows in kept]

    def _standings(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "leaderboards" / "standings.json").read_text()))


@pytest.fixture
def place(public_path: Path) -> Iterator[Path]:
    """A folder that others may enter; what lies in a cache is read-only, so it is cleared away here."""
    yield public_path
    remove_tree(public_path)


def names(record: bytes) -> set[str]:
    return {bot["name"] for bot in json.loads(record)["seats"]}


def entered(place: Path, programs: dict[str, str], *arguments: str) -> list[Path]:
    return [
        enter(place / name, program, *arguments, players=(2, 3) if name in AT_TABLES_OF_THREE else (2,))
        for name, program in programs.items()
    ]


def test_ten_hostile_bots_in_boxes_leave_the_games_of_the_others_as_they_are_byte_for_byte(place: Path) -> None:
    programs = AT_FAULT | CONTAINED
    with victim() as process:
        told = target(process.pid, place, place / "among" / "referee.db")
        among = Tournament.play(place / "among", "A", *entered(place / "bots", programs, told))
        assert process.poll() is None
    alone = Tournament.play(place / "alone", "A")
    _assert_undisturbed(alone, among, set(programs))
    # Who burns the processor beside a bot that misses its deadline, in a game before it is caught, is charged for it.
    assert set(AT_FAULT) <= among.withdrawn() <= set(AT_FAULT) | {"burns"}


def test_ten_bots_at_fault_in_no_boxes_leave_games_and_ratings_of_the_others_as_they_are(place: Path) -> None:
    programs = AT_FAULT | MORE_AT_FAULT
    among = Tournament.play(place / "among", "D", *entered(place / "bots", programs))
    alone = Tournament.play(place / "alone", "D")
    _assert_undisturbed(alone, among, set(programs))
    assert among.withdrawn() == set(programs)
    assert among.ratings() == alone.ratings()


def _assert_undisturbed(alone: Tournament, among: Tournament, hostile: set[str]) -> None:
    expected, got = alone.export(), among.export()
    assert len(expected) == GAMES
    assert not any(json.loads(record)["faults"] for record in expected)
    assert {name for record in got for name in names(record)} == EXAMPLES.keys() | hostile
    assert b"".join(record for record in got if not names(record) & hostile) == b"".join(expected)
