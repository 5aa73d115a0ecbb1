"""The frame of the command line: which commands there are, how loud they are, and how they end."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from referee.cli import exit_codes
from referee.cli.interrupts import quit_on_signals
from referee.cli.memory import RATING, check_address_space
from referee.cli.streams import careful_streams
from referee.version import __version__

COMMANDS = {
    "new": "Make a bot of your own from a starter kit.",
    "tournament": "Play a round robin between bots and publish its leaderboard.",
    "duel": "Find out whether a bot is better than another, in as few deals as that takes.",
    "plan": "How many deals it takes to tell two bots apart.",
    "match": "Play some games between a few bots.",
    "check": "Find out whether a bot keeps to the protocol.",
    "build": "Build bots before they are needed, with the network if you say so.",
    "doctor": "Tell what this machine can do, and what would improve it.",
    "standings": "Show the table of a database.",
    "compare": "Tell why one bot stands above another.",
    "collusion": "Name pairs of bots that do suspiciously well for each other.",
    "replay": "Show a game as it was played.",
    "bundle": "Write what an author needs to see why a bot lost a game.",
    "replay-bot": "Tell a bot once more what it was told in a game, and compare.",
    "export": "Write the games of a database as JSON or CSV.",
    "db": "Look after a database: info, check, backup, merge.",
    "config": "Show a tournament's settings and where they come from.",
    "completion": "Print the script that completes commands in your shell.",
}
"""By name: one line of help. The modules behind them are imported only when used."""

_EPILOG = """\b
Examples:
  referee tournament bots/*
  referee match bots/mine bots/theirs --show
  referee standings

Options can be set in the environment: --jobs of tournament by REFEREE_TOURNAMENT_JOBS, and --db of all commands
but duel and plan by REFEREE_DB. NO_COLOR is respected. Exit codes: 0 done, 1 the answer is no, 2 bad input,
3 no verdict, 70 internal error, 130 interrupted.
"""


@dataclass(frozen=True, slots=True)
class Loudness:
    """How much to say: `level` is how often `-v` was given, less how often `-q` was."""

    level: int = 0

    @property
    def quiet(self) -> bool:
        """Results and errors alone."""
        return self.level < 0

    @property
    def verbose(self) -> bool:
        """More than usual, tracebacks included."""
        return self.level > 0


def _change(ctx: click.Context, by: int) -> None:
    root = ctx.find_root()
    level = root.obj.level if isinstance(root.obj, Loudness) else 0
    root.obj = ctx.obj = Loudness(level + by)


def _loudness_options() -> list[click.Parameter]:
    """For the whole and, since people write them there, for every command."""
    return [
        click.Option(
            ["-q", "--quiet"],
            count=True,
            expose_value=False,
            callback=lambda ctx, _, times: _change(ctx, -times),
            help="Say nothing but results and errors.",
        ),
        click.Option(
            ["-v", "--verbose"],
            count=True,
            expose_value=False,
            callback=lambda ctx, _, times: _change(ctx, times),
            help="Show the traceback of an internal error.",
        ),
    ]


def _dress(command: click.Command, name: str) -> None:
    """Give a command and, if it is a group, each of its commands what all commands have."""
    command.params += _loudness_options()
    _name_in_environment(command, name)
    if isinstance(command, click.Group):
        for inner_name, inner in command.commands.items():
            _dress(inner, f"{name}-{inner_name}")


def _name_in_environment(command: click.Command, name: str) -> None:
    """Let REFEREE_COMMAND_OPTION be as the option is written; click would take the parameter's name."""
    for option in command.params:
        if isinstance(option, click.Option) and option.allow_from_autoenv:
            longest = max(option.opts, key=len)
            option.envvar = f"REFEREE_{name}_{longest.lstrip('-')}".replace("-", "_").upper()


class Frame(click.Group):
    """The group of all commands, each imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order in which people meet them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command, which its module calls `command`."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        if cmd_name in RATING:
            check_address_space()
        with quit_on_signals():  # an exception would end up in the middle of some import
            command = import_module(f"referee.cli.commands.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        command.name = cmd_name
        if cmd_name not in self.commands:
            _dress(command, cmd_name)
            self.commands[cmd_name] = command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name those that come near."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(COMMANDS)}"
            ctx.fail(f"there is no command {args[0]!r}: {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete commands without importing them."""
        found = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line and leave with its exit code."""
        del prog_name, windows_expand_args  # the name is ours however we were started, and a shell expands
        extra.setdefault("obj", Loudness())
        words = list(sys.argv[1:] if args is None else args)
        if not standalone_mode:
            return super().main(words, "referee", complete_var, standalone_mode=False, **extra)
        with careful_streams():
            self._main_shell_completion(extra, "referee", complete_var)
            code = self._run(words, extra)
        sys.exit(code)

    def _run(self, words: list[str], extra: dict[str, Any]) -> int:
        begun: list[click.Context] = []

        def work() -> None:
            with self.make_context("referee", words, **extra) as ctx:
                begun.append(ctx)
                self.invoke(ctx)

        return exit_codes.run(work, is_verbose=lambda: any(ctx.obj.verbose for ctx in begun))


@click.command(
    cls=Frame,
    invoke_without_command=True,
    epilog=_EPILOG,
    params=_loudness_options(),
    context_settings={
        "auto_envvar_prefix": "REFEREE",
        "help_option_names": ["-h", "--help"],
        "max_content_width": 110,
    },
)
@click.version_option(__version__, prog_name="referee", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """A tournament referee for programs that play Four Widows, a card game of hidden hands."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """The console script `referee`."""
    cli.main()
