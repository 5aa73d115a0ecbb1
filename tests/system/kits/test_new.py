"""`referee new`: what it makes, what it says, and what it refuses."""

from __future__ import annotations

import os
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import ROOT, python, referee_command

from referee.bots.source.botfile import parse_botfile
from referee.bots.source.programs import PACKAGES
from referee.bots.source.tree import scan
from referee.cli.main import cli
from referee.errors import InputError
from referee.kits import KITS, botfile_of, find_kit, make, missing_tools, packages_of, runtimes_of

WORDS = {other for name, kit in KITS.items() for other in (name, *kit.other_names)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def new(*words: str) -> tuple[int, list[str], list[str]]:
    """Exit code, and what was said on both streams."""
    done = CliRunner().invoke(cli, ["new", *words])
    return done.exit_code, done.stdout.splitlines(), done.stderr.splitlines()


# -- what a kit is


@pytest.mark.parametrize("name", KITS)
def test_a_kit_has_one_function_to_change_which_comes_before_reading_and_writing(name: str) -> None:
    kit = KITS[name]
    source = (kit.path / kit.source).read_text("utf-8")
    assert 0 <= source.index("choose") < len(source) / 3
    assert "Change" in source


FIELDS = {
    "id": "echoed in the answer",
    "game_id": "the same throughout a game",
    "seat": "at the table, from 0",
    "rules": "which rules",
    "phase": "which card to lay?",
    "hand": "sorted, the drawn one",
    "drawn": "the card just drawn",
    "legal": "the actions to choose from",
    "laid": "the card laid before this draw",
    "recycled": "whether this draw emptied the talon",
    "hand_sizes": "how many cards each seat has",
    "talon_size": "how many cards are left to draw",
    "pile_size": "laid since the talon was new",
    "widows": "the queens on the table",
    "discards": "out of the game",
    "forfeited": "the house plays on",
    "kept_in_a_row": "turns since the last discard or widow",
    "events": "the turns since",
    "time_left_ms": "for this answer",
    "game_left_ms": "for all answers of this game",
    "odd_card": "the card that was over",
    "scoring": "what counts at the end",
    "discard": "of the matching cards",
    "stall_limit": "so many turns in a row",
    "drew": "the card drawn",
    "discarded": "went out with the drawn one",
}
"""By field of a question, its rules and its events: what a kit says of it, on the field's line or the one beside it."""


@pytest.mark.parametrize("name", KITS)
def test_a_kit_explains_each_field_of_a_question(name: str) -> None:
    kit = KITS[name]
    lines = (kit.path / kit.source).read_text("utf-8").casefold().splitlines()
    for field, said in FIELDS.items():
        about = [place for place, line in enumerate(lines) if said in line]
        near = [line.replace("_", "") for place in about for line in lines[max(place - 1, 0) : place + 2]]
        assert any(field.replace("_", "") in line for line in near), field


@pytest.mark.parametrize("name", KITS)
def test_a_kit_has_a_page_of_one_screen_that_names_its_commands(name: str) -> None:
    kit = KITS[name]
    page = (kit.path / "README.md").read_text("utf-8")
    assert page.startswith(f"# {kit.folder} ({kit.language})\n")
    assert len(page.splitlines()) <= 36
    assert all(said in page for said in ("referee check", "referee match", "choose", kit.source))
    assert ("--fetch" in page) == kit.fetches


@pytest.mark.parametrize("name", KITS)
def test_a_kit_needs_nothing_of_ours_and_names_the_packages_of_all_that_it_starts(name: str) -> None:
    kit = KITS[name]
    said = botfile_of(kit)
    assert said.language == kit.language
    assert {PACKAGES[program] for program in kit.uses} <= set(packages_of(kit))


def test_every_example_that_plays_greedy_is_a_kit() -> None:
    folders = {path.name for path in (ROOT / "example_bots").iterdir() if path.name.startswith("greedy")}
    assert {kit.folder for kit in KITS.values()} == folders


def test_no_two_kits_answer_to_one_name() -> None:
    assert len(WORDS) == sum(1 + len(kit.other_names) for kit in KITS.values())
    assert all(find_kit(word.upper())[0] in KITS for word in WORDS)


def test_the_page_lists_all_kits_as_they_are() -> None:
    rows = [
        [cell.strip(" `") for cell in line.split("|")[1:-2]]
        for line in (ROOT / "docs" / "kits.md").read_text("utf-8").splitlines()
        if line.startswith("| `")
    ]
    assert rows == [
        [name, f"[{kit.folder}](../example_bots/{kit.folder})", kit.source, "`, `".join(packages_of(kit))]
        for name, kit in KITS.items()
    ]


# -- what is made


@pytest.mark.parametrize("language", KITS)
def test_a_bot_is_the_kit_with_its_own_name(language: str, folder: Path) -> None:
    code, said, _ = new(language, "my-Bot.2")
    kit = KITS[language]
    assert code == 0
    assert said[0] == f"my-Bot.2 is a bot in {kit.language}: change `choose` in my-Bot.2/{kit.source}"
    made = folder / "my-Bot.2"
    assert (made / kit.source).read_text().count("my-Bot.2") == 1
    assert (made / "README.md").read_text().startswith(f"# my-Bot.2 ({kit.language})\n")
    assert "the referee's authors" not in (made / "bot.toml").read_text()
    changed = {kit.source, "README.md", "bot.toml"}
    ours, theirs = scan(kit.path), scan(made)
    assert [entry[:2] for entry in ours.entries] == [entry[:2] for entry in theirs.entries]
    for path in (entry.path for entry in ours.entries if entry.path not in changed):
        assert (made / path).read_bytes() == (kit.path / path).read_bytes()
    assert [path.name for path in folder.iterdir()] == ["my-Bot.2"]
    assert parse_botfile((made / "bot.toml").read_bytes()) == replace(botfile_of(kit), author=None)


def test_the_next_commands_are_told(folder: Path) -> None:
    assert new("python", "mine")[1][1:] == ["  referee check mine", "  referee match mine mine --deals 1 --show"]


# -- what is said where it cannot


def test_without_a_language_all_are_listed_with_their_packages() -> None:
    code, said, _ = new()
    assert code == 0
    assert [line.split()[0] for line in said[1:]] == list(KITS)
    assert "  python      Python: python3" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["pyton", "x"], "there is no kit for 'pyton': did you mean python?"),
        (["cobol", "x"], f"there is no kit for 'cobol': there are {', '.join(KITS)}"),
        (["js"], "the bot needs a name: referee new javascript NAME"),
        (["js", ".hidden"], "its name `.hidden` has other characters, or begins with another"),
        (["js", "deep/.hidden"], "its name `.hidden` has other characters"),
        (["js", "x" * 33], "has 33 characters"),
        (["js", ""], "its name `` is empty"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_sentence(words: list[str], sentence: str, folder: Path) -> None:
    code, said, told = new(*words)
    assert (code, said, len(told)) == (2, [], 1)
    assert sentence in told[0]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("there", ["file", "folder", "dangling link"])
def test_a_name_that_is_taken_is_refused_and_left_as_it_is(there: str, folder: Path) -> None:
    mine = folder / "mine"
    match there:
        case "file":
            mine.write_text("mine")
        case "folder":
            mine.mkdir()
        case _:
            mine.symlink_to("nowhere")
    before = os.lstat(mine)
    code, _, told = new("python", "mine")
    assert (code, told) == (2, ["referee: mine is there already: take another name, or remove it"])
    assert os.lstat(mine) == before
    assert [path.name for path in folder.iterdir()] == ["mine"]


def test_a_folder_that_takes_no_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        make(KITS["python"], "mine", tmp_path / "file")


def test_what_is_missing_is_said_with_the_packages_that_bring_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    code, _, told = new("javascript", "mine")
    assert (code, told) == (0, ["`node`: not found on PATH; on Debian and Ubuntu: sudo apt install nodejs"])
    assert (folder / "mine").is_dir()


def test_a_program_that_bots_will_not_see_is_told_with_what_would_help(
    public_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = public_path / "opt" / "bin" / "mylanguage"
    program.parent.mkdir(parents=True)
    shutil.copy("/bin/true", program)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    kit = KITS["python"]._replace(uses=("mylanguage",))
    (told,) = missing_tools(kit)
    home = public_path / "opt"
    assert f'runtime = ["{home}"] in bot.toml and play with --allow-runtime {home}' in told


def test_a_compiler_that_boxes_may_be_let_see_is_so_in_the_command_that_builds(
    public_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told_at = {}
    for home in (public_path / "opt", folder / "opt"):
        program = home / "bin" / "mycompiler"
        program.parent.mkdir(parents=True)
        shutil.copy("/bin/true", program)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
        kit = KITS["go"]._replace(folder=str(folder / "kit"))
        shutil.copytree(KITS["go"].path, folder / "kit", dirs_exist_ok=True)
        (folder / "kit" / "bot.toml").write_text('command = ["./bot"]\nbuild = ["mycompiler"]\n')
        told_at[home] = runtimes_of(kit), missing_tools(kit)
    assert told_at[public_path / "opt"] == ((public_path / "opt",), [])
    if os.geteuid() == 0:  # pytest's own folder is closed to others
        runtimes, (sentence,) = told_at[folder / "opt"]
        assert runtimes == ()
        assert "closed to others" in sentence


# -- installed


def test_what_building_a_kit_leaves_in_it_is_in_no_package(tmp_path: Path) -> None:
    """Whatever its `.botignore` names, wherever somebody compiled it in a checkout."""
    source = tmp_path / "source"
    left = [
        kit.folder + "/" + name.strip("/")
        for kit in KITS.values()
        if (kit.path / ".botignore").exists()
        for name in (kit.path / ".botignore").read_text("utf-8").split()
    ]
    for part in ("referee", "protocol", "example_bots"):
        shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns(*(Path(name).name for name in left)))
    for file in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / file, source)
    for name in left:
        (source / "example_bots" / name).mkdir()
        (source / "example_bots" / name / "left").touch()
    done = python("-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist"), cwd=source)
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "dist").iterdir()
    with zipfile.ZipFile(wheel) as file:
        packed = file.namelist()
    assert len(left) > 4 and [name for name in packed if name.endswith("/left") or "__pycache__" in name] == []
    roots = {name.partition("/")[0] for name in packed if ".dist-info/" not in name}
    assert roots == {"referee", "protocol"}


def test_an_installed_package_makes_the_same_bots(folder: Path) -> None:
    done = python("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist"), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    (wheel,) = (folder / "dist").iterdir()
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder / "site")
    installed = {"PYTHONPATH": str(folder / "site")}
    away = folder / "away"
    away.mkdir()
    for language, kit in KITS.items():
        done = referee_command("new", language, language, cwd=away, env=installed)
        assert done.returncode == 0, done.stderr
        make(kit, language, folder)
        assert scan(away / language).hash() == scan(folder / language).hash()
    done = python("-c", "import referee.kits; print(referee.kits.KITS['python'].path)", cwd=away, env=installed)
    assert Path(done.stdout.strip()).is_relative_to(folder / "site")
