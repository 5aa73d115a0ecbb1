"""A leaderboard's folder belongs to one database: another's is not replaced unless someone asks for it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from crashes.disks import one_sentence

from referee.cli.main import cli

PLAIN = Path(__file__).parents[2] / "system" / "bots" / "programs" / "plain"


def tournament(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["tournament", "first.py", "last.py", "--jobs", "1", *words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stderr


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first.py", "last.py"):
        shutil.copy(PLAIN / name, tmp_path)
    monkeypatch.chdir(tmp_path)


def pages() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path("leaderboards").iterdir()}


def games(db: str) -> int:
    with closing(sqlite3.connect(db)) as opened:
        return int(opened.execute("SELECT count(*) FROM games").fetchone()[0])


def test_a_trial_does_not_replace_the_leagues_page_before_it_is_asked_to() -> None:
    for deals in ("1", "2"):
        assert tournament("--deals", deals)[0] == 0
    before = pages()
    assert "round-2.json" in before
    code, said = tournament("--deals", "1", "--db", "try.db")
    assert code == 2
    assert "--out" in one_sentence(said) and "--force" in said
    assert pages() == before
    assert not Path("try.db").exists(), "a database was begun"
    assert tournament("--deals", "1", "--db", "try.db", "--out", "try")[0] == 0
    assert games("try.db") == 2
    code, said = tournament("--deals", "2", "--db", "try.db")
    assert code == 2, said
    assert (pages(), games("try.db")) == (before, 2), "games were played"


def test_a_page_that_is_replaced_keeps_nothing_of_the_other_one() -> None:
    for deals in ("1", "2"):
        assert tournament("--deals", deals)[0] == 0
    Path("leaderboards/round-9.json").write_text("mine")
    Path("leaderboards/CNAME").write_text("mine")
    assert tournament("--deals", "1", "--db", "try.db", "--force")[0] == 0
    after = pages()
    assert "round-2.json" not in after
    assert after["round-9.json"] == after["CNAME"] == b"mine"
    (one,) = json.loads(after["rounds.json"])["rounds"]
    with closing(sqlite3.connect("try.db")) as db:
        assert db.execute("SELECT commitment FROM rounds").fetchall() == [(one["commitment"],)]


def test_a_page_follows_its_database_wherever_that_is_moved() -> None:
    assert tournament("--deals", "1")[0] == 0
    Path("referee.db").rename("moved.db")
    assert tournament("--deals", "2", "--db", "moved.db")[0] == 0
    assert {"round-1.json", "round-2.json"} <= pages().keys()


def test_a_page_that_knows_more_rounds_than_an_old_copy_stays() -> None:
    assert tournament("--deals", "1")[0] == 0
    assert CliRunner().invoke(cli, ["db", "backup", "old.db"]).exit_code == 0
    assert tournament("--deals", "2")[0] == 0
    before = pages()
    assert tournament("--deals", "3", "--db", "old.db")[0] == 2
    assert pages() == before


@pytest.mark.parametrize("name", ["index.html", "standings.csv", "run.json", "rounds.json"])
def test_a_file_of_someone_elses_is_not_replaced_by_a_page(name: str) -> None:
    Path("leaderboards").mkdir()
    Path("leaderboards", name).write_text("mine")
    assert tournament("--deals", "1")[0] == 2
    assert pages() == {name: b"mine"}
    assert not Path("referee.db").exists()
    assert tournament("--deals", "1", "--force")[0] == 0
    assert pages()[name] != b"mine"


def test_a_database_with_the_name_of_a_page_is_not_replaced_by_it() -> None:
    for name in ("index.html", "rounds.json"):
        code, said = tournament("--deals", "1", "--db", f"leaderboards/{name}")
        assert code == 2
        assert name in one_sentence(said)
    Path("leaderboards").mkdir(exist_ok=True)
    assert tournament("--deals", "1", "--out", "x")[0] == 0
    Path("leaderboards/run.json").symlink_to("../referee.db")
    before = Path("referee.db").read_bytes()
    assert tournament("--deals", "1", "--force")[0] == 2
    assert Path("referee.db").read_bytes() == before
    assert Path("leaderboards/run.json").is_symlink()


def test_what_a_list_names_outside_of_the_folder_stays() -> None:
    assert tournament("--deals", "1")[0] == 0
    Path("mine.json").write_text("mine")
    with closing(sqlite3.connect("referee.db")) as db:
        known = db.execute("SELECT commitment FROM rounds").fetchone()[0]
    listed = [{"commitment": known, "manifest": name} for name in ("../mine.json", "round-1.json/../../mine.json")]
    Path("leaderboards/rounds.json").write_text(json.dumps({"rounds": listed}))
    assert tournament("--deals", "2", "--force")[0] == 0
    assert Path("mine.json").read_text() == "mine"
