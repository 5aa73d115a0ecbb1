from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result
from leagues import League
from records import ANNA, BERT, CARL, played

from referee.cli.main import cli
from referee.ratings.pairs.collusion import ALPHA, MARGIN
from referee.record import Bot
from referee.record import GameResult as Game
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
