"""A leaderboard's folder belongs to one database: another's is not replaced unless someone asks for it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from crashes.disks import one_sentence

from referee.cli.main import cli
from referee.errors import InputError
from referee.site.ownership import check_page

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


def test_a_manifest_that_was_not_published_is_not_replaced() -> None:
    Path("leaderboards").mkdir()
    Path("leaderboards/round-1.json").write_text("mine")
    code, said = tournament("--deals", "1")
    assert code == 2
    assert "round-1.json" in one_sentence(said)
    assert pages() == {"round-1.json": b"mine"}


def test_a_plan_is_not_written_into_the_folder_that_is_published() -> None:
    code, said = tournament("--deals", "1", "--plan", "leaderboards/round-1.json")
    assert code == 2
    one_sentence(said)
    assert not Path("referee.db").exists()


@pytest.mark.parametrize("text", ["[]", '{"rounds": 3}', '{"rounds": [{"commitment": 1}]}', "\\xff", ""])
def test_a_list_of_rounds_that_makes_no_sense_is_someone_elses(tmp_path: Path, text: str) -> None:
    (tmp_path / "rounds.json").write_text(text)
    with pytest.raises(InputError):
        check_page(tmp_path, frozenset(), force=False)
