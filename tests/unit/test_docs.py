"""The pages: commands exist, what there is has a page, tables list what there is, links lead on.

Their examples are run by `tests/system/docs/test_examples.py`, and the site that is made of them is in `tests/system/docs/test_site.py`.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import tomllib
from dataclasses import fields
from itertools import pairwise
from math import comb
from pathlib import Path

import pytest
from command_line import ROOT
from pages import (
    EVERYWHERE,
    PAGES,
    PARSER,
    blocks,
    command_of,
    commands_in,
    fences,
    language_of,
    options,
    parse,
    spans,
    tables,
    tokens,
)

from referee.bots.building.workshop import ENTRIES
from referee.bots.process import process, streams
from referee.bots.process.environment import bare_environment
from referee.bots.process.limits import Limits
from referee.bots.process.workbench import DEFAULT_BUILD
from referee.bots.source import tree
from referee.bots.source.botfile import BotFile, parse_botfile
from referee.bots.source.ignoring import LEFT_OUT
from referee.bots.source.kinds import SUFFIXES, recipe_for
from referee.cli.main import COMMANDS
from referee.errors import Verdict
from referee.record import Fault, GameRecord, Step
from referee.site import sheet
from referee.tournament.rounds.schedule import BLOCK_SIZE

LANGUAGES = {"sh", "console", "python", "ts", "go", "rust", "toml", "json", "yaml", "csv", "text", "", "{eval-rst}"}
SHELL = [
    re.sub(r"^\w*\$ +", "", line.partition(" #")[0].strip())
    for page in PAGES
    for language in ("sh", "console", "yaml")
    for block in blocks(page, language)
    for line in block.splitlines()
    if re.match(r"\w*\$ ", line) or language != "console"
]
LINES = dict.fromkeys(line for line in SHELL if "referee" in line and commands_in(line))


# -- commands


def test_there_are_commands_in_the_pages() -> None:
    assert len(LINES) > 20
    assert {words[0] for line in LINES for words in commands_in(line)} == set(COMMANDS)


@pytest.mark.parametrize("line", LINES)
def test_a_command_of_a_page_is_one_of_ours(line: str) -> None:
    for words in commands_in(line):
        parse(words)


# -- what is named exists, and what exists is named


@pytest.mark.parametrize("page", sorted({*PAGES} - {"benchmarks/README.md"}))  # whose options are its programs'
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
        code = "\n".join([*spans(page), *blocks(page, "sh"), *blocks(page, "console")])
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
"""What is kept of a fault; `tests/system/bots/test_blame.py` holds the program to it."""


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
    files, columns = tables("leaderboard.md", "## The leaderboard")
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
    entries, size, seen, names = tree.AS_GIVEN
    for words in (
        f"{entries:,} files, folders and links, {size >> 20} MiB",
        f"it may have {seen:,}, whose names have at most {names:,} characters",
        *(f"`{pattern}`" for pattern in LEFT_OUT),
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
    assert {language_of(fence) for fence in fences(page)} <= LANGUAGES
    for block in blocks(page, "python"):
        compile(block, page, "exec")
    for block in blocks(page, "toml"):
        assert tomllib.loads(block)  # a tournament file begins with its schema and has tests of its own
        assert block.startswith("#:schema ") or parse_botfile(block.encode())
    for block in blocks(page, "json"):
        for document in block.splitlines() if page == "protocol/README.md" else [block]:
            json.loads(document)
    for block in blocks(page, "csv"):
        assert len({len(row) for row in csv.reader(block.splitlines())}) == 1


# -- links

OURS = [
    path
    for path in sorted(ROOT.rglob("*.md"))
    if not any(
        part.startswith(".") or part in ("node_modules", "first-league", "_build")
        for part in path.relative_to(ROOT).parts
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
