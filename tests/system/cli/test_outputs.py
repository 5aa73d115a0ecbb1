"""What each command that writes a file does to what is there: one table for all of them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from crashes.disks import fill, mounts, one_sentence
from crashes.league import League

from referee.cli.main import cli

PLAIN = Path(__file__).parents[2] / "system" / "bots" / "programs" / "plain"
BOTS = ("first.py", "last.py")


@dataclass(frozen=True)
class Command:
    """A command with `OUT` where the place to write is named."""

    words: tuple[str, ...]
    has_force: bool = True
    suffix: str = ""
    is_own_free: bool = False
    """True if it replaces its own earlier product without being asked."""

    def line(self, out: str, *, force: bool = False) -> list[str]:
        return [out if word == "OUT" else word for word in self.words] + ["--force"] * force


COMMANDS = {
    "export": Command(("export", "-o", "OUT")),
    "secret": Command(("export", "--format", "json", "--with-secret", "-o", "OUT")),
    "bundle": Command(("bundle", "GAME", "--seat", "0", "-o", "OUT"), has_force=False, suffix=".zip"),
    "backup": Command(("db", "backup", "OUT")),
    "plan": Command(("tournament", *BOTS, "--deals", "2", "--plan", "OUT"), is_own_free=True),
}
PRIVATE = {"secret", "backup", "plan"}


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, list(words))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stderr


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A league with a closed round, and all that might be in the way of an output."""
    folder = tmp_path_factory.mktemp("played")
    for name in BOTS:
        shutil.copy(PLAIN / name, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run("tournament", *BOTS, "--deals", "1", "--jobs", "1")[0] == 0
        assert run("db", "backup", "copy.db")[0] == 0
    (folder / "bot").mkdir()
    (folder / "bot" / "bot.toml").write_text('command = ["./bot"]\n')
    (folder / "folder").mkdir()
    with closing(sqlite3.connect(folder / "other.db")) as other:
        other.execute("CREATE TABLE mine (x)")
        other.commit()
    (folder / "mine").write_text("mine\n")
    return folder


@pytest.fixture
def world(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "world"
    shutil.copytree(played, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("REFEREE_TOURNAMENT_JOBS", "1")
    return folder


def line_of(name: str, out: str, *, force: bool = False) -> list[str]:
    words = COMMANDS[name].line(out, force=force)
    if "GAME" in words:
        with closing(sqlite3.connect("referee.db")) as db:
            words[words.index("GAME")] = db.execute("SELECT game_id FROM games").fetchone()[0]
    return words


def games() -> list[tuple[str]]:
    with closing(sqlite3.connect("referee.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return db.execute("SELECT game_id FROM games ORDER BY 1").fetchall()


def content(folder: Path) -> dict[str, bytes]:
    """All files but the database, which `--plan` may write to, and what is kept beside it."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    beside = ("referee.db", "referee.db.lock", "referee.db-wal", "referee.db-shm")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in files
        if path.name not in beside and path.parent.name != "leaderboards" and path.stat().st_nlink == 1
    }


def never(world: Path, suffix: str) -> dict[str, str]:
    """By what it is: a place at which nothing may be written, whether it is forced or not."""
    (world / f"soft{suffix}").symlink_to("referee.db")
    (world / f"another{suffix}").symlink_to("other.db")
    return {
        "the database": "referee.db",
        "a link to it": f"soft{suffix}",
        "its log": "referee.db-wal",
        "its lock": "referee.db.lock",
        "another program's database": f"another{suffix}",
        "a bot's file": "bot/bot.toml",
        "a new file of a bot": f"bot/new{suffix}",
        "a folder": "folder",
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_some_things_are_never_replaced(world: Path, name: str) -> None:
    for what, out in never(world, COMMANDS[name].suffix).items():
        if what == "a folder" and name == "bundle":
            continue  # where a folder is meant
        is_refused(world, name, out)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_hard_link_of_the_database_is_never_replaced(world: Path, name: str) -> None:
    out = f"hard{COMMANDS[name].suffix}"
    (world / out).hardlink_to(world / "referee.db")
    is_refused(world, name, out)
    assert (world / out).samefile(world / "referee.db")


def is_refused(world: Path, name: str, out: str) -> None:
    """Forced or not, it is one sentence, and all files are as they were."""
    before, there = content(world), games()
    for force in (False, True) if COMMANDS[name].has_force else (False,):
        code, said = run(*line_of(name, out, force=force))
        assert code == 2, f"{out}: {said}"
        assert "referee.db" in one_sentence(said) or out in one_sentence(said)
        assert (content(world), games()) == (before, there), out


@pytest.mark.parametrize("name", COMMANDS)
def test_another_file_is_replaced_by_force_alone(world: Path, name: str) -> None:
    command = COMMANDS[name]
    out = f"theirs{command.suffix}"
    (world / out).write_text("theirs\n")
    (world / out).chmod(0o640)
    before = content(world)
    code, said = run(*line_of(name, out))
    assert code == 2, said
    assert ("--force" in one_sentence(said)) == command.has_force
    assert content(world) == before
    if command.has_force:
        code, said = run(*line_of(name, out, force=True))
        assert code == 0, said
        after = content(world)
        assert after.pop(out) != before.pop(out)
        assert after == before
        assert stat.S_IMODE((world / out).stat().st_mode) == (0o600 if name in PRIVATE else 0o640)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_new_file_is_readable_as_the_umask_says_unless_it_holds_a_secret(world: Path, name: str) -> None:
    out = f"new{COMMANDS[name].suffix}"
    before = content(world)
    umask = os.umask(0o022)
    try:
        assert run(*line_of(name, out))[0] == 0
    finally:
        os.umask(umask)
    assert stat.S_IMODE((world / out).stat().st_mode) == (0o600 if name in PRIVATE else 0o644)
    assert content(world).keys() - before.keys() == {out}


@pytest.mark.parametrize("name", COMMANDS)
def test_its_own_earlier_product_is_replaced_where_it_can_be_told(world: Path, name: str) -> None:
    command = COMMANDS[name]
    out = f"new{command.suffix}"
    assert run(*line_of(name, out))[0] == 0
    assert run(*line_of(name, out))[0] == (0 if command.is_own_free else 2)
    if command.has_force:
        assert run(*line_of(name, out, force=True))[0] == 0


def device(folder: Path, name: str) -> Path:
    """A device like /dev/null or /dev/full: root gets one of its own, since a mistake could replace the system's."""
    own = folder / f"dev-{name}"
    if os.geteuid() == 0:
        os.mknod(own, stat.S_IFCHR | 0o666, os.stat(f"/dev/{name}").st_rdev)
        return own
    return Path(f"/dev/{name}")


@pytest.mark.parametrize("name", COMMANDS)
def test_devices_are_written_to_and_stay(world: Path, tmp_path: Path, name: str) -> None:
    for kind, code in (("null", 2 if name == "backup" else 0), ("full", 2)):
        there = device(tmp_path, kind)
        out = f"{kind}{COMMANDS[name].suffix}"
        (world / out).symlink_to(there)
        before = content(world)
        found, said = run(*line_of(name, out))
        assert found == code, said
        if code:
            one_sentence(said)
        assert content(world) == before
        assert (world / out).is_symlink() and stat.S_ISCHR(there.stat().st_mode)


def test_a_bundle_with_the_whole_record_is_for_its_owner_alone(world: Path) -> None:
    line = line_of("bundle", "all.zip")
    assert run(*line, "--with-record")[0] == 0
    assert stat.S_IMODE((world / "all.zip").stat().st_mode) == 0o600
    assert run(*line[:-1], "all", "--with-record")[0] == 0
    assert {stat.S_IMODE(path.stat().st_mode) for path in (world / "all").rglob("*")} == {0o600}
    assert stat.S_IMODE((world / "all").stat().st_mode) == 0o700


# -- bots' folders


@pytest.mark.parametrize(
    "words",
    [
        ("duel", ".", "../first.py"),
        ("tournament", "../first.py", "../last.py", "--out", "../pages"),
        ("tournament", "../first.py", "../last.py", "--db", "../new.db"),
        ("match", "../first.py", "../last.py", "--log", "logs"),
        ("check", "../first.py", "--fuzz", "1"),
        ("export", "../referee.db", "-o", "games"),
        ("db", "merge", "merged.db", "../referee.db"),
        ("db", "backup", "../referee.db", "copy.db"),
        ("bundle", "../referee.db", "0", "--seat", "0", "-o", "bundle"),
        ("new", "python", "mybot"),
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_nothing_is_written_into_the_folder_of_a_bot(
    world: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    before = sorted(world.rglob("*"))
    monkeypatch.chdir(world / "bot")
    code, said = run(*words)
    assert code == 2, said
    assert str(world / "bot") in one_sentence(said)
    left = {path for path in world.rglob("*") if path.parent.name != "pages"} - set(before)
    assert left <= {world / "pages"}


def test_a_database_that_lies_in_a_bots_folder_is_read_and_not_played_on(world: Path) -> None:
    shutil.move("referee.db", "bot/referee.db")
    before = content(world)
    for words in (
        ("tournament", *BOTS, "--deals", "2", "--db", "bot/referee.db"),
        ("db", "merge", "bot/referee.db", "copy.db"),
    ):
        code, said = run(*words)
        assert code == 2, said
        assert content(world) == before
    assert run("standings", "bot/referee.db", "--csv")[0] == 0


# -- folders


def test_two_matches_are_not_mixed_in_one_folder_of_logs(world: Path) -> None:
    line = ("match", *BOTS, "--deals", "1", "--log", "logs")
    (world / "logs").mkdir()
    assert run(*line)[0] == 0
    before = content(world)
    assert run(*line)[0] == 2
    assert content(world) == before


def test_a_given_deck_and_a_number_of_deals_exclude_one_another(world: Path) -> None:
    deck = "6S 6H 6C 6D 7S 7H 7C 7D 8S 8H 8C 8D 9S 9H 9C 9D TS TH TC TD JS JH JC JD QS QH QC QD KS KH KC KD AS AH AC AD"
    code, said = run("match", *BOTS, "--deck", deck, "--deals", "3")
    assert code == 2
    assert "--deck" in said and "--deals" in said


# -- a full disk


FULL = {name: command for name, command in COMMANDS.items() if name != "secret"} | {
    "folder": Command(("bundle", "GAME", "--seat", "0", "-o", "OUT"), has_force=False)
}


@pytest.fixture
def league(world: Path) -> Iterator[League]:
    for name in ("tmp", "cache"):
        (world / name).mkdir()
    yield League(world)


@pytest.mark.parametrize("name", FULL)
def test_a_full_disk_leaves_nothing_and_with_room_the_same_command_succeeds(league: League, name: str) -> None:
    disk = league.folder / "disk"
    disk.mkdir()
    with closing(sqlite3.connect("referee.db")) as db:
        game = db.execute("SELECT game_id FROM games").fetchone()[0]
    command = FULL[name]
    words = [game if word == "GAME" else word for word in command.line(f"disk/out{command.suffix}")]
    with mounts() as disks:
        disks.small(disk, "256k")
        ballast = fill(disks.seen(disk))
        run = disks.referee(league, *words)
        assert run.returncode == 2, run.stderr
        assert "disk/out" in one_sentence(run.stderr)
        assert [path.name for path in disks.seen(disk).iterdir()] == ["ballast"]
        ballast.unlink()
        run = disks.referee(league, *words)
        assert run.returncode == 0, run.stderr
        assert [path.name for path in disks.seen(disk).iterdir()] == [f"out{command.suffix}"]
