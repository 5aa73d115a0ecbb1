from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result
from command_line import ROOT, environment, in_terminal, referee_command
from leagues import League
from records import ANNA, BERT, CARL, played

from referee.cli.main import cli
from referee.ratings.pairs.collusion import ALPHA, MARGIN
from referee.record import Bot
from referee.record import Result as Game
from referee.store import Stored, open_store

PAIR = ("b001", "b003")


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


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["collusion", *words], catch_exceptions=False)


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


def test_csv_and_json_say_the_same_and_have_all_pairs(guilty: str) -> None:
    sheet, document = run(guilty, "--csv"), run("--db", guilty, "--json")
    assert (sheet.exit_code, document.exit_code) == (1, 1)
    rows, said = list(csv.DictReader(io.StringIO(sheet.stdout))), json.loads(document.stdout)
    assert [(row["name_1"], row["name_2"], float(row["p"])) for row in rows] == [
        (pair["name_1"], pair["name_2"], pair["p"]) for pair in said["pairs"]
    ]
    assert len(rows) == 15
    first = rows[0]
    assert (first["name_1"], first["name_2"], first["named"], first["players"]) == (*PAIR, "1", "3")
    assert first["author_1"] == "'=Mo & Co"
    assert float(first["low"]) < float(first["excess"]) < float(first["high"])
    assert (said["alpha"], said["margin"]) == (ALPHA, MARGIN)
    assert said["tables"][0] | {"spread": 0} == {"players": 3, "judged": 15, "unjudged": 0, "spread": 0}
    assert not {"\x1b", "\\u001b"} & set(document.stdout)


def test_same_author_looks_only_at_pairs_of_one_author(guilty: str) -> None:
    said = json.loads(run(guilty, "--same-author", "--json").stdout)
    assert [(pair["name_1"], pair["name_2"]) for pair in said["pairs"]] == [PAIR]
    assert said["pairs"][0]["detectable"] < json.loads(run(guilty, "--json").stdout)["pairs"][0]["detectable"]


def test_who_names_no_author_shares_none(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.db", league(1.0, deals=5), {})
    done = run(path, "--same-author")
    assert (done.exit_code, json.loads(run(path, "--same-author", "--json").stdout)["pairs"]) == (0, [])
    assert done.stdout.startswith("no pair could be judged\n")


def test_players_choose_the_tables(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.db", [*league(0.0, deals=4), *league(0.0, players=4, deals=2)], {})
    assert {pair["players"] for pair in json.loads(run(path, "--json").stdout)["pairs"]} == {3, 4}
    assert {pair["players"] for pair in json.loads(run(path, "--players", "4", "--json").stdout)["pairs"]} == {4}
    refused = run(path, "--players", "2,3")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("referee: two players have nobody to help against: --players from 3 on\n")


def test_a_margin_lets_pass_what_is_below_it(guilty: str) -> None:
    assert run(guilty, "--margin", "0.5").exit_code == 0
    assert run(guilty, "--alpha", "0").exit_code == 2
    for option in ("--alpha", "--margin"):
        none = run(guilty, option, "nan")
        assert (none.exit_code, f"{option} is a number, not nan" in none.output) == (2, True)


def test_games_of_older_versions_are_left_out(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.db", league(1.0), {})
    with open_store(path) as store:
        store.claim()
        store.save_bots({Bot("b003", "f" * 64): {}})
    said = json.loads(run(path, "--json").stdout)
    assert PAIR not in [(pair["name_1"], pair["name_2"]) for pair in said["pairs"]]
    assert len(said["pairs"]) == 10


def test_too_few_bots_are_told_so(tmp_path: Path) -> None:
    done = run(saved(tmp_path / "a.db", league(1.0, players=5, deals=2), {}))
    assert done.exit_code == 0
    assert "5 players: 15 pairs cannot be judged: it takes 7 bots" in done.stdout


def test_a_database_without_such_tables_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with open_store(path, create=True) as store:
        store.claim()
        store.save_bots({ANNA: {}, BERT: {}})
        store.add([Stored.of(played((ANNA, BERT)))])
    done = run(str(path))
    assert (done.exit_code, done.stdout) == (
        0,
        f"there are no rated games at tables of three or more in this season of {path}\n",
    )
    assert json.loads(run(str(path), "--json").stdout)["pairs"] == []


def test_json_and_csv_at_once_are_refused(honest: str) -> None:
    done = run(honest, "--json", "--csv")
    assert done.exit_code == 2
    assert done.stderr.startswith("referee: --json or --csv, not both\n")


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
    shutil.copy(ROOT / "tests" / "bots" / "programs" / "plain" / "first.py", bots)
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
