"""`referee check`: whether a bot starts, keeps to the protocol through whole games, and how fast it decides."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click

from referee.bots import system
from referee.bots.launcher import Child, Launcher
from referee.bots.limits import Limits
from referee.bots.player import BotPlayer
from referee.bots.prepare import Prepared
from referee.bots.sandbox.probing import launcher_for
from referee.bots.scratch import run_folder
from referee.checking.report import Report, Step
from referee.checking.transcripts import compared, read_transcript
from referee.checking.trying import Trying
from referee.cli.bots import ready_bots, share_a_core
from referee.cli.check_report import document, summary, told_as_it_goes
from referee.cli.ending import ExitCode
from referee.cli.options import limits_options, rules_option
from referee.cli.sandbox_options import Wish, sandbox_options, tell
from referee.errors import BotFault, InputError, RefereeError
from referee.play import SystemClock
from referee.record import GameRecord
from referee.rules import Rules
from referee.tournament.block import Parked, play_block
from referee.tournament.conditions import Conditions
from referee.tournament.schedule import Block, games_of

GAMES = 50
"""How many games a check plays, over all the numbers of players that the bot can play with."""

_EXAMPLES = """\b
Examples:
  referee check mybot
  referee check mybot --move-time 200ms
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
    rules: Rules,
    start_ms: int | None,
    move_ms: int | None,
    game_ms: int | None,
    isolation: Wish,
    as_json: bool,
) -> None:
    """Start the bot, wait for its `ready`, and let it play 50 games against copies of itself.

    Exit code 0: no fault; 1: a fault, with what was wrong and what stderr said.
    """
    if more and not transcripts:
        raise click.UsageError("one bot at a time; files of dialogues come behind --transcript")
    told = [(path, read_transcript(path)) for path in (*transcripts, *more)]
    tier = isolation.settle()
    ready = ready_bots([bot], view=isolation.view(tier), builder=isolation.builder(tier))
    if not ready:
        raise InputError(f"{bot} is no bot: it is a folder with a bot.toml, an executable file or a source file")
    tell(tier)
    share_a_core()
    conditions = Conditions(rules, Limits(start_ms, move_ms, game_ms), isolation=tier, box=isolation.box)
    with run_folder() as scratch:
        launcher = _Counting(launcher_for(tier, scratch=scratch, box=isolation.box, reaper=system.Reaper()))
        if told:
            steps = compared(told, Trying(ready[0], launcher, SystemClock(), conditions.limits))
            ctx.exit(_told(ready[0], steps, as_json=as_json))
        passed = _starts(ready[0], launcher, conditions) and _plays(ready[0], launcher, conditions)
    ctx.exit(0 if passed else 1)


def _told(bot: Prepared, steps: Iterable[Step], *, as_json: bool) -> int:
    """Tell what the steps found, as they come or at the end; the exit code."""
    found = tuple(steps if as_json else told_as_it_goes(steps))
    report = Report(bot=bot.manifest.identity.name, hash=bot.manifest.identity.hash, steps=found)
    click.echo(document(report) if as_json else summary(report))
    return ExitCode.DONE if report.passed else ExitCode.NEGATIVE


@dataclass(slots=True)
class _Counting:
    """A launcher that counts what it has made."""

    real: Launcher
    made: int = 0

    def launch(self, bot: Prepared) -> Child:
        """See `Launcher`."""
        self.made += 1
        return self.real.launch(bot)


def _starts(bot: Prepared, launcher: _Counting, conditions: Conditions) -> bool:
    clock = SystemClock()
    player = BotPlayer(bot, launcher=launcher, clock=clock, limits=conditions.limits)
    began = clock.now()
    try:
        player.start()
    except BotFault as fault:
        _cross(f"starts and says ready: {fault.verdict}: {fault.detail}")
        _log_of(fault.evidence)
        return False
    _tick(f"starts and says ready, in {(clock.now() - began) / 1e6:.0f} ms")
    player.stop()
    return True


def _plays(bot: Prepared, launcher: _Counting, conditions: Conditions) -> bool:
    times: list[int] = []
    games = 0
    needed = launcher.made + sum(bot.manifest.players)
    for record in _games(bot, launcher, conditions):
        games += 1
        times += [step.us for step in record.steps]
        if record.faults:
            fault = record.faults[0]
            _cross(
                f"plays {GAMES} games: game {games}, of {len(record.seats)}, seat {fault.seat}: "
                f"{fault.verdict}: {fault.detail}"
            )
            _log_of(fault.evidence)
            return False
    _tick(f"plays {games} games without a fault")
    if launcher.made > needed:
        _warn(
            f"{launcher.made - needed} processes had to be replaced between games: it ends, crashes or speaks after a "
            "game's end. That is no fault, but each one costs its start again"
        )
    times.sort()
    median, late = times[len(times) // 2], times[len(times) * 99 // 100]
    _tick(f"{len(times)} decisions: median {_ms(median)}, 99% within {_ms(late)}, slowest {_ms(times[-1])}")
    return True


def _games(bot: Prepared, launcher: _Counting, conditions: Conditions) -> Iterator[GameRecord]:
    identity = bot.manifest.identity
    sizes = sorted(bot.manifest.players)
    secret = os.urandom(16)
    for place, size in enumerate(sizes):
        share = GAMES // len(sizes) + (place < GAMES % len(sizes))
        games = games_of(Block((identity,) * size, 0, tuple(range(share))), secret)
        playing = play_block(games, bots={identity: bot}, conditions=conditions, launcher=launcher, clock=SystemClock())
        with closing(playing):
            for outcome in playing:
                if isinstance(outcome, Parked):
                    raise RefereeError(f"a game could not be played, and the bot is not to blame: {outcome.reason}")
                yield outcome


def _tick(text: str) -> None:
    click.echo(f"{click.style('✓', fg='green')} {text}")


def _warn(text: str) -> None:
    click.echo(f"{click.style('!', fg='yellow')} {text}")


def _cross(text: str) -> None:
    click.echo(f"{click.style('✗', fg='red')} {text}")


def _log_of(evidence: dict[str, str | int | None]) -> None:
    from protocol.text import readable

    log = str(evidence.get("stderr") or "")
    if log:
        click.echo("  its stderr:")
        for line in log.splitlines()[-20:]:
            click.echo(f"  | {readable(line, 200)}")


def _ms(us: int) -> str:
    return f"{us / 1000:.2f} ms"
