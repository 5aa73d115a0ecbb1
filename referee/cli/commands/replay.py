"""`referee replay`: one game in the terminal, as it was or as one seat saw it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from referee.cards import NAMES, cards_of
from referee.cli.options.common import db_option, one_db
from referee.cli.streams import echo_line
from referee.contest.turns import Turn, turns_of
from referee.errors import InputError
from referee.record import Fault, GameRecord, Step, rules_as_dict
from referee.rules import DrawFate, Event
from referee.site.text import plain
from referee.store import open_store

_HIDDEN = "??"
_DEEPEST = 40
"""Blanks at the beginning of a line of evidence that are shown."""

_EXAMPLES = """\b
Examples:
  referee replay 3f9a
  referee replay league.db 3f9a --seat 1
  referee replay 3f9a --step
"""


@click.command(short_help="Show a game as it was played.", epilog=_EXAMPLES)
@click.argument("target", nargs=-1, metavar="[DB] GAME", required=True)
@db_option
@click.option(
    "--seat", type=click.IntRange(min=0), metavar="N", help="Show only what this seat saw; seats count from 0."
)
@click.option("--step", is_flag=True, help="Wait for a key after each turn.")
def command(target: tuple[str, ...], db: Path, seat: int | None, step: bool) -> None:
    """Show the game whose id is GAME or begins so; `referee export --format csv` lists the ids.

    Each turn is two lines: the hand before it, and what was done. Cards that the chosen seat could not see are ??.
    """
    if len(target) > 2:
        raise click.UsageError("one game at a time: DB GAME, or GAME alone")
    with open_store(one_db(Path(target[0]) if len(target) == 2 else None, db)) as store:
        record = store.record(target[-1])
    if seat is not None and seat >= len(record.seats):
        raise InputError(f"game {record.game_id} has no seat {seat}: they are 0 to {len(record.seats) - 1}")
    show_game(record, names=[bot.name for bot in record.seats], seat=seat, step=step)


def show_game(
    record: GameRecord, *, names: Sequence[str], seat: int | None = None, step: bool = False, delay: float = 0
) -> None:
    """Print a game; `names` are the players by seat. Raises RefereeError where the record breaks the rules.

    With `seat`, only what that seat was told. With `step`, at a terminal, wait for a key after each turn. `delay` is
    how long to wait after each turn, in seconds.
    """
    view = View(record, names, seat)
    stops = step and sys.stdin.isatty() and sys.stdout.isatty()
    for line in view.head():
        echo_line(line)
    for number, turn in enumerate(turns_of(record), 1):
        for line in view.turn(number, turn):
            echo_line(line)
        if stops:
            click.pause("")
        if delay:
            time.sleep(delay)
    for line in view.foot():
        echo_line(line)


class View:
    """A game in words, for one seat's eyes or (None) for all; `names` are the players by seat."""

    def __init__(self, record: GameRecord, names: Sequence[str], seat: int | None) -> None:
        self._names = [plain(name, limit=40) for name in names]
        self._seat = seat
        self._width = max(map(len, self._names))
        self._widows = 0
        self.hear(record)

    def hear(self, record: GameRecord) -> None:
        """Tell of the same game from now on as this record has it, which may have come further."""
        self._record = record
        self._faults = {fault.step: fault for fault in record.faults if fault.step is not None}

    def _sees(self, seat: int) -> bool:
        return self._seat is None or self._seat == seat

    def head(self) -> Iterator[str]:
        """What is known before the first turn."""
        record = self._record
        yield f"game {record.game_id}: {len(record.seats)} players, deal {record.deal}, rotation {record.rotation}"
        yield "rules: " + ", ".join(f"{key} {value}" for key, value in rules_as_dict(record.rules).items())
        if self._seat is None:
            yield f"deck: {' '.join(record.deck)}"
        for seat, bot in enumerate(record.seats):
            yield f"seat {seat}: {click.style(self._names[seat], bold=True)} {click.style(bot.hash[:8], dim=True)}"
        for fault in record.faults:
            if fault.step is None:
                yield from self._fault(fault, "     ")
        yield ""

    def turn(self, number: int, turn: Turn) -> Iterator[str]:
        """One turn, the first being number 1: the hand, what was done, notes and faults. Each is told once."""
        mine = self._sees(turn.seat)
        name = self._names[turn.seat]
        hand = " ".join(NAMES[card] if mine else _HIDDEN for card in cards_of(turn.hand))
        yield f"{number:4}  {turn.seat} {click.style(name.ljust(self._width), bold=True)}  {hand}"
        indent = " " * (self._width + 10)
        yield indent + self.deed(turn) + (self._times(turn.steps) if mine else "")
        for step in turn.steps:
            if mine and step.note is not None:
                yield f"{indent}note: {plain(step.note)}"
        for index in range(turn.first_step, turn.first_step + len(turn.steps)):
            if index in self._faults:
                yield from self._fault(self._faults[index], indent)

    def deed(self, turn: Turn) -> str:
        """What was done in a turn, in words that begin with a verb."""
        house = "" if turn.steps and turn.steps[0].action is not None else "the house "
        event = turn.event
        if event is None:
            laid = turn.steps[0].action
            return (
                "breaks off" if laid is None else f"{laid if self._sees(turn.seat) else f'lay {_HIDDEN}'}, breaks off"
            )
        if self._seat is not None:
            event = event.seen_by(self._seat)
        words = f"{house}lays {_card(event.laid)}, draws {_card(event.drew)}"
        if event.recycled:
            words += " (the last: the pile is the talon now)"
        return f"{words}, {self._result(event)}"

    def _result(self, event: Event) -> str:
        match event.result:
            case DrawFate.KEPT:
                return "keeps it"
            case DrawFate.DISCARDED:
                return click.style(f"discards it with {' '.join(NAMES[card] for card in event.discarded)}", fg="green")
            case DrawFate.WIDOW:
                self._widows += 1
                return click.style(f"puts it down: widow {self._widows}", fg="magenta")

    def _times(self, steps: Sequence[Step]) -> str:
        times = " + ".join(f"{step.us / 1000:.1f}" for step in steps)
        return click.style(f"   {times} ms", dim=True) if times else ""

    def _fault(self, fault: Fault, indent: str) -> Iterator[str]:
        yield indent + click.style(f"{self._names[fault.seat]} is at fault: {fault.verdict.value}", fg="red")
        if not self._sees(fault.seat):
            return
        yield f"{indent}  {plain(fault.detail)}"
        for key, value in fault.evidence.items():
            for line in str(value).splitlines() if value not in (None, "") else ():
                yield f"{indent}  {plain(key, limit=40)}: {_blanks(line)}{plain(line)}"

    def foot(self) -> Iterator[str]:
        """How the game ended."""
        record = self._record
        yield ""
        yield f"the end: {record.reason.value}"
        for seat in sorted(range(len(record.seats)), key=lambda seat: (record.places[seat], seat)):
            left = f"{record.hand_sizes[seat]} card{'' if record.hand_sizes[seat] == 1 else 's'} left"
            at_fault = click.style(", at fault", fg="red") if seat in record.forfeited else ""
            name = click.style(self._names[seat].ljust(self._width), bold=True)
            yield f"{record.places[seat]:4} {name}  {left}{at_fault}{self._idling(seat)}"

    def _idling(self, seat: int) -> str:
        found = self._record.idling(seat) if self._sees(seat) else None
        return f", {found.words}" if found is not None and found.words else ""


def _blanks(line: str) -> str:
    """The blanks that a line begins with: a traceback's marks stand below what they mean."""
    return " " * min(len(line) - len(line.lstrip(" ")), _DEEPEST)


def _card(card: int | None) -> str:
    return _HIDDEN if card is None else NAMES[card]
