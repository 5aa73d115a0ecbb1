"""The pages: commands exist and run, examples are what the program writes, tables list what there is, links lead on."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from click.testing import CliRunner
from command_line import BEST_SANDBOX, ROOT, environment
from markdown_it import MarkdownIt
from markdown_it.token import Token
from records import ANNA, BERT, played
from rounds import a_round, database, play

from referee.bots import process, streams, tree
from referee.bots.botfile import BotFile, parse_botfile
from referee.bots.environment import bare_environment
from referee.bots.kinds import SUFFIXES, recipe_for
from referee.bots.limits import Limits
from referee.bots.sandbox.building import ENTRIES
from referee.bots.workbench import DEFAULT_BUILD
from referee.cards import names, shuffled
from referee.cli.main import COMMANDS, Loudness, cli
from referee.cli.publishing import about
from referee.errors import Verdict
from referee.ratings import rate
from referee.ratings.published import Pair
from referee.record import Fault, GameRecord, Step, replay
from referee.site import data, sheet
from referee.store import Stored, open_store
from referee.tournament.rounds import Round
from referee.tournament.schedule import BLOCK_SIZE, Share

PAGES = {path.name: path.read_text("utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
PARSER = MarkdownIt("commonmark").enable("table")
LANGUAGES = {"sh", "python", "toml", "json", "csv", "text", ""}
CONTEXT = click.Context(cli, **cli.context_settings, obj=Loudness())


@cache
def tokens(text: str) -> tuple[Token, ...]:
    return tuple(token for outer in PARSER.parse(text) for token in outer.children or [outer])


def blocks(page: str, language: str) -> list[str]:
    return [token.content for token in tokens(PAGES[page]) if token.type == "fence" and token.info == language]


def spans(page: str) -> list[str]:
    """The code in a page's running text and tables."""
    return [token.content for token in tokens(PAGES[page]) if token.type == "code_inline"]


def commands_in(line: str) -> list[list[str]]:
    """The words behind `referee`, of each of its commands in a line of shell."""
    found: list[list[str]] = [[]]
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words = iter(lexer)
    for word in words:
        if word in ("<", ">"):
            next(words)
        elif set(word) <= set("|&;"):
            found.append([])
        elif found[-1] or "=" not in word:
            found[-1].append(word)
    return [command[1:] for command in found if command[:1] == ["referee"]]


LINES = {
    line.partition(" #")[0].strip(): None
    for page in PAGES
    for block in blocks(page, "sh")
    for line in block.splitlines()
    if commands_in(line)
}


def is_quick(line: str) -> bool:
    return not re.match("referee (tournament|duel)", line) or "--deals 2 " in line


def inner_commands(name: str) -> list[str]:
    found = subcommand(name)
    return list(found.commands) if isinstance(found, click.Group) else []


def subcommand(name: str) -> click.Command:
    """The command with this name, such as `match` or `db info`."""
    found: click.Command = cli
    for word in name.split():
        assert isinstance(found, click.Group), f"{name} is no command within another"
        inner = found.get_command(CONTEXT, word)
        assert inner is not None, f"there is no command {name}"
        found = inner
    return found


def command_of(words: Sequence[str]) -> str:
    """Which command some words call, those of groups with their second word; "" for `referee` itself."""
    if words[0].startswith("-"):
        return ""
    return " ".join(words[: 1 + (len(words) > 1 and words[1] in inner_commands(words[0]))])


EVERYWHERE = ["", *COMMANDS, *(f"{name} {inner}" for name in COMMANDS for inner in inner_commands(name))]


def parse(words: Sequence[str]) -> dict[str, Any]:
    """What the command line makes of some words, nothing being run. Raises click.ClickException."""
    name = command_of(words)
    if name == "config show":  # it would read the file that it names; its lines are run as a whole
        name = "config"
    with (
        suppress(click.exceptions.Exit),
        subcommand(name).make_context("x", list(words[len(name.split()) :]), CONTEXT if name else None) as ctx,
    ):
        return ctx.params
    return {}


def options(command: str) -> dict[str, click.Option]:
    """A command's options by each of their names; those of `referee` itself where `command` is empty."""
    ours = subcommand(command) if command else cli
    found = ours.get_params(click.Context(ours, CONTEXT))
    return {name: option for option in found if isinstance(option, click.Option) for name in option.opts}


# -- commands


def test_there_are_commands_in_the_pages() -> None:
    assert len(LINES) > 20
    assert {words[0] for line in LINES for words in commands_in(line)} == set(COMMANDS)


@pytest.mark.parametrize("line", LINES)
def test_a_command_of_a_page_is_one_of_ours(line: str) -> None:
    for words in commands_in(line):
        parse(words)


@pytest.fixture(scope="module")
def workshop(public_folder: Path) -> Path:
    """A folder with all that the pages' commands name."""
    folder = public_folder / "workshop"
    folder.mkdir()
    (folder / "bots").mkdir()
    for name in ("first.py", "last.py"):
        shutil.copy(ROOT / "tests" / "bots" / "programs" / "plain" / name, folder / "bots")
    shutil.copytree(ROOT / "example_bots" / "greedy", folder / "example_bots" / "greedy")
    shutil.copytree(ROOT / "protocol" / "transcripts", folder / "protocol" / "transcripts")
    (folder / "mybot").mkdir()
    (folder / "mybot" / "bot.toml").write_text(blocks("README.md", "toml")[0])
    (folder / "mybot" / "bot.py").write_text(blocks("README.md", "python")[0])
    for name in ("referee.db", "league.db"):
        with open_store(folder / name, create=True) as store:
            store.claim()
            store.save_bots({ANNA: {}, BERT: {}})
            store.add([Stored.of(played((ANNA, BERT), game_id="3f9a" + "0" * 12, faults={1: 2}))])
    for number, name in enumerate(("spring.db", "half.db"), 1):
        with database(folder / name, a_round()) as store:
            play(store, share=Share(number, 2))
    (folder / "path").mkdir()
    program = folder / "path" / "referee"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m referee "$@"\n')
    program.chmod(0o755)
    return folder


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    env = environment({"XDG_CACHE_HOME": str(folder / "cache"), **BEST_SANDBOX})
    env["PATH"] = f"{folder / 'path'}:{env['PATH']}"
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("line", [line for line in LINES if is_quick(line)])
def test_a_quick_command_of_a_page_does_its_work(line: str, workshop: Path) -> None:
    done = shell(line, workshop)
    assert (done.returncode, "referee:" in done.stderr) == (0, False), done.stderr
    assert done.stdout or ">" in line or "-o" in line


def test_the_bot_of_the_readme_plays_a_match_without_a_fault(workshop: Path) -> None:
    match = json.loads(shell("referee match mybot mybot mybot --deals 1 --json", workshop).stdout)
    assert [game["faults"] for game in match["games"]] == [[], [], []]
    assert {game["reason"] for game in match["games"]} <= {"emptied", "widows", "stalled"}
    section = tables("records.md", "## `match --json`")
    assert section == [list(match), list(match["bots"][0])]
    assert set(match["games"][0]) == {*GameRecord.__struct_fields__, "bots"}


# -- what is named exists, and what exists is named


@pytest.mark.parametrize("page", PAGES)
def test_options_commands_and_variables_that_a_page_names_exist(page: str) -> None:
    for span in spans(page):
        if re.match(r"--?\w", span):
            assert span.split()[0] in {name for command in EVERYWHERE for name in options(command)}, span
        elif (words := span.split())[0] == "referee" and len(words) > 1:
            command = command_of(words[1:])
            assert {word for word in words if word.startswith("-")} <= set(options(command)), span
    known = {str(option.envvar) for command in EVERYWHERE for option in options(command).values()}
    assert set(re.findall(r"\bREFEREE_[A-Z_]+", PAGES[page])) <= known | {"REFEREE_DB"}


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (command, name)
        for command in EVERYWHERE
        for name in options(command)
        if command != "config show" or name not in options("tournament")
    ],
)
def test_every_option_stands_in_a_page_that_tells_of_its_command(command: str, option: str) -> None:
    shared = option in options("")
    for page in ["tournaments.md"] if shared else PAGES:
        code = "\n".join([*spans(page), *blocks(page, "sh")])
        if re.search(rf"(?<![\w-]){option}(?![\w-])", code) and (shared or f"referee {command}" in code):
            return
    pytest.fail(f"no page tells of {option} of referee {command}")


def test_defaults_are_as_the_pages_say() -> None:
    tournament, limits = parse(["tournament", "x"]), Limits()
    assert (tournament["deals"], tournament["players"], tournament["lineups"]) == (100, (2,), 2000)
    assert parse(["match", "x", "y"])["deals"] == 10
    said = re.findall(r"^\| `--(?:start|move|game)-time` \| (.*?) \|", PAGES["bots.md"], re.MULTILINE)
    assert said == re.findall(r"^\| `--(?:start|move|game)-time` \| (.*?) \|", PAGES["tournaments.md"], re.MULTILINE)
    assert said == ["10 s", "1 s", "none"]
    assert (limits.start_ms, limits.move_ms, limits.game_ms) == (10_000, 1_000, None)


def test_games_are_counted_rightly() -> None:
    rows = re.findall(r"^\| (\d+) \| (\d) \| ([\d,]+).*? \| ([\d,]+) \|$", PAGES["tournaments.md"], re.MULTILINE)
    assert len(rows) == 4
    for bots, players, line_ups, games in rows:
        expected = min(2000, comb(int(bots), int(players)))
        assert (line_ups, games) == (f"{expected:,}", f"{expected * 100 * int(players):,}")


# -- tables


EVIDENCE = ["line", "line_base64", "exit_status", "stderr", "sent", "answered", "us"]
"""What is kept of a fault; `tests/bots/test_blame.py` holds the program to it."""


def tables(page: str, heading: str) -> list[list[str]]:
    """What stands as code in the first column of each table between a heading and the next one."""
    section = re.split("^#+ ", PAGES[page].partition(f"\n{heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    found = re.findall(r"^\|---.*\n((?:\|.*\n)+)", section, re.MULTILINE)
    return [re.findall("`(.*?)`", "".join(row.split("|")[1] for row in table.splitlines())) for table in found]


@pytest.mark.parametrize(
    ("page", "heading", "expected"),
    [
        ("records.md", "## A game", [list(GameRecord.__struct_fields__)]),
        ("records.md", "### Steps", [list(Step.__struct_fields__)]),
        ("records.md", "### Faults", [list(Fault.__struct_fields__), EVIDENCE]),
        ("bots.md", "### `bot.toml`", [[field.name for field in fields(BotFile)]]),
        ("bots.md", "## Verdicts", [[verdict.value for verdict in Verdict]]),
    ],
)
def test_a_table_lists_all_that_there_is_in_order(page: str, heading: str, expected: list[list[str]]) -> None:
    assert tables(page, heading) == expected


def test_the_leaderboards_columns_are_explained() -> None:
    files, columns = tables("tournaments.md", "## The leaderboard")
    assert files == [
        "index.html",
        "standings.md",
        "standings.csv",
        "standings.json",
        "rounds.json",
        "round-1.json",
        "run.json",
    ]
    between = {name for name in sheet.COLUMNS if re.match("place_[2-5]|seat_[1-4]", name)}
    assert {*columns, "players"} >= set(sheet.COLUMNS) - between
    assert set(columns) <= set(sheet.COLUMNS)


def test_each_kind_is_built_and_started_as_the_page_says() -> None:
    rows = re.findall(r"^\| (`\..*?) \| (.*?) ?\| (.*) \|$", PAGES["bots.md"], re.MULTILINE)
    told = {suffix: words for suffixes, *words in rows for suffix in suffixes.replace("`", "").split()}
    assert list(told) == list(SUFFIXES)
    for suffix, words in told.items():
        recipe = recipe_for(f"FILE{suffix}")
        assert recipe is not None
        commands = [*(recipe.build or [()]), recipe.command]
        assert [shlex.join(word.replace(f"FILE{suffix}", "FILE") for word in command) for command in commands] == [
            word.strip("`") for word in words
        ]


def test_the_bounds_of_a_bot_are_as_the_page_says() -> None:
    entries, size = tree.AS_GIVEN
    for words in (
        f"{entries:,} files, folders and links, {size >> 20} MiB",
        f"{ENTRIES:,} files and {DEFAULT_BUILD.size >> 30} GiB",
        f"{DEFAULT_BUILD.seconds:.0f} seconds",
        f"last {streams.KEPT >> 10} KiB",
        f"more than {process.OVERSLEPT // 10**6} ms late",
        *(f"`{name}" for name in bare_environment(Path("x"))),
    ):
        assert words in " ".join(PAGES["bots.md"].split()), words
    assert f"up to {BLOCK_SIZE} deals of every line-up" in PAGES["tournaments.md"]


# -- blocks


@pytest.mark.parametrize("page", PAGES)
def test_blocks_are_valid(page: str) -> None:
    assert {token.info for token in tokens(PAGES[page]) if token.type == "fence"} <= LANGUAGES
    for block in blocks(page, "python"):
        compile(block, page, "exec")
    for block in blocks(page, "toml"):
        assert tomllib.loads(block)  # a tournament file begins with its schema and has tests of its own
        assert block.startswith("#:schema ") or parse_botfile(block.encode())
    for block in blocks(page, "json"):
        json.loads(block)
    for block in blocks(page, "csv"):
        assert len({len(row) for row in csv.reader(block.splitlines())}) == 1


RECORD, EXPORT, STANDINGS = blocks("records.md", "json")
GAMES_CSV, STANDINGS_CSV = blocks("records.md", "csv")


def test_the_example_is_a_game_that_the_rules_confirm() -> None:
    record = GameRecord.from_json(RECORD)
    assert json.loads(record.to_json()) == json.loads(RECORD)
    assert [moment.step for moment in replay(record)] == list(record.steps)
    assert record.key is not None and list(record.deck) == names(shuffled(bytes.fromhex(record.key)))
    assert set(record.faults[0].evidence) == set(tables("records.md", "### Faults")[1])


@pytest.fixture
def example(tmp_path: Path) -> str:
    """A database with the game of the page and what it says of its tournament."""
    record, said = GameRecord.from_json(RECORD), json.loads(EXPORT)
    words = {bot["name"]: {key: bot[key] for key in ("language", "author")} for bot in said["bots"]}
    with open_store(tmp_path / "example.db", create=True) as store:
        store.claim()
        [told] = said["rounds"]
        secret = bytes.fromhex("00112233445566778899aabbccddeeff")
        shown = Round(text=msgspec.json.encode(told["manifest"]), secret=secret)
        assert shown.commitment == told["commitment"]
        store.open_round(shown.stored())
        store.save_bots({bot: words[bot.name] for bot in record.seats})
        store.add([Stored.of(record)])
    return str(tmp_path / "example.db")


def test_the_examples_are_what_is_printed_of_that_game(example: str) -> None:
    def printed(*words: str) -> str:
        return CliRunner().invoke(cli, [*words, "--db", example], catch_exceptions=False).stdout

    assert json.loads(printed("export")) == json.loads(RECORD)
    assert printed("export", "--format", "csv") == GAMES_CSV
    with open_store(example) as store:  # one game is no whole deal, so the command would leave it out
        standings, words = rate(store.results()), about(store).cleaned()
    assert sheet.render(standings, words) == STANDINGS_CSV
    told = json.dumps(json.loads(STANDINGS), indent=2, ensure_ascii=False)
    assert data.render(standings, words).split() == told.split()
    ours, told = json.loads(printed("export", "--format", "json")), json.loads(EXPORT)
    assert ours.pop("referee") and told.pop("referee") and ours == told


def test_the_tables_of_the_published_documents_list_their_fields() -> None:
    export, standings = json.loads(EXPORT), json.loads(STANDINGS)
    [told] = export["rounds"]
    manifest = ["format", "game", "season", "round", *list(told["manifest"])[4:]]
    assert tables("records.md", "### `json`") == [list(export), list(told), manifest, list(export["games"][0])]
    assert tables("records.md", "## `rounds.json` and `round-N.json`") == [list(standings["rounds"][0])]
    [table] = standings["tables"]
    *whole, rows, seat, strength, pair = tables("records.md", "## `standings.json`")
    assert whole == [list(standings), list(table)] and sorted(rows) == sorted(table["rows"][0])
    assert (seat, strength) == (list(table["rows"][0]["seats"][0]), list(table["rows"][0]["strength"]))
    assert pair == list(Pair.__struct_fields__)
    named = {name for name in tables("records.md", "### `csv`")[0] if not name.endswith("5")}
    assert named == {name for name in GAMES_CSV.partition("\n")[0].split(",") if not re.search("_[1-5]$", name)}


def test_the_program_on_the_records_page_counts_faults(tmp_path: Path) -> None:
    (tmp_path / "games.jsonl").write_bytes(GameRecord.from_json(RECORD).to_json() + b"\n")
    [program] = blocks("records.md", "python")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "mybot illegal_action 1\n"


# -- links

OURS = [
    path
    for path in sorted(ROOT.rglob("*.md"))
    if not any(
        part.startswith(".") or part in ("node_modules", "first-league") for part in path.relative_to(ROOT).parts
    )
]


def slug(heading: str) -> str:
    """The anchor that a forge gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(text: str) -> set[str]:
    stream = pairwise(PARSER.parse(text))
    return {slug(token.content) for before, token in stream if before.type == "heading_open"}


@pytest.mark.parametrize("path", OURS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_lead_somewhere(path: Path) -> None:
    for token in tokens(path.read_text("utf-8")):
        link = str(token.attrs.get("href") or token.attrs.get("src") or "")
        if not link or re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), f"{path.name}: {link}"
        assert not anchor or anchor in anchors(target.read_text("utf-8")), f"{path.name}: {link}"
