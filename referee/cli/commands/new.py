"""`referee new`: a bot of one's own from a starter kit, in any of some languages."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from referee.cli.streams import echo_line
from referee.errors import InputError
from referee.kits import KITS, Kit, botfile_of, find_kit, make, missing_tools, packages_of, runtimes_of

_EXAMPLES = """\b
Examples:
  referee new                    which languages there are
  referee new python mybot
  referee new rust bots/mybot
"""


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name, help=kit.language) for name, kit in KITS.items() if name.startswith(incomplete)]


@click.command(short_help="Make a bot of your own from a starter kit.", epilog=_EXAMPLES)
@click.argument("language", required=False, shell_complete=_complete)
@click.argument("name", required=False)
def command(language: str | None, name: str | None) -> None:
    """Copy the starter kit of LANGUAGE to the new folder NAME, a path: a whole bot with one function to change.

    Without a language, tell which there are. Exit code 0: the folder is there, and the next commands are told.
    """
    if language is None:
        _tell_languages()
        return
    word, kit = find_kit(language)
    if name is None:
        raise InputError(f"the bot needs a name: referee new {word} NAME")
    path = Path(name)
    make(kit, path.name, path.parent)
    name = str(path)
    echo_line(f"{name} is a bot in {kit.language}: change `choose` in {name}/{kit.source}")
    for line in _next_commands(kit, name):
        echo_line(f"  {line}")
    for sentence in missing_tools(kit):
        click.echo(sentence, err=True)


def _next_commands(kit: Kit, name: str) -> Iterator[str]:
    if botfile_of(kit).build:
        fetch = " --fetch" if kit.fetches else ""
        allowed = "".join(f" --allow-runtime {shlex.quote(str(folder))}" for folder in runtimes_of(kit))
        yield f"referee build {shlex.quote(name)}{fetch}{allowed}"
    yield f"referee check {shlex.quote(name)}"
    yield f"referee match {shlex.quote(name)} {shlex.quote(name)} --deals 1 --show"


def _tell_languages() -> None:
    width = max(map(len, KITS))
    click.echo("referee new LANGUAGE NAME, where LANGUAGE is one of:")
    for word, kit in KITS.items():
        fetches = "; its build fetches packages" if kit.fetches else ""
        click.echo(f"  {word:{width}}  {kit.language}: {', '.join(packages_of(kit))}{fetches}")
