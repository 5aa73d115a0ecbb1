"""Folders that are made to take time: each is read or refused within a bound of processor time."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee.bots.source.executables import check_program
from referee.bots.source.manifest import find_bots, read_bot
from referee.bots.source.tree import scan
from referee.errors import InputError

FIT = 1 << 16
"""Bytes that a bot.toml may have."""


@contextmanager
def bounded(seconds: float = 3.0) -> Iterator[None]:
    """The bound is on processor time, so that a busy machine changes nothing."""
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds


TOML = {
    "dots": "a" + ".a" * 32_000 + " = 1",
    "dots with blanks": "a" + " . a" * 16_000 + " = 1",
    "quoted dots": '"a"' + '."a"' * 16_000 + " = 1",
    "dots in a header": "[a" + ".a" * 32_000 + "]",
    "dots in an inline table": "a = {a" + ".a" * 32_000 + " = 1}",
    "dots behind a string": 'x = "\\""\n' + "a" + ".a" * 32_000 + " = 1",
    "dots behind a long string": 'x = """ "" \\""" """"\n' + "a" + ".a" * 32_000 + " = 1",
    "headers of many parts": "".join(f"[{'a.' * 15}b{number}]\n" for number in range(1700)),
    "keys of many parts": "".join(f"{'a.' * 15}b{number} = 1\n" for number in range(1700)),
    "tables in an array": "[[a]]\n" * 10_000,
    "nested arrays": "a = " + "[" * 60_000,
    "nested tables": "a = " + "{a = " * 12_000,
    "strings that are not closed": 'a = """' + '\\"""' * 16_000,
    "quotes": '"' * FIT,
    "a number": "a = " + "1" * 60_000,
    "a hexadecimal number": "a = 0x" + "f" * 60_000,
    "steps of a build": 'command = ["x"]\nbuild = [' + '["python3"],' * 4_000 + "]",
    "a long word": "a" * FIT,
}


@pytest.mark.parametrize("text", TOML.values(), ids=TOML)
def test_a_bot_toml_is_refused_soon(text: str, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(text)
    with bounded(), pytest.raises(InputError):
        read_bot(tmp_path)


def many_files(folder: Path, count: int, name: Callable[[int], str]) -> Path:
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / name(number)).touch()
    return folder


SLOW_PATTERNS = {
    "stars": ["*" + "a*" * 200 + f"b{number}" for number in range(15)],
    "long literals": ["*" + "a" * 250 + f"b{number}*" for number in range(30)],
    "many": [f"*a{number}" for number in range(1000)],
    "sets": ["[!" + "b-y" * 300 + "]" for _ in range(8)],
    "with slashes": ["/*" + "a*" * 200 + f"b{number}/*" for number in range(15)],
}


@pytest.mark.parametrize("patterns", SLOW_PATTERNS.values(), ids=SLOW_PATTERNS)
def test_ignoring_takes_time_linear_in_names(patterns: list[str], tmp_path: Path) -> None:
    many_files(tmp_path / "bot", 3_000, lambda number: f"{'a' * 200}{number}")
    (tmp_path / "bot/.botignore").write_text("\n".join(patterns))
    with bounded():
        assert len(scan(tmp_path / "bot").entries) in (1, 2_001, 3_001)


def test_more_patterns_than_can_be_matched_soon_are_refused(tmp_path: Path) -> None:
    many_files(tmp_path / "bot", 3_000, lambda number: f"{'a' * 200}{number}")
    (tmp_path / "bot/.botignore").write_text("\n".join(f"{'*a' * 20}*?b{number}" for number in range(1000)))
    with bounded(), pytest.raises(InputError):
        scan(tmp_path / "bot")


def test_more_names_than_can_be_matched_soon_are_refused(tmp_path: Path) -> None:
    many_files(tmp_path / "bot", 9_000, lambda number: f"{'a' * 240}{number:05}")
    with bounded(), pytest.raises(InputError):
        scan(tmp_path / "bot")


def test_ignored_files_are_not_looked_at_for_ever(tmp_path: Path) -> None:
    folder = many_files(tmp_path / "bot", 50_001, lambda number: f"{number}.log")
    (folder / ".botignore").write_text("*.log")
    with bounded(6), pytest.raises(InputError):
        scan(folder)


def test_links_are_followed_within_a_bound(tmp_path: Path) -> None:
    place = tmp_path / "bot" / "/".join(["d"] * 200)
    place.mkdir(parents=True)
    back = "../" * 200 + "d/" * 200
    for number in range(600):
        (place / f"link{number}").symlink_to(back + "." if not number else f"{'../' * 200}{'d/' * 200}link{number - 1}")
    with bounded(), pytest.raises(InputError):
        scan(tmp_path / "bot")


def test_a_link_through_forty_others_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot/end").touch()
    for number in range(60):
        (tmp_path / f"bot/{number:02}").symlink_to("end" if not number else f"{number - 1:02}")
    with pytest.raises(InputError, match="leads nowhere"):
        scan(tmp_path / "bot")


def test_the_headers_of_a_program_are_read_within_a_bound(tmp_path: Path) -> None:
    head = bytearray(64)
    head[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<H", head, 18, 62)
    struct.pack_into("<Q", head, 32, 64)
    struct.pack_into("<HH", head, 54, 0xFFFF, 0xFFFF)
    path = tmp_path / "bot"
    path.write_bytes(head)
    os.truncate(path, 1 << 33)
    path.chmod(0o755)
    with bounded(), pytest.raises(InputError):
        check_program(path)


def test_a_bot_toml_of_another_system_says_the_same(tmp_path: Path) -> None:
    said = 'command = ["python3", "bot.py"]\nauthor = "Zoë"\nplayers = [2]\n'
    for name, data in {
        "lf": said.encode(),
        "bom": said.encode("utf-8-sig"),
        "crlf": said.replace("\n", "\r\n").encode("utf-8-sig"),
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text("x")
        (tmp_path / name / "bot.toml").write_bytes(data)
        bot = read_bot(tmp_path / name)
        assert (bot.command, bot.author, bot.players) == (("python3", "bot.py"), "Zoë", frozenset({2}))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_file_in_another_encoding_is_named(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_bytes('command = ["python3", "bot.py"]'.encode(encoding))
    with pytest.raises(InputError, match=r"bot\.toml is saved as UTF-16"):
        read_bot(tmp_path)
    (tmp_path / "bot.toml").write_text('command = ["python3", "bot.py"]')
    (tmp_path / ".botignore").write_bytes("*.log".encode(encoding))
    with pytest.raises(InputError, match=r"\.botignore` is saved as UTF-16"):
        read_bot(tmp_path)


def test_junk_beside_bots_is_passed_over_and_archives_are_to_be_unpacked(tmp_path: Path) -> None:
    bot = tmp_path / "good.py"
    bot.write_text("x")
    junk = ["__MACOSX", "good.py.bak", "good.py~", "Thumbs.db", "good.py.orig", "desktop.ini"]
    archives = ["a.zip", "b.tar.gz", "c.tgz", "d.7z", "e.rar"]
    (tmp_path / junk[0]).mkdir()
    for name in [*junk[1:], *archives]:
        (tmp_path / name).write_bytes(b"x")
    found = find_bots([tmp_path / name for name in ["good.py", *junk, *archives]])
    assert [one.identity.name for one in found.bots] == ["good"]
    assert {path.name for path in found.passed_over} == set(junk)
    assert {path.name for path in found.refused} == set(archives)
    assert all("unpack" in reason for reason in found.refused.values())
