"""What sphinx-click writes of our commands, in the words of the command line: variables, defaults, examples as code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import click
from sphinx.application import Sphinx

from referee.cli.main import cli

OPTION = re.compile(r"\.\. option:: (?P<name>--?[\w-]+)")


def escaped(line: str) -> str:
    """A line of help as it is, nothing of it markup but words in backticks.

    What a shell expands would be emphasis in reStructuredText, and `bot@hash` an address.
    """
    if line.lstrip().startswith(".."):
        return line
    parts = line.split("`")
    parts[::2] = [re.sub(r"(?<!\*)[*@](?!\*)", r"\\\g<0>", part) for part in parts[::2]]
    return "`".join(parts)


def _describe(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    del app, context
    lines[:] = [escaped(line) for line in lines]


def option_lines(variables: dict[str, str], lines: list[str]) -> Iterator[str]:
    """The options with their defaults as one types them, each with its variable; `variables` has them by option."""
    starts = [number for number, line in enumerate(lines) if OPTION.match(line)]
    for start, end in pairwise([*starts, len(lines)]):
        head, *body = lines[start:end]
        if head.count("[") > head.count("]"):
            head = head[:-1] + "]>"  # sphinx-click cuts a bracket off what is optional
        fields = [re.sub("``'(.*)'``", r"``\1``", line) for line in body if line.startswith("    :")]
        found = OPTION.match(head)
        if found and found["name"] in variables:
            fields.append(f"    :environment: ``{variables[found['name']]}``")
        words = [escaped(line) for line in body if line.strip() and not line.startswith("    :")]
        yield from (head, "", *words, "", *fields, "")


def _list_options(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    del app
    options = [option for option in context.command.params if isinstance(option, click.Option)]
    variables = {name: str(option.envvar) for option in options if option.envvar for name in option.opts}
    lines[:] = option_lines(variables, lines)


def _forget(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    del app, context
    lines.clear()


def _show_examples(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    del app, context
    shown = [line.removeprefix("| ") for line in lines if line.startswith("| ")]
    rest = [escaped(line) for line in lines if not line.startswith("| ")]
    if shown and shown[0].startswith("Example"):
        shown = [".. rubric:: Examples", "", ".. code-block:: sh", "", *(f"    {line}" for line in shown[1:]), ""]
    lines[:] = [*shown, *rest]


def _complete(app: Sphinx) -> None:
    """Give commands that take another's options when they are used theirs now: sphinx-click reads `params` alone."""
    del app
    owed: list[click.Command] = [cli]
    while owed:
        command = owed.pop()
        context = click.Context(command)
        command.params = [one for one in command.get_params(context) if "--help" not in one.opts]
        if isinstance(command, click.Group):
            owed += filter(None, (command.get_command(context, name) for name in command.list_commands(context)))


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("builder-inited", _complete)
    app.connect("sphinx-click-process-description", _describe)
    app.connect("sphinx-click-process-options", _list_options)
    app.add_event("sphinx-click-process-envars")  # sphinx-click 6.2 emits it under another name than it adds
    app.connect("sphinx-click-process-envars", _forget)  # each option says its own, and acts have none
    app.connect("sphinx-click-process-epilog", _show_examples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
