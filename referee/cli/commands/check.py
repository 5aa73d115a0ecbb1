"""`referee check`: whether a bot starts, keeps to the protocol through whole games, and how fast it decides."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from random import SystemRandom

import click

from referee.bots.cache.prepare import Prepared
from referee.bots.process.limits import Limits
from referee.bots.seat.transcript import Transcript
from referee.checking.report.report import CheckReport, CheckStep
from referee.checking.steps.fuzz import Save
from referee.checking.steps.run_check import Fuzz
from referee.checking.steps.transcripts import as_jsonl, read_transcripts
from referee.cli.exit_codes import ExitCode
from referee.cli.options.common import limits_options, rules_option
from referee.cli.options.sandbox import sandbox_options, settle, tell
from referee.cli.output.check_report import document, summary, told_as_it_goes
from referee.cli.preparing import load, tell_left_out
from referee.contest.checking import check_steps
from referee.contest.isolation import Isolation
from referee.errors import InputError
from referee.outputs import check_place, free_name, new_file
from referee.rules import Rules

_EXAMPLES = """\b
Examples:
  referee check mybot
  referee check mybot --move-time 200ms
  referee check mybot --fuzz 500 --seed 7
  referee check mybot --transcript protocol/transcripts/greedy-*.jsonl
"""


@click.command(short_help="Find out whether a bot keeps to the protocol.", epilog=_EXAMPLES)
@click.argument("bot", type=click.Path(path_type=Path))
@click.argument("more", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option(
    "--transcript",
    "transcripts",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE...",
    help="Tell the bot again what these dialogues told each seat, compare its answers, and do nothing else.",
)
@click.option(
    "--fuzz",
    "walks",
    type=click.IntRange(min=1, max=1_000_000),
    metavar="N",
    help="Play N random games more, in which rare positions are common; a failure is written to a file.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**53 - 1),
    metavar="S",
    help="The random games of --fuzz that belong to this number; without it, any.",
)
@rules_option
@limits_options
@sandbox_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def command(
    ctx: click.Context,
    bot: Path,
    more: tuple[Path, ...],
    transcripts: tuple[Path, ...],
    walks: int | None,
    seed: int | None,
    rules: Rules,
    start_ms: int | None,
    move_ms: int | None,
    game_ms: int | None,
    isolation: Isolation,
    as_json: bool,
) -> None:
    """Try a bot step by step: each part of the protocol, every kind of position, whole games against itself.

    Exit code 0: no cross; 1: a cross, with what was wrong, the messages, stderr and the line of the contract.
    """
    if more and not transcripts:
        raise click.UsageError("one bot at a time; files of dialogues come behind --transcript")
    if walks is not None and transcripts:
        raise click.UsageError("--transcript does nothing else: leave --fuzz for another run")
    if walks is None and seed is not None:
        raise click.UsageError("--seed is that of the random games: it comes with --fuzz")
    if walks is not None and seed is None:
        seed = SystemRandom().randrange(2**31)
    if walks is not None:
        # Now, and not at the first failure.
        check_place(Path(f"{bot.resolve().name}-fuzz-1.jsonl"), remedy="run the command in another folder")
    told = [(path, read_transcripts(path)) for path in (*transcripts, *more)]
    settled = settle(isolation)
    ready = load([bot], settled)
    if not ready.bots:
        raise InputError(f"{bot} is not a bot: it is a folder with a bot.toml, an executable file or a source file")
    tell(settled.tier)
    tell_left_out(ready.bots[0].manifest)
    wanted = None if walks is None or seed is None else Fuzz(walks, seed, _saver(bot, ready.bots[0]))
    limits = Limits(start_ms, move_ms, game_ms)
    with closing(check_steps(ready, rules=rules, limits=limits, fuzz=wanted, transcripts=told)) as steps:
        code = _told(ready.bots[0], steps, seed, as_json=as_json)
    ctx.exit(code)


def _saver(path: Path, bot: Prepared) -> Save:
    """What writes failures of random games to new files in the current folder."""

    def save(transcript: Transcript, number: int) -> str:
        file = free_name(Path(f"{bot.manifest.identity.name}-fuzz-{number}.jsonl"))
        with new_file(file, remedy="run it in another folder") as written:
            written.write(as_jsonl(transcript).encode("ascii"))
        return shlex.join(["referee", "check", str(path), "--transcript", str(file)])

    return save


def _told(bot: Prepared, steps: Iterable[CheckStep], seed: int | None, *, as_json: bool) -> int:
    """Tell what the steps found, as they come or at the end; the exit code."""
    found = tuple(steps if as_json else told_as_it_goes(steps))
    report = CheckReport(bot=bot.manifest.identity.name, hash=bot.manifest.identity.hash, steps=found, seed=seed)
    click.echo(document(report) if as_json else summary(report))
    return ExitCode.DONE if report.passed else ExitCode.NEGATIVE
