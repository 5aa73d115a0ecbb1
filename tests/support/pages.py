"""The pages: what stands in them, and what the command line makes of the commands that they show."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import click
from command_line import ROOT
from markdown_it import MarkdownIt
from markdown_it.token import Token

from referee.cli.main import COMMANDS, Loudness, cli

FRONT = "docs/index.md"
OTHERS = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "protocol/README.md", "benchmarks/README.md"]
PAGES = {
    **{name: (ROOT / name).read_text("utf-8") for name in OTHERS},
    **{str(path.relative_to(ROOT / "docs")): path.read_text("utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))},
}
"""All pages by name, those of docs/ by the name of their file."""
PARSER = MarkdownIt("commonmark").enable("table")
CONTEXT = click.Context(cli, **cli.context_settings, obj=Loudness())


@cache
def tokens(text: str) -> tuple[Token, ...]:
    """A page's blocks, and what is in its running text, in their order."""
    return tuple(token for outer in PARSER.parse(text) for token in outer.children or [outer])


def fences(page: str) -> list[Token]:
    """A page's blocks of code."""
    return [token for token in tokens(PAGES[page]) if token.type == "fence"]


def language_of(fence: Token) -> str:
    """The first word behind the fence; more may follow, such as why a block is not run."""
    return fence.info.partition(" ")[0]


def blocks(page: str, language: str) -> list[str]:
    """A page's code in one language."""
    return [token.content for token in fences(page) if language_of(token) == language]


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


def inner_commands(name: str) -> list[str]:
    """The commands of a group, none of another command."""
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
    if words[:2] == ["tournament", "--file"]:  # which is read at once, and where it is there names the bots
        words = ["tournament", "bots", *words[3:]]
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


def tables(page: str, heading: str) -> list[list[str]]:
    """What stands as code in the first column of each table between a heading and the next one."""
    section = re.split("^#+ ", PAGES[page].partition(f"\n{heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    found = re.findall(r"^\|---.*\n((?:\|.*\n)+)", section, re.MULTILINE)
    return [re.findall("`(.*?)`", "".join(row.split("|")[1] for row in table.splitlines())) for table in found]
