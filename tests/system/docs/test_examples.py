"""Every example of a page runs: shell in a folder that has what the page names, Python as the page says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from command_line import BEST_SANDBOX, ROOT, environment
from markdown_it.token import Token
from pages import PAGES, blocks, fences, language_of, tables
from records import ANNA, BERT, played
from rounds import a_round, database, play

from referee.record import GameRecord
from referee.store import Stored, open_store
from referee.tournament.rounds.schedule import Share

NOT_RUN = re.compile(r"not run: \w.*")
"""What stands behind the language of a block that only some other machine could run, with the reason."""
FEW = {
    "REFEREE_TOURNAMENT_DEALS": "2",
    "REFEREE_TOURNAMENT_MAX_DEALS": "4",
    "REFEREE_TOURNAMENT_JOBS": "1",
    "REFEREE_DUEL_MAX_DEALS": "4",
    "REFEREE_DUEL_JOBS": "1",
    "REFEREE_MATCH_DEALS": "1",
}
"""What the commands of the pages play here where they do not say how much."""

PROGRAM = f"""#!{sys.executable}
# The command as it is, but that it plays 4 deals where it is told to play more, and that no verdict of a duel is a
# failure.
import os
import sys

words = sys.argv
for option in "--deals", "--max-deals":
    if option in words and "IN_FULL" not in os.environ:
        words[words.index(option) + 1] = str(min(4, int(words[words.index(option) + 1])))
from referee.cli.main import main

try:
    main()
except SystemExit as ended:
    sys.exit(0 if words[1] == "duel" and ended.code in (1, 3) else ended.code)
"""


def is_shell(fence: Token) -> bool:
    return language_of(fence) in ("sh", "console", "yaml")


def is_run(fence: Token) -> bool:
    return is_shell(fence) and not NOT_RUN.search(fence.info)


def script(fence: Token) -> str:
    """What a block of shell runs: all of it, what a step of a workflow runs, or what follows prompts."""
    if language_of(fence) == "sh":
        return fence.content
    if language_of(fence) == "yaml":
        return dedent(fence.content.partition("run: |\n")[2])
    return "\n".join(re.findall(r"^\w*\$ +(.*)", fence.content, re.MULTILINE))


def shape(output: str) -> str:
    """A pattern of all outputs that differ from this one in numbers and hashes alone; `…` stands for anything."""
    words = (
        "[0-9a-f]+"
        if re.fullmatch("[0-9a-f]{8,}", part)
        else r"[\d.,]+"
        if part[0].isdigit()
        else r"\s+"
        if part.isspace()
        else ".*?"
        if part == "…"
        else re.escape(part)
        for part in re.findall(r"[0-9a-f]{8,}|\d[\d.,]*|\s+|…|[^\d\s…]+", output.strip())
    )
    return r"\s*" + "".join(words) + r"\s*"


# -- where they run


@pytest.fixture(scope="module")
def workshop(public_folder: Path) -> Path:
    """A folder with all that the pages' commands name, and a `path` with the command itself."""
    folder = public_folder / "workshop"
    for name in "bots", "duelling", "released", "path":
        (folder / name).mkdir(parents=True)
    programs = ROOT / "tests" / "system" / "bots" / "programs" / "plain"
    for name in "first.py", "last.py":
        shutil.copy(programs / name, folder / "bots")
    for name in "third.py", "fourth.py":
        shutil.copy(programs / "first.py", folder / "bots" / name)
    for name, program in ("mine-1", "first"), ("mine-2", "last"), ("mine", "first"):
        bot(folder / "duelling" / name, (programs / f"{program}.py").read_text())
    bot(folder / "released" / "mine", (programs / "last.py").read_text())
    for name in "greedy", "memory", "pairs", "random":
        shutil.copytree(ROOT / "example_bots" / name, folder / "example_bots" / name)
    shutil.copytree(ROOT / "protocol" / "transcripts", folder / "protocol" / "transcripts")
    bot(folder / "mybot", blocks("README.md", "python")[0])
    (folder / "uploads").mkdir()
    for name in "anna", "bert", "carla", "dora":
        shutil.make_archive(str(folder / "uploads" / name), "zip", folder, "mybot")
    databases(folder)
    program = folder / "path" / "referee"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return folder


def bot(folder: Path, program: str) -> None:
    folder.mkdir()
    (folder / "bot.toml").write_text(blocks("README.md", "toml")[0])
    (folder / "bot.py").write_text(program)


def databases(folder: Path) -> None:
    (folder / "games.jsonl").write_bytes(played((ANNA, BERT), faults={1: 2}).to_json() + b"\n")
    for name in ("referee.db", "league.db"):
        with open_store(folder / name, create=True) as store:
            store.claim()
            store.save_bots({ANNA: {}, BERT: {}})
            store.add([Stored.of(played((ANNA, BERT), game_id="3f9a" + "0" * 12, faults={1: 2}))])
    for number, name in enumerate(("spring.db", "half.db"), 1):
        with database(folder / name, a_round()) as store:
            play(store, share=Share(number, 2))


FROM_NOTHING = {"first-bot.md": ["example_bots"], "running-a-contest.md": ["example_bots", "uploads"]}
"""Pages that make all they name, but for what is listed."""
IN_FULL = {"first-bot.md"}
"""Pages whose games are played as they say, since what they show depends on it."""


@pytest.fixture
def bench(workshop: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder of its own for a page, with the files that its examples start from."""
    page = request.getfixturevalue("page")
    with tempfile.TemporaryDirectory(dir=workshop.parent) as name:
        folder = Path(name)
        folder.chmod(0o755)
        for path in workshop.iterdir():
            if path.name in FROM_NOTHING.get(page, [path.name]) and path.name not in ("path", "cache"):
                (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)
        if page == "duel.md":
            shutil.rmtree(folder / "bots")
            (folder / "duelling").rename(folder / "bots")
        yield folder


def shell(code: str, folder: Path, workshop: Path, *, few: bool = True) -> subprocess.CompletedProcess[str]:
    """Run some shell; with `few`, with no more than a few deals."""
    env = environment({"XDG_CACHE_HOME": str(workshop / "cache"), "COLUMNS": "100", **BEST_SANDBOX})
    env |= FEW if few else {"IN_FULL": "1"}
    env["PATH"] = f"{workshop / 'path'}:{env['PATH']}"
    return subprocess.run(
        ["sh", "-e", "-c", code], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip


# -- they run


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(is_run(fence) or fence.info == "python" for fence in fences(page))]
)
def test_the_examples_of_a_page_do_their_work(page: str, bench: Path, workshop: Path) -> None:
    """Block after block in one folder: shell is run, files are written where it says so, and Python is run at last."""
    printed = ""
    for fence in fences(page):
        if is_run(fence):
            done = shell(script(fence), bench, workshop, few=page not in IN_FULL)
            assert done.returncode == 0, f"{page}: {fence.content}{done.stdout}{done.stderr}"
            printed = done.stdout + done.stderr
        elif fence.info == "text printed by it":
            assert re.fullmatch(shape(fence.content), printed, re.DOTALL), f"{page} shows other words than:\n{printed}"
        elif place := re.fullmatch(r"(python|toml) in (\S+)", fence.info):
            put_into(bench / place[2], fence.content)
        elif fence.info == "python":
            run_program(fence.content, bench, workshop)


def run_program(program: str, folder: Path, workshop: Path) -> None:
    """Have a program that answers `hello` play a match, and any other run to its end."""
    if '"hello"' in program:
        bot(folder / "shown", program)
        match = json.loads(shell("referee match shown shown --deals 2 --json", folder, workshop).stdout)
        assert [game["faults"] for game in match["games"]] == [[]] * 4
    else:
        subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment(), check=True, timeout=600)


def put_into(path: Path, function: str) -> None:
    """Write a function into a program, in place of its function of that name; anything else is a file of its own."""
    if path.suffix != ".py":
        path.write_text(function, "utf-8")
        return
    [name] = re.findall(r"^def (\w+)\(", function, re.MULTILINE)
    text, times = re.subn(
        rf"^def {name}\(.*?(?=^\S)",
        lambda _: function + "\n\n",
        path.read_text("utf-8"),
        flags=re.DOTALL | re.MULTILINE,
    )
    assert times == 1, f"{path.name} has no function {name}"
    path.write_text(text, "utf-8")


def test_a_pattern_of_an_output_knows_numbers_and_gaps_and_nothing_else() -> None:
    assert re.fullmatch(shape("✓ 12 games, 0.5 ms\n"), "✓ 7 games,  1,000 ms")
    assert re.fullmatch(shape("a\n…\nz"), "a\nb\nc\nz", re.DOTALL)
    assert not re.fullmatch(shape("✓ 12 games"), "✗ 12 games")
    assert not re.fullmatch(shape("a.b"), "axb")


def test_what_is_not_run_says_why() -> None:
    reasons = [fence.info for page in PAGES for fence in fences(page) if is_shell(fence) and " " in fence.info]
    assert [reason for reason in reasons if not NOT_RUN.fullmatch(reason.partition(" ")[2])] == []


@pytest.mark.parametrize("page", PAGES)
def test_what_is_shown_as_text_is_no_command(page: str) -> None:
    """A command in a block of text would be run by nobody: such blocks are `sh`, or `console` with prompts."""
    for text in [*blocks(page, "text"), *blocks(page, "")]:
        assert not re.search(r"^(\w*\$ +)?(referee (?!\W)|python3? |pip |cd |mkdir )", text, re.MULTILINE), text


def test_the_bot_of_the_readme_plays_a_match_without_a_fault(workshop: Path) -> None:
    match = json.loads(shell("referee match mybot mybot mybot --deals 1 --json", workshop, workshop).stdout)
    assert [game["faults"] for game in match["games"]] == [[], [], []]
    assert {game["reason"] for game in match["games"]} <= {"emptied", "widows", "stalled"}
    section = tables("records.md", "## `match --json`")
    assert section == [list(match), list(match["bots"][0])]
    assert set(match["games"][0]) == {*GameRecord.__struct_fields__, "bots"}
