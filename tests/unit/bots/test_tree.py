"""What belongs to a bot's tree, and its hash, which is recomputed here from its specification alone."""

from __future__ import annotations

import hashlib
import os
import socket
import stat
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.bots.source.globs import Globs
from referee.bots.source.ignoring import IgnoringNothing
from referee.bots.source.tree import EntryKind, Tree, TreeEntry, TreeLimits, read_small, scan
from referee.errors import InputError


def make(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def paths(folder: Path) -> list[str]:
    return [entry.path for entry in scan(folder).entries]


def by_hand(*entries: tuple[bytes, bytes, bytes]) -> str:
    """The hash as its specification has it, of entries that are already in order."""
    stream = b"referee bot tree 1\n"
    for letter, path, content in entries:
        stream += letter + len(path).to_bytes(8, "big") + path + len(content).to_bytes(8, "big") + content
    return hashlib.sha256(stream).hexdigest()


def test_hash_of_a_tree_is_the_one_specified(tmp_path: Path) -> None:
    make(tmp_path, {"bot.toml": "x", "src/b": "two\n", "src-1": "", "é": "three"})
    (tmp_path / "src/b").chmod(0o755)
    (tmp_path / "link").symlink_to("src/b")
    assert scan(tmp_path).hash() == by_hand(
        (b"f", b"bot.toml", b"x"),
        (b"l", b"link", b"src/b"),
        (b"f", b"src-1", b""),
        (b"x", b"src/b", b"two\n"),
        (b"f", "é".encode(), b"three"),
    )


def test_hash_of_a_known_tree_never_changes(tmp_path: Path) -> None:
    make(tmp_path, {"bot.toml": 'command = ["python3", "bot.py"]\n', "bot.py": "print()\n"})
    assert scan(tmp_path).hash() == "be55102e6cb2820977c75f12add8c7206383f37898c645720fd2044a17085f04"


def test_a_single_file_counts_as_a_folder_with_that_file(tmp_path: Path) -> None:
    make(tmp_path, {"inside/bot.py": "print()\n"})
    assert scan(tmp_path / "inside/bot.py").hash() == scan(tmp_path / "inside").hash()


@pytest.mark.parametrize("change", ["content", "path", "exec bit", "a link for a file", "moved boundary"])
def test_whatever_changes_a_bot_changes_its_hash(change: str, tmp_path: Path) -> None:
    make(tmp_path, {"a": "b", "c": "d"})
    before = scan(tmp_path).hash()
    match change:
        case "content":
            (tmp_path / "a").write_text("B")
        case "path":
            (tmp_path / "a").rename(tmp_path / "A")
        case "exec bit":
            (tmp_path / "a").chmod(0o744)
        case "a link for a file":
            (tmp_path / "c").unlink()
            (tmp_path / "c").symlink_to("a")
        case "moved boundary":
            (tmp_path / "a").write_text("bf" + "\0" * 7 + "\1c" + "\0" * 7 + "\1d")
            (tmp_path / "c").unlink()
    assert scan(tmp_path).hash() != before


def test_times_owners_other_bits_and_empty_folders_do_not_count(tmp_path: Path) -> None:
    make(tmp_path, {"a": "b"})
    before = scan(tmp_path).hash()
    (tmp_path / "empty/deeper").mkdir(parents=True)
    os.utime(tmp_path / "a", (1, 1))
    (tmp_path / "a").chmod(0o666)
    assert scan(tmp_path).hash() == before


names = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..", ".git", "__pycache__", ".botignore") and not name.endswith("~")
)


@given(st.dictionaries(names, st.binary(max_size=20), max_size=6))
def test_a_copy_has_the_hash_of_its_original(tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]) -> None:
    folder = tmp_path_factory.mktemp("tree")
    for name, content in files.items():
        (folder / name).write_bytes(content)
    scan(folder).copy_to(folder.with_name(folder.name + "-copy"))
    assert scan(folder.with_name(folder.name + "-copy")).hash() == scan(folder).hash()


def test_a_copy_keeps_exec_bits_and_links_and_leaves_out_what_is_ignored(tmp_path: Path) -> None:
    make(tmp_path / "bot", {"run": "#!/bin/sh\n", "log/1": "", ".botignore": "log\n", "lib/x": ""})
    (tmp_path / "bot/run").chmod(0o700)
    (tmp_path / "bot/here").symlink_to("./lib//x")
    scan(tmp_path / "bot").copy_to(tmp_path / "copy")
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == [".botignore", "here", "lib", "run"]
    assert stat.S_IMODE((tmp_path / "copy/run").stat().st_mode) == 0o755
    assert os.readlink(tmp_path / "copy/here") == "./lib//x"


def test_git_and_bytecode_never_belong_to_a_tree(tmp_path: Path) -> None:
    make(tmp_path, {"a": "", ".git/config": "", "lib/__pycache__/a.pyc": "", "lib/.git": "", ".gitignore": ""})
    assert paths(tmp_path) == [".gitignore", "a"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("*.log", ["a", "deep/b.txt", "deep/er/c"]),
        ("deep", ["a", "x.log"]),
        ("deep/", ["a", "x.log"]),
        ("er", ["a", "deep/b.txt", "deep/y.log", "x.log"]),
        ("/er", ["a", "deep/b.txt", "deep/er/c", "deep/y.log", "x.log"]),
        ("deep/*.log", ["a", "deep/b.txt", "deep/er/c", "x.log"]),
        ("deep/*c", ["a", "deep/b.txt", "deep/y.log", "x.log"]),
        ("[ax]*", ["deep/b.txt", "deep/er/c", "deep/y.log"]),
        ("?", ["deep/b.txt", "deep/y.log", "x.log"]),
        ("# a\n\n", ["a", "deep/b.txt", "deep/er/c", "deep/y.log", "x.log"]),
        ("*", []),
    ],
)
def test_botignore_patterns(pattern: str, left: list[str], tmp_path: Path) -> None:
    make(tmp_path, {"a": "", "x.log": "", "deep/b.txt": "", "deep/y.log": "", "deep/er/c": "", "bot.toml": ""})
    (tmp_path / ".botignore").write_text(pattern + "\n")
    assert paths(tmp_path) == sorted([".botignore", "bot.toml", *left])


def test_patterns_are_tried_each_by_itself_and_are_bounded(tmp_path: Path) -> None:
    most = [f"{number}?" for number in range(998)]
    make(tmp_path, {"5x": "", "x5": "", "a/b": "", "xa/b": "", ".botignore": "\n".join([*most, "a/b", "[x"])})
    assert paths(tmp_path) == [".botignore", "x5", "xa/b"]
    make(tmp_path, {".botignore": "\n".join(map(str, range(1001)))})
    with pytest.raises(InputError, match=r"`.botignore` has 1,001 patterns, and 1,000 are allowed"):
        scan(tmp_path)
    make(tmp_path, {".botignore": "*a" * 513})
    with pytest.raises(InputError, match="which is longer than any path"):
        scan(tmp_path)


def test_an_exception_in_botignore_brings_back_what_an_earlier_pattern_ignores(tmp_path: Path) -> None:
    make(tmp_path, {".botignore": "*.log\n!keep.log\n!lib/\nlib/old*\n", "a.log": "", "keep.log": "", "lib/oldest": ""})
    make(tmp_path, {"lib/b.log": "", "deep/keep.log": ""})
    assert paths(tmp_path) == [".botignore", "deep/keep.log", "keep.log"]


LEFT_BEHIND = (".DS_Store", "src/._bot.py", ".bot.py.swp", "bot.py~", ".idea/x.xml", ".pytest_cache/v/x", "Thumbs.db")


def test_what_systems_and_editors_leave_behind_does_not_change_a_bot(tmp_path: Path) -> None:
    make(tmp_path, {"bot.py": "", "src/a": ""})
    before = scan(tmp_path)
    make(tmp_path, dict.fromkeys(LEFT_BEHIND, "x"))
    after = scan(tmp_path)
    assert (after.hash(), after.entries) == (before.hash(), before.entries)
    tops = {path if path.startswith("src") else path.partition("/")[0] for path in LEFT_BEHIND}
    assert (before.left_out, set(after.left_out)) == ((), tops)


def test_botignore_brings_back_what_is_left_out_but_never_git_and_bytecode(tmp_path: Path) -> None:
    make(tmp_path, {"a": "", ".idea/x": "", "b~": "", ".git/x": "", "__pycache__/x": ""})
    make(tmp_path, {".botignore": "!.idea\n!*~\n!.git\n!__pycache__\n"})
    assert paths(tmp_path) == [".botignore", ".idea/x", "a", "b~"]
    scan(tmp_path).copy_to(tmp_path.with_name("copy"))
    assert scan(tmp_path.with_name("copy")).hash() == scan(tmp_path).hash()


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b""])
@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_a_botignore_of_another_system_says_the_same(start: bytes, end: bytes, tmp_path: Path) -> None:
    make(tmp_path, {"a.log": "", "b.txt": "", "c": ""})
    (tmp_path / ".botignore").write_bytes(start + end.join([b"*.log", b"*.txt", b""]))
    assert paths(tmp_path) == [".botignore", "c"]


@given(st.lists(st.text("ab*?[]!-/", min_size=1, max_size=8), min_size=1, max_size=6), st.text("ab-!]/", max_size=8))
def test_globs_match_as_fnmatch_does(patterns: list[str], name: str) -> None:
    globs = Globs(patterns)
    matching = [number for number, pattern in enumerate(patterns) if fnmatchcase(name, pattern)]
    assert globs.last_match(globs.advance(globs.start, name)) == max(matching, default=-1)


def test_whoever_scans_can_say_what_is_ignored(tmp_path: Path) -> None:
    make(tmp_path, {"a": "", ".botignore": "*", "__pycache__/x": ""})
    assert [entry.path for entry in scan(tmp_path, ignoring=IgnoringNothing()).entries] == [".botignore", "a"]


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("out", "../secret"),
        ("out", "/etc/passwd"),
        ("out", "../bot/a"),
        ("lib/out", "../../bot/a"),
        ("out", "away/../../../secret"),
        ("out", "lib/../../bot/a"),
    ],
)
def test_a_link_out_of_the_folder_is_refused_even_if_it_comes_back(link: str, target: str, tmp_path: Path) -> None:
    make(tmp_path, {"bot/a": "", "bot/lib/b": "", "secret": "", "bot/far/er/c": ""})
    (tmp_path / "bot/away").symlink_to("far/er")
    (tmp_path / "bot" / link).symlink_to(target)
    with pytest.raises(InputError, match=f"the link `{link}` leads out of the folder"):
        scan(tmp_path / "bot")


def test_a_link_that_goes_through_a_link_is_followed_as_the_system_does(tmp_path: Path) -> None:
    make(tmp_path, {"bot/top/a": "", "bot/b": ""})
    (tmp_path / "bot/short").symlink_to("top")
    (tmp_path / "bot/ok").symlink_to("short/../b")
    assert paths(tmp_path / "bot") == ["b", "ok", "short", "top/a"]


@pytest.mark.parametrize("target", ["nothing", "out", "x/y"])
def test_a_link_to_nowhere_or_to_itself_is_refused(target: str, tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(target)
    with pytest.raises(InputError, match="the link `out` leads nowhere"):
        scan(tmp_path)


def test_folders_behind_links_are_not_walked(tmp_path: Path) -> None:
    make(tmp_path, {"lib/a": ""})
    (tmp_path / "lib/loop").symlink_to("../lib")
    assert paths(tmp_path) == ["lib/a", "lib/loop"]


def test_a_fifo_or_socket_in_the_folder_is_refused_and_never_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="`pipe` is a FIFO"):
        scan(tmp_path)
    (tmp_path / "pipe").unlink()
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # a socket's path may not be long
        server.bind("door")
    with pytest.raises(InputError, match="`door` is a socket"):
        scan(tmp_path)


def test_too_many_files_are_refused_and_ignored_ones_do_not_count(tmp_path: Path) -> None:
    make(tmp_path, {f"many/{number}": "" for number in range(10)})
    assert len(scan(tmp_path, limits=TreeLimits(11, 100)).entries) == 10
    with pytest.raises(InputError, match=r"more than 10 files: name in .botignore"):
        scan(tmp_path, limits=TreeLimits(10, 100))
    (tmp_path / ".botignore").write_text("many")
    assert paths(tmp_path) == [".botignore"]


def test_too_many_bytes_are_refused_without_reading_them(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="its files have 1048576 MiB, and 256 are allowed"):
        scan(tmp_path)


def test_a_path_that_is_too_long_or_no_utf8_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "long"
    (folder / ("d" * 250) / ("e" * 250) / ("f" * 250) / ("g" * 250) / ("h" * 30)).mkdir(parents=True)
    with pytest.raises(InputError, match=r"is a path of 1,034 bytes, and 1,024 are allowed"):
        scan(folder)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / os.fsdecode(b"\xff")).touch()
    with pytest.raises(InputError, match=r"`\\xff` is a name that is not UTF-8"):
        scan(tmp_path / "bad")


@pytest.mark.parametrize("size", [1, 3])
def test_a_file_that_changes_its_size_while_it_is_read_is_refused(size: int, tmp_path: Path) -> None:
    make(tmp_path, {"a": "xx"})
    stale = Tree(tmp_path, (TreeEntry("a", EntryKind.FILE, size),))
    with pytest.raises(InputError, match="`a` was changed while it was read: try again"):
        stale.hash()


def test_small_files_are_read_up_to_their_limit(tmp_path: Path) -> None:
    make(tmp_path, {"a": "12345"})
    assert read_small(tmp_path / "a", 5) == b"12345"
    with pytest.raises(InputError, match="`a` has more than 4 bytes"):
        read_small(tmp_path / "a", 4)


def test_a_link_is_not_read_as_a_small_file(tmp_path: Path) -> None:
    make(tmp_path, {"a": "12345"})
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(InputError, match="`b` is a link and no regular file"):
        read_small(tmp_path / "b", 9)
