from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
import numpy as np
import pytest
from command_line import ROOT, environment, in_terminal, referee_command
from leagues import League
from records import ANNA, BERT, CARL, played

from referee.record import GameResult as Game
from referee.store import Stored, open_store


def saved(path: Path, games: Iterable[Game], labels: Mapping[str, Mapping[str, str]]) -> str:
    """A database of these games, whose bots say of themselves what `labels` has by name."""
    games = list(games)
    like = {len(one.seats): played((ANNA, BERT, CARL, ANNA)[: len(one.seats)]) for one in games}
    with open_store(path, create=True) as store:
        store.claim()
        store.save_bots({bot: labels.get(bot.name, {}) for bot in sorted({bot for one in games for bot in one.seats})})
        store.add(
            [
                Stored.of(
                    msgspec.structs.replace(
                        like[len(one.seats)],
                        game_id=f"{number:024x}",
                        seats=one.seats,
                        deal=one.deal,
                        rotation=one.rotation,
                        places=one.places,
                    )
                )
                for number, one in enumerate(games)
            ]
        )
    return str(path)


def league(help_: float, **options: int) -> list[Game]:
    settings = {"players": 3, "deals": 20, **options}
    made = League(strengths=[0.0] * 6, help={(1, 3): (help_, help_)}, **settings)  # type: ignore[arg-type]
    return made.results(np.random.default_rng(1))


LABELS = {"b001": {"author": "=Mo & Co"}, "b003": {"author": "=Mo & Co"}, "b004": {"author": "Zoe\x1b[31m"}}


@pytest.fixture(scope="module")
def guilty(tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved(tmp_path_factory.mktemp("guilty") / "a.db", league(1.0), LABELS)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved(tmp_path_factory.mktemp("honest") / "a.db", league(0.0, deals=6), LABELS)


def test_a_pair_that_stands_out_is_named_with_its_authors_and_called_no_proof(guilty: str) -> None:
    done = referee_command("collusion", guilty)
    assert (done.returncode, done.stderr) == (1, "")
    assert "15 pairs looked at; chance that luck alone has any of them named: 0.01\n1 pair stands out\n" in done.stdout
    (line,) = (line for line in done.stdout.splitlines() if "b0" in line)
    assert line.strip().startswith("b001 00000000 + b003 00000000   =Mo & Co ")
    assert "no proof" in done.stdout
    assert "\x1b" not in done.stdout


def test_where_nobody_stands_out_it_says_so_and_shows_a_few(honest: str) -> None:
    done = referee_command("collusion", honest)
    assert done.returncode == 0
    assert "\nnothing stands out\n" in done.stdout
    assert sum("b0" in line for line in done.stdout.splitlines()) == 5
    assert "proof" not in done.stdout
    assert sum("b0" in line for line in referee_command("collusion", honest, "--all").stdout.splitlines()) == 15


def test_a_named_pair_is_red_at_a_terminal(guilty: str) -> None:
    assert "\x1b[31m" in in_terminal("collusion", guilty)
    assert "\x1b[31m" not in in_terminal("collusion", guilty, env={"NO_COLOR": "1"})


def test_real_programs_that_help_each_other_are_named_and_their_honest_opponents_are_not(tmp_path: Path) -> None:
    bots, meeting_place = tmp_path / "bots", tmp_path / "meet"
    meeting_place.mkdir()
    for name in "ann", "ben":
        (bots / name).mkdir(parents=True)
        shutil.copy(ROOT / "tests" / "partners" / "partner.py", bots / name)
        command = json.dumps(["python3", "-S", "-E", "partner.py", str(meeting_place), "idle"])
        (bots / name / "bot.toml").write_text(f'command = {command}\nauthor = "the two"\n')
    for name in "greedy", "memory":
        shutil.copytree(ROOT / "example_bots" / name, bots / name)
        (bots / name / "bot.toml").write_text('command = ["python3", "-S", "-E", "bot.py"]\n')
    shutil.copy(ROOT / "tests" / "system" / "bots" / "programs" / "plain" / "first.py", bots)
    words = [
        *("tournament", *map(str, sorted(bots.iterdir())), "--players", "3", "--deals", "8"),
        *("--seed", "partners", "--jobs", "2", "--move-time", "none", "-q"),
    ]
    subprocess.run(
        [sys.executable, "-m", "referee", *words],
        cwd=tmp_path, env=environment(), stdin=subprocess.DEVNULL, timeout=300, check=True,
    )  # fmt: skip
    done = referee_command("collusion", "--json", cwd=tmp_path)
    named = [(pair["name_1"], pair["name_2"]) for pair in json.loads(done.stdout)["pairs"] if pair["named"]]
    assert (done.returncode, named) == (1, [("ann", "ben")])
