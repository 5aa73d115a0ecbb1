"""`referee build`: bots are built before they are needed, with the network where the organiser gives it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from referee.bots.cache.build import BuildFailed
from referee.bots.cache.prepare import build_log, hash_of, prepare
from referee.bots.cache.scratch import sweep
from referee.bots.process.workbench import DEFAULT_BUILD, BuildLimits
from referee.bots.source.manifest import BotSpec, find_bots
from referee.bots.source.programs import HostView
from referee.bots.tiers import Tier
from referee.cli.exit_codes import ExitCode
from referee.cli.options.common import Command, Duration, with_options
from referee.cli.options.sandbox import (
    AUTO,
    allow_option,
    processes_option,
    sandbox_option,
    settle,
    size_option,
    tell,
)
from referee.cli.output.listening import TerminalListener
from referee.cli.preparing import tell_left_out
from referee.cli.streams import echo_line
from referee.contest.isolation import Isolation
from referee.contest.loading import ReportingBuilder
from referee.errors import BotsRefused, InputError, refusal_lines

_EXAMPLES = """\b
Examples:
  referee build bots/*
  referee build mybot --fetch
  referee build mybot --rebuild --time 20m --memory 4G
  referee build mybot --log
"""


@dataclass(frozen=True, slots=True)
class _Result:
    """What came of one bot, as `--json` tells it: `built` is now, before, nothing or failed; `content` a hash."""

    name: str
    hash: str
    built: str
    seconds: float | None = None
    content: str | None = None
    folder: str | None = None
    reason: str | None = None


def _limits_options(command: Command) -> Command:
    """`limits: BuildLimits`, from all of these options."""

    @wraps(command)
    def merged(
        *args: Any,
        seconds: int,
        memory: int,
        processes: int,
        file_size: int,
        tmp_size: int,
        size: int,
        output: int,
        **kwargs: Any,
    ) -> Any:
        box = replace(DEFAULT_BUILD.box, memory=memory, processes=processes, file_size=file_size, tmp_size=tmp_size)
        return command(*args, limits=BuildLimits(seconds=seconds / 1000, size=size, output=output, box=box), **kwargs)

    box = DEFAULT_BUILD.box
    options = (
        click.option(
            "--time",
            "seconds",
            type=Duration(unlimited=False),
            default=f"{DEFAULT_BUILD.seconds:.0f}s",
            show_default=True,
            metavar="TIME",
            help="How long all steps of a bot's build may take together.",
        ),
        size_option("--memory", box.memory, "How much memory a process of a build may allocate."),
        processes_option(box.processes, "How many processes and threads a build may have at once."),
        size_option("--file-size", box.file_size, "How large a file of a build may be."),
        size_option("--tmp-size", box.tmp_size, "How much a build may keep in /tmp."),
        size_option("--size", DEFAULT_BUILD.size, "How much the built folder may hold."),
        size_option("--output", DEFAULT_BUILD.output, "How much is kept of what a build prints, from each end."),
    )
    return with_options(merged, options)


@click.command(short_help="Build bots before they are needed, with the network if you say so.", epilog=_EXAMPLES)
@click.argument("bots", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--fetch", is_flag=True, help="Let the builds use the network, as cargo, npm, go and pip want to.")
@click.option(
    "--pass-env",
    "passed",
    multiple=True,
    metavar="NAME",
    help="With --fetch, pass this variable too, such as PIP_INDEX_URL; may be repeated.",
)
@click.option("--rebuild", is_flag=True, help="Build anew what is built already.")
@click.option("--log", "show_log", is_flag=True, help="Build nothing; print what the last build of each bot printed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@sandbox_option
@_limits_options
@allow_option
@click.pass_context
def command(
    ctx: click.Context,
    bots: tuple[Path, ...],
    fetch: bool,
    passed: tuple[str, ...],
    rebuild: bool,
    show_log: bool,
    as_json: bool,
    sandbox: str,
    limits: BuildLimits,
    allow_runtime: tuple[Path, ...],
) -> None:
    """Copy bots to the cache and build them there, in a box of the tier at which they will play.

    A tournament does the same by itself, but without network. What a build makes is kept, so that a bot which was built
    with --fetch plays without. Exit code 0: all are built; 1: a build failed.
    """
    _check_passed(passed, fetch=fetch)
    settled = settle(Isolation(None if sandbox == AUTO else Tier(sandbox), allowed=allow_runtime))
    tier, view = settled.tier, settled.view
    sweep()
    found = find_bots(bots, view)
    if show_log:
        _print_logs(_all_of(found.bots, found.refused), view)
        return
    tell(tier)
    if fetch:
        _tell_of_network(passed)
    builder = ReportingBuilder(settled.builder(limits, fetch=fetch, passed=passed), TerminalListener())
    results: list[_Result] = []
    refused = {str(path): reason for path, reason in found.refused.items()}
    for bot in found.bots:
        tell_left_out(bot)
        try:
            results.append(_built(bot, view, builder, rebuild=rebuild))
        except BotsRefused as error:
            if not isinstance(error.__cause__, BuildFailed):
                refused |= error.reasons
                continue
            results.append(_failed(bot, error))
        if not as_json:
            _say(results[-1])
    if as_json:
        click.echo(json.dumps([asdict(result) for result in results], indent=2))
    if refused:
        raise BotsRefused(refused)
    ctx.exit(ExitCode.NEGATIVE if any(result.built == "failed" for result in results) else 0)


def _check_passed(passed: tuple[str, ...], *, fetch: bool) -> None:
    if passed and not fetch:
        raise click.UsageError("--pass-env is for builds with the network: add --fetch")
    for name in passed:
        if not os.environ.get(name):
            raise click.UsageError(f"--pass-env {name}: this variable is not set in your environment")


def _tell_of_network(passed: tuple[str, ...]) -> None:
    from referee.bots.building.fetching import fetch_environment

    names = ", ".join(sorted(fetch_environment(os.environ, passed).variables))
    click.echo(f"builds have the network{f', and of your environment {names}' if names else ''}", err=True)


def _built(bot: BotSpec, view: HostView, builder: ReportingBuilder, *, rebuild: bool) -> _Result:
    builder.seconds = None
    before = _content(bot, view) if rebuild and bot.build else None
    ready = prepare(bot, view=view, builder=builder, rebuild=rebuild)
    content = hash_of(ready)
    if before is not None and before != content:
        click.echo(f"{bot.identity.name}: what was built is not what was built before", err=True)
    how = "nothing" if not bot.build else "before" if builder.seconds is None else "now"
    identity = bot.identity
    return _Result(identity.name, identity.hash, how, builder.seconds, content, str(ready.folder))


def _content(bot: BotSpec, view: HostView) -> str | None:
    """The hash of the copy that is there."""
    try:
        return hash_of(prepare(bot, view=view))
    except BotsRefused:
        return None


def _failed(bot: BotSpec, error: BotsRefused) -> _Result:
    return _Result(bot.identity.name, bot.identity.hash, "failed", reason=error.reasons[str(bot.path)])


def _say(result: _Result) -> None:
    if result.built == "failed":
        for line in refusal_lines(result.name, result.reason or ""):
            click.echo(line, err=True)
        return
    how = {"now": f"built in {result.seconds} s", "before": "built before", "nothing": "nothing to build"}[result.built]
    echo_line(f"{result.name}: {how}, content {str(result.content)[:12]}, {result.folder}")


def _print_logs(bots: Sequence[BotSpec], view: HostView) -> None:
    for bot in bots:
        log = build_log(bot, view=view)
        if log is None:
            raise InputError(f"{bot.path}: it was not built here at this tier, so that there is no log")
        click.echo(log, nl=False)


def _all_of(bots: Sequence[BotSpec], refused: Any) -> Sequence[BotSpec]:
    if refused:
        raise BotsRefused({str(path): reason for path, reason in refused.items()})
    return bots
