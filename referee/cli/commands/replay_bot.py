"""`referee replay-bot`: a bot is told once more what it was told in a game, and its answers are compared."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from click.core import ParameterSource

from protocol.text import readable
from referee.bots.process import system
from referee.bots.process.launcher import Launcher
from referee.bots.sandbox.probing import launcher_for
from referee.cli.exit_codes import ExitCode
from referee.cli.options.common import db_option, limits_options, one_db
from referee.cli.options.sandbox import sandbox_options, settle
from referee.cli.output.rerun_report import RerunReport
from referee.cli.preparing import load_one
from referee.contest.cores import share_a_core
from referee.contest.isolation import Isolation, Settled
from referee.contest.sides import limits_by_round, one_seat
from referee.errors import InputError
from referee.store import open_store

if TYPE_CHECKING:
    from referee.bots.cache.prepare import Prepared
    from referee.bots.process.limits import Limits
    from referee.bots.seat.playback import PlayedBack
    from referee.bots.seat.transcript import Transcript

_LONGEST = 4096
"""Characters of a line of stderr that are shown in a terminal."""

_EXAMPLES = """\b
Examples:
  referee replay-bot 3f9a --seat 1
  referee replay-bot 3f9a --bot bots/mybot --until 12
  referee replay-bot fault.zip --bot mybot --move-time none
"""


@click.command(short_help="Tell a bot once more what it was told in a game, and compare.", epilog=_EXAMPLES)
@click.argument("target", nargs=-1, metavar="[DB] GAME|BUNDLE", required=True)
@db_option
@click.option("--seat", type=click.IntRange(min=0), metavar="N", help="Whose side; without it the seat at fault.")
@click.option(
    "--bot",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The bot as it is now; without it the very version that played, if it is still in the cache.",
)
@click.option(
    "--until",
    type=click.IntRange(min=1),
    metavar="TURN",
    help="Ask nothing after this turn; turns count as in referee replay.",
)
@click.option("--go-on", is_flag=True, help="Where it answers otherwise, ask on as the game went then.")
@limits_options
@sandbox_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def command(
    ctx: click.Context,
    target: tuple[str, ...],
    db: Path,
    seat: int | None,
    bot: Path | None,
    until: int | None,
    go_on: bool,
    start_ms: int | None,
    move_ms: int | None,
    game_ms: int | None,
    isolation: Isolation,
    as_json: bool,
) -> None:
    """Start a bot outside any tournament and send it the messages of one seat of a game, or of a bundle.

    Its stderr is shown as it comes. Limits are those of the game; a limit that is given here is told to the bot too.
    Exit code 0: it answered as it did then, all the way; 1: it went another way, or was at fault.
    """
    given = {
        name: value
        for name, value in (("start_ms", start_ms), ("move_ms", move_ms), ("game_ms", game_ms))
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    told = _told(target, db, seat, given)
    settled = settle(isolation)
    ready = _bot(told.transcript, bot, settled)
    report = RerunReport(told.transcript, ready, as_json=as_json)
    share_a_core()

    def make(scratch: Path) -> Launcher:
        return launcher_for(settled.tier, scratch=scratch, box=settled.box, reaper=system.Reaper())

    with closing(_moments(told, ready, make, go_on=go_on, until=until)) as moments:
        for moment in moments:
            report.add(moment)
    ctx.exit(ExitCode.DONE if report.finish() else ExitCode.NEGATIVE)


Make = Callable[[Path], Launcher]
"""Makes what makes the bot's process, given a folder for temporary files."""


class _Told(NamedTuple):
    """What the bot is told, and the limits that are enforced."""

    transcript: Transcript
    limits: Limits


def _told(target: tuple[str, ...], db: Path, seat: int | None, given: dict[str, int | None]) -> _Told:
    from referee.bots.process.limits import Limits
    from referee.bots.seat.recorded import transcript_of

    if len(target) > 2:
        raise click.UsageError("one game at a time: DB GAME, GAME alone, or a bundle")
    if len(target) == 1 and _is_bundle(Path(target[0])):
        return _of_bundle(Path(target[0]), seat, given)
    with open_store(one_db(Path(target[0]) if len(target) == 2 else None, db)) as store:
        record = store.record(target[-1])
        played = limits_by_round(store).get(record.round, Limits())
    return _under(transcript_of(record, one_seat(record, seat), played), given)


def _is_bundle(path: Path) -> bool:
    return path.suffix == ".zip" or (path / "record.json").is_file()


def _of_bundle(path: Path, seat: int | None, given: dict[str, int | None]) -> _Told:
    from referee.bundles.bundle import read_bundle

    transcript = read_bundle(path)
    if seat is not None and seat != transcript.seat:
        raise InputError(f"{path} is the side of seat {transcript.seat}, and of no other")
    return _under(transcript, given)


def _under(transcript: Transcript, given: dict[str, int | None]) -> _Told:
    """Return the transcript under its own limits, as far as no others are given."""
    from referee.bots.seat.transcript import with_limits

    limits = replace(transcript.of_game.limits, **given)
    return _Told(with_limits(transcript, limits) if given else transcript, limits)


def _bot(transcript: Transcript, path: Path | None, settled: Settled) -> Prepared:
    from referee.bots.cache.cached import cached

    if path is None:
        played = transcript.of_game.bot
        found = cached(played, view=settled.view)
        if found is None:
            raise InputError(
                f"{played.name} as it played ({played.hash[:8]}) is not in the cache: name a bot with --bot"
            )
        return found
    return load_one(path, settled, quiet=True)


def _moments(
    told: _Told, bot: Prepared, make: Make, *, go_on: bool, until: int | None
) -> Generator[PlayedBack, None, None]:
    from referee.bots.cache.scratch import run_folder
    from referee.bots.seat.conversation import Conversation
    from referee.bots.seat.playback import Onward, play_back
    from referee.play import SystemClock

    log, hello = _Stderr(), told.transcript.hello
    with run_folder() as scratch, ExitStack() as stack:
        stack.callback(log.finish)
        conversation = Conversation(
            bot,
            launcher=make(scratch),
            clock=SystemClock(),
            limits=told.limits,
            hello=None if hello is None else hello.line,
            tap=log,
        )
        stack.callback(conversation.stop)
        onward = Onward.GO_ON if go_on else Onward.STOP
        yield from play_back(told.transcript, conversation, onward=onward, until=until)


class _Stderr:
    """Shows a bot's stderr as it comes, and is deaf to the rest.

    In a terminal each line is made safe to show, and one without an end is held back until it has one; where stderr is
    kept in a file it is kept to the byte.
    """

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._held = b""

    def sent(self, data: bytes, at: int) -> None:
        """See `Tap`."""

    def received(self, data: bytes, at: int) -> None:
        """See `Tap`."""

    def logged(self, data: bytes, at: int) -> None:
        """See `Tap`."""
        del at
        if not self._is_shown:
            sys.stderr.buffer.write(data)
            sys.stderr.buffer.flush()
            return
        *lines, self._held = (self._held + data).split(b"\n")
        self._show(lines)
        if len(self._held) > _LONGEST:
            self.finish()

    def finish(self) -> None:
        """Show what is held back."""
        if self._held:
            self._show([self._held])
            self._held = b""

    def _show(self, lines: list[bytes]) -> None:
        for line in lines:
            click.echo(readable(line, _LONGEST), err=True)
