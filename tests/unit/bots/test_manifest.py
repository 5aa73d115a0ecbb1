"""What is a bot and what is not, and the sentence with which each mistake is refused before anything runs."""

from __future__ import annotations

import os
import platform
import socket
import struct
from collections.abc import Mapping
from pathlib import Path

import pytest

from referee.bots.source.manifest import BotSpec, find_bots
from referee.bots.source.tree import scan

TOML = 'command = ["sh", "bot.sh"]\n'


def make(folder: Path, toml: str = TOML, files: Mapping[str, str] | None = None) -> Path:
    """A bot's folder."""
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(toml)
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    return folder


def program(path: Path, content: bytes = b"#!/bin/sh\n") -> Path:
    """An executable file."""
    path.write_bytes(content)
    path.chmod(0o755)
    return path


def only(path: Path) -> BotSpec:
    """The one bot at `path`, which is right."""
    found = find_bots([path])
    assert (dict(found.refused), dict(found.passed_over)) == ({}, {})
    (bot,) = found.bots
    return bot


def refusal(path: Path) -> str:
    """The sentence with which the bot at `path` is refused."""
    found = find_bots([path])
    assert found.bots == ()
    assert list(found.refused) == [path]
    return found.refused[path]


# -- folders


def test_a_folder_is_what_its_bot_toml_says(tmp_path: Path) -> None:
    toml = """
        command = ["./run", "--fast"]
        build = ["cc", "-o", "run", "run.c"]
        language = "C"
        author = "Зоя Ω"
        players = [2, 4]
    """
    folder = make(tmp_path / "clever-2", toml)
    bot = only(folder)
    assert (bot.identity.name, bot.identity.hash) == ("clever-2", scan(folder).hash())
    assert (bot.command, bot.build) == (("./run", "--fast"), (("cc", "-o", "run", "run.c"),))
    assert (bot.language, bot.author, bot.players) == ("C", "Зоя Ω", {2, 4})
    assert bot.path == folder


def test_what_bot_toml_does_not_say_is_unknown_and_any_number_of_players_will_do(tmp_path: Path) -> None:
    bot = only(make(tmp_path / "x"))
    assert (bot.build, bot.language, bot.author, bot.players) == ((), None, None, {2, 3, 4, 5, 6})


def test_a_build_may_have_several_steps_or_none(tmp_path: Path) -> None:
    steps = only(make(tmp_path / "x", TOML + 'build = [["sh", "a"], ["sh", "b", "c"]]'))
    assert steps.build == (("sh", "a"), ("sh", "b", "c"))
    assert only(make(tmp_path / "y", TOML + "build = []")).build == ()


def test_a_folder_given_as_a_dot_has_the_name_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make(tmp_path / "here"))
    assert only(Path()).identity.name == "here"


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ("", 'bot.toml has no `command`: add a line such as command = ["python3", "bot.py"]'),
        ("comand = []", "bot.toml has `comand`, did you mean `command`?"),
        (TOML + "plyers = [2]", "bot.toml has `plyers`, did you mean `players`?"),
        (
            TOML + "x = 1",
            "bot.toml has `x`, which nothing reads: it may have command, build, language, author, players",
        ),
        (TOML + '"\\u202e" = 1', "bot.toml has `\\u202e`, which nothing reads"),
        ("command = [", "bot.toml is not valid TOML: Invalid value (at end of document)"),
        ("a = 1\ncommand = [1,,]", "bot.toml is not valid TOML: Invalid value (at line 2, column 14)"),
        (f"command = {'9' * 5000}", "bot.toml is not valid TOML: "),
        (
            'command = ["./x"]\nauthor = "a\x1bb"\n',
            r"bot.toml is not valid TOML: Illegal character '\x1b' (at line 2, column 12), at `author`: no control characters",
        ),
        (
            'build = ["make",\n  "a\x07"]',
            r"bot.toml is not valid TOML: Illegal character '\x07' (at line 2, column 5), at `build`: no control",
        ),
        ("# a comment \x01\n", r"bot.toml is not valid TOML: Found invalid character '\x01' (at line 1, column 13)"),
        ("command = " + "[" * 30000, "bot.toml is nested too deep"),
        (
            'command = "python3 bot.py -v"',
            '`command` in bot.toml is one string: write it as a list, command = ["python3", "bot.py", "-v"]',
        ),
        ("command = []", '`command` in bot.toml is not a list of strings, such as ["python3", "bot.py"]'),
        ("command = [1]", "`command` in bot.toml is not a list of strings"),
        ("command = {}", "`command` in bot.toml is not a list of strings"),
        ('command = [""]', "`command` in bot.toml has an empty program name"),
        ('command = ["sh", "a\\u0000"]', "`command` in bot.toml has an empty program name or a NUL character"),
        (f'command = ["sh", "{"x" * 5000}"]', "`command` in bot.toml has more than 4,096 characters"),
        (TOML + 'build = "make"', '`build` in bot.toml is one string: write it as a list, build = ["make"]'),
        (TOML + 'build = [["sh"], "make"]', "`build` in bot.toml is not a list of strings"),
        (TOML + "build = [[]]", "`build` in bot.toml is not a list of strings"),
        (TOML + 'author = "a\\u202eb"', "`author` in bot.toml is not a text of 1 to 80 visible characters on one line"),
        (TOML + f'author = "{"a" * 81}"', "`author` in bot.toml is not a text"),
        (TOML + 'language = ""', "`language` in bot.toml is not a text"),
        (TOML + "language = 1", "`language` in bot.toml is not a text"),
        (TOML + "players = 2", "`players` in bot.toml is not a list of numbers from 2 to 6, such as [2, 3]"),
        (TOML + "players = []", "`players` in bot.toml is not a list of numbers"),
        (TOML + "players = [1]", "`players` in bot.toml is not a list of numbers"),
        (TOML + "players = [2, 7]", "`players` in bot.toml is not a list of numbers"),
        (TOML + "players = [2.0]", "`players` in bot.toml is not a list of numbers"),
        (TOML + "players = [true]", "`players` in bot.toml is not a list of numbers"),
    ],
)
def test_a_mistake_in_bot_toml_is_named(toml: str, sentence: str, tmp_path: Path) -> None:
    assert refusal(make(tmp_path / "x", toml)).startswith(sentence)


def test_a_bot_toml_that_is_no_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    folder = make(tmp_path / "x")
    (folder / "bot.toml").write_bytes(b"\n\n# \xff\n")
    assert refusal(folder) == "bot.toml is not valid UTF-8 (line 3): save it as UTF-8"


def test_a_folder_without_bot_toml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    assert refusal(tmp_path / "x").startswith('it has no bot.toml: write one with command = ["python3", "bot.py"]')


def test_a_folder_that_holds_bots_is_refused_with_what_to_write(tmp_path: Path) -> None:
    make(tmp_path / "bots" / "x")
    folder = tmp_path / "bots"
    assert refusal(folder) == f"it is not a bot but contains some, such as x: use `{folder}/*`"


def test_a_fifo_device_folder_or_huge_file_as_bot_toml_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = make(tmp_path / "x")
    place = folder / "bot.toml"
    place.write_text("#" * 70_000)
    assert refusal(folder).startswith("`bot.toml` has more than 65,536 bytes")
    place.unlink()
    os.mkfifo(place)
    assert refusal(folder) == "`bot.toml` is a FIFO and no regular file"
    place.unlink()
    place.symlink_to("/dev/zero")
    assert refusal(folder) == "`bot.toml` is a link and no regular file"
    place.unlink()
    place.mkdir()
    assert refusal(folder) == "`bot.toml` is a folder and no regular file"
    place.rmdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(place))
        assert refusal(folder) == "`bot.toml` is a socket and no regular file"


def test_what_is_wrong_with_the_tree_refuses_the_bot(tmp_path: Path) -> None:
    folder = make(tmp_path / "x")
    (folder / "out").symlink_to("/etc/passwd")
    assert refusal(folder).startswith("the link `out` leads out of the folder")


def test_a_path_that_does_not_exist_or_is_no_file_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nothing") == "there is no such file or folder"
    assert refusal(make(tmp_path / "x") / "bot.toml" / "y") == "it cannot be read: Not a directory " + (
        f"({tmp_path / 'x' / 'bot.toml' / 'y'})"
    )
    os.mkfifo(tmp_path / "pipe.py")
    assert refusal(tmp_path / "pipe.py").startswith("it is neither a file nor a folder")


def test_a_symbolic_link_to_a_bot_is_refused(tmp_path: Path) -> None:
    make(tmp_path / "x")
    (tmp_path / "link").symlink_to("x")
    (tmp_path / "link.py").symlink_to("nothing")
    sentence = "it is a symbolic link: give the folder or file that it leads to"
    assert refusal(tmp_path / "link") == refusal(tmp_path / "link.py") == sentence


# -- names


@pytest.mark.parametrize("name", ["a", "Z", "0", "a.b_c-d", "x" * 32])
def test_names_that_will_do(name: str, tmp_path: Path) -> None:
    assert only(make(tmp_path / name)).identity.name == name


@pytest.mark.parametrize(
    ("name", "shown", "wrong"),
    [
        ("x" * 33, "x" * 33, "has 33 characters"),
        ("-x", "-x", "has other characters, or begins with another"),
        ("_x", "_x", "has other characters"),
        ("a b", "a b", "has other characters"),
        ("a\n", r"a\n", "has other characters"),
        ("é", "é", "has other characters"),
        ("ａ", "ａ", "has other characters"),
        ("<b>", "<b>", "has other characters"),
        ("\x1b[31m", r"\x1b[31m", "has other characters"),
        ("a\u202e", r"a\u202e", "has other characters"),
        ("a\u200b", r"a\u200b", "has other characters"),
    ],
)
def test_names_that_will_not_do_are_shown_escaped(name: str, shown: str, wrong: str, tmp_path: Path) -> None:
    assert refusal(make(tmp_path / name)).startswith(f"its name `{shown}` {wrong}")


def test_names_that_differ_in_capitals_only_are_refused_both(tmp_path: Path) -> None:
    one, other, third = make(tmp_path / "a" / "bot"), make(tmp_path / "b" / "BOT"), make(tmp_path / "b" / "third")
    found = find_bots([one, other, third])
    assert found.refused == {
        one: f"`{other}` has the same name, or one that differs in capitals only: rename one",
        other: f"`{one}` has the same name, or one that differs in capitals only: rename one",
    }
    assert [bot.identity.name for bot in found.bots] == ["third"]


def test_a_folder_and_a_file_of_one_name_are_refused(tmp_path: Path) -> None:
    folder = make(tmp_path / "bot")
    (tmp_path / "bot.sh").touch()
    assert set(find_bots([folder, tmp_path / "bot.sh"]).refused) == {folder, tmp_path / "bot.sh"}


def test_the_same_path_twice_gives_the_bot_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path / "bot")
    monkeypatch.chdir(tmp_path)
    found = find_bots([folder, Path("bot"), folder])
    assert [bot.identity.name for bot in found.bots] == ["bot", "bot", "bot"]


def test_one_content_under_two_names_is_two_bots_of_one_hash(tmp_path: Path) -> None:
    found = find_bots([make(tmp_path / "one"), make(tmp_path / "two")])
    assert len({bot.identity for bot in found.bots}) == 2
    assert len({bot.identity.hash for bot in found.bots}) == 1


# -- files


@pytest.mark.parametrize(
    ("file", "language", "command"),
    [
        ("x.sh", "Shell", ("sh", "./x.sh")),
        ("x.y.pl", "Perl", ("perl", "./x.y.pl")),
        ("x.py", "Python", ("python3", "./x.py")),
    ],
)
def test_a_source_file_is_started_by_its_ending(
    file: str, language: str, command: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / file).write_text("")
    bot = only(tmp_path / file)
    assert (bot.identity.name, bot.language) == (file.rpartition(".")[0], language)
    assert (bot.command, bot.build) == (command, ())


def test_a_c_file_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text("")
    bot = only(tmp_path / "x.c")
    assert (bot.build, bot.command) == ((("cc", "-O2", "-o", "bot", "./x.c", "-lm"),), ("./bot",))


def test_an_executable_file_is_started_as_it_is(tmp_path: Path) -> None:
    bot = only(program(tmp_path / "bot-1.2"))
    assert (bot.identity.name, bot.command, bot.language) == ("bot-1.2", ("./bot-1.2",), None)
    with_ending = only(program(tmp_path / "x.py", b"#!/bin/sh\n"))
    assert (with_ending.identity.name, with_ending.command) == ("x", ("./x.py",))


def test_an_executable_source_file_without_shebang_is_started_by_its_ending(tmp_path: Path) -> None:
    assert only(program(tmp_path / "x.sh", b"echo\n")).command == ("sh", "./x.sh")


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        (b"#!/bin/sh\r\n", "`x` has CRLF after its shebang line: save it with LF line ends"),
        (b"", "`x` is empty"),
        (b"print(1)\n", "`x` has no shebang line, such as #!/usr/bin/env python3, and is not a compiled program"),
        (b"#!\n", "`x` has an empty shebang line"),
        (b"#!  \n", "`x` has an empty shebang line"),
        (b"#!sh\n", "`x` wants `sh`: write the interpreter's absolute path"),
        (b"#!/no/such/sh -e\n", "`x` wants the interpreter /no/such/sh, which is not on this machine"),
        (b"#!/usr/bin/env no-such-thing\n", "`x` wants `no-such-thing`: not found on PATH"),
        (b"#!/usr/bin/env -S A=1 no-such-thing -u\n", "`x` wants `no-such-thing`: not found on PATH"),
        (b"#!/usr/bin/env sh -e\n", "`x` wants a program named `sh -e`, in one word: write env -S sh -e"),
        (b"\xef\xbb\xbf#!/bin/sh\n", "`x` has a byte order mark before its shebang line"),
        (b"#!/bin/sh " + b"x" * 300, "`x` has a shebang line of 256 bytes or more"),
        (b"MZ\x90\0", "`x` is a program for Windows"),
        (b"\xcf\xfa\xed\xfe" + bytes(60), "`x` is a program for macOS"),
        (b"\x7fELF", "`x` begins as a program and is damaged"),
    ],
)
def test_a_file_that_cannot_be_started_is_refused_with_the_reason(start: bytes, sentence: str, tmp_path: Path) -> None:
    assert refusal(program(tmp_path / "x", start)).startswith(sentence)


def test_a_file_that_is_not_executable_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("#!/bin/sh\n")
    assert refusal(tmp_path / "x").startswith("`x` is not executable: chmod +x it (source files that are bots end with")


@pytest.mark.parametrize(
    "start", [b"#!/usr/bin/env sh\n", b"#!/usr/bin/env -S sh -e\n", b"#! /bin/sh -e\n", b"#!/bin/sh"]
)
def test_shebang_lines_that_will_do(start: bytes, tmp_path: Path) -> None:
    assert only(program(tmp_path / "x", start)).command == ("./x",)


def elf(machine: int, interpreter: bytes = b"") -> bytes:
    """The head of a 64-bit program, with the loader that it asks for."""
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    kind = 3 if interpreter else 1
    return head + struct.pack("<IIQQQQQQ", kind, 0, 120, 0, 0, len(interpreter) + 1, 0, 0) + interpreter + b"\0"


HERE = {"x86_64": 62, "aarch64": 183}.get(platform.machine(), 62)


def test_a_program_for_another_processor_is_refused(tmp_path: Path) -> None:
    other, name = (183, "AArch64") if HERE == 62 else (62, "x86-64")
    sentence = f"`x` is a program for {name}, and this machine is {platform.machine()}: build it here"
    assert refusal(program(tmp_path / "x", elf(other))).startswith(sentence)


def test_a_program_whose_loader_is_missing_is_refused(tmp_path: Path) -> None:
    sentence = "`x` wants the interpreter /lib/ld-none.so.1, which is not on this machine"
    assert refusal(program(tmp_path / "x", elf(HERE, b"/lib/ld-none.so.1"))).startswith(sentence)


def test_a_damaged_program_is_refused_wherever_it_is_cut(tmp_path: Path) -> None:
    whole = elf(HERE, b"/lib/ld-none.so.1")
    for length in (5, 18, 20, 40, 64, 100):
        assert "is damaged" in refusal(program(tmp_path / "x", whole[:length]))
    wild = whole[:32] + b"\xff" * 8 + whole[40:]
    assert "is damaged" in refusal(program(tmp_path / "x", wild))


def test_a_program_of_this_machine_will_do(tmp_path: Path) -> None:
    assert only(program(tmp_path / "x", Path(os.path.realpath("/bin/sh")).read_bytes())).command == ("./x",)
    assert only(program(tmp_path / "y", elf(HERE))).command == ("./y",)


# -- the commands of a folder


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ('command = ["no-such-thing", "x"]', "`no-such-thing`: not found on PATH"),
        ('command = ["sh"]\nbuild = ["no-such-thing"]', "`no-such-thing`: not found on PATH"),
        ('command = ["sh"]\nbuild = [["sh"], ["no-such-thing"]]', "`no-such-thing`: not found on PATH"),
        (
            'command = ["run"]',
            "`run`: not found on PATH; install it, or write ./ before the name of a file in the folder",
        ),
        ('command = ["../run"]', "`../run` leads out of the folder"),
        ('command = ["lib/../../run"]', "`lib/../../run` leads out of the folder"),
        ('command = ["/bin/sh"]', "`/bin/sh` is an absolute path"),
        ('command = ["./none"]', "`none` is not there"),
        ('command = ["./text"]', "`text` is not executable: chmod +x it"),
        ('command = ["./none"]\nbuild = ["./text"]', "`text` is not executable: chmod +x it"),
        ('command = ["./none"]\nbuild = ["./absent"]', "`absent` is not there"),
    ],
)
def test_a_command_that_cannot_be_found_is_refused(toml: str, sentence: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "x", toml, {"text": "#!/bin/sh\n"})
    program(folder / "run")
    assert refusal(folder).startswith(sentence)


@pytest.mark.parametrize("command", ["./run", "deep/run", "./deep/run", "./link"])
def test_a_command_with_a_slash_is_a_file_of_the_folder(command: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "x", f'command = ["{command}"]')
    (folder / "deep").mkdir()
    program(folder / "run")
    program(folder / "deep" / "run")
    (folder / "link").symlink_to("deep/run")
    assert only(folder).command == (command,)


def test_a_program_that_a_build_will_make_need_not_be_there(tmp_path: Path) -> None:
    assert only(make(tmp_path / "x", 'command = ["./none"]\nbuild = ["sh", "make.sh"]')).command == ("./none",)


# -- what lies beside bots


@pytest.mark.parametrize("name", ["README", "README.md", "LICENSE", "notes.txt", "deck.json", "Makefile", "readme.de"])
def test_documents_beside_bots_are_passed_over(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    found = find_bots([tmp_path / name])
    assert (found.bots, found.refused, found.passed_over) == ((), {}, {tmp_path / name: "a document"})


def test_a_document_may_be_a_link_and_a_folder_is_no_document(tmp_path: Path) -> None:
    (tmp_path / "README.md").symlink_to("../README.md")
    assert find_bots([tmp_path / "README.md"]).passed_over == {tmp_path / "README.md": "a document"}
    assert only(make(tmp_path / "notes.md")).identity.name == "notes.md"


def test_a_bot_toml_given_for_its_folder_is_refused_with_what_to_write(tmp_path: Path) -> None:
    folder = make(tmp_path / "x")
    assert refusal(folder / "bot.toml") == f"it describes a bot and is none: give its folder, `{folder}`"


def test_hidden_files_and_caches_are_passed_over(tmp_path: Path) -> None:
    make(tmp_path / ".git")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / ".x.py").touch()
    found = find_bots(sorted(tmp_path.iterdir()))
    assert list(found.passed_over.values()) == ["hidden", "hidden", "Python's cache"]
    assert (found.bots, found.refused) == ((), {})


def test_every_path_is_told_of_and_the_order_is_kept(tmp_path: Path) -> None:
    good, worse, better = make(tmp_path / "z"), make(tmp_path / "bad", ""), make(tmp_path / "a")
    (tmp_path / "README.md").touch()
    found = find_bots([good, worse, tmp_path / "README.md", better])
    assert [bot.path for bot in found.bots] == [good, better]
    assert (list(found.refused), list(found.passed_over)) == ([worse], [tmp_path / "README.md"])


def test_a_folder_that_may_not_be_read_is_refused_with_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path / "x")
    where = folder / "lib"
    where.mkdir()

    def forbid(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    # Root may read everything, so that the system's refusal has to be played.
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: forbid(path) if Path(path) == where else scandir(path))
    assert refusal(folder) == f"it cannot be read: Permission denied ({where})"
