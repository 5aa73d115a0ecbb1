"""Where `referee watch` shows a game: a screen that is drawn anew for each move, or lines."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.text import Text

from referee.cards import NAMES, cards_of
from referee.cli.keys import Keys
from referee.cli.replay import Turn, View
from referee.cli.spectator import Spectator
from referee.record import Step
from referee.site.text import plain

_LOOK = 0.1
"""Seconds after which a window that was made larger or smaller is drawn anew."""


class LeftError(Exception):
    """Whoever looked on has seen enough."""


class Lines:
    """The game turn by turn, in the words of `referee replay`."""

    def __init__(self, names: Sequence[str], seat: int | None) -> None:
        self._names = names
        self._seat = seat
        self._view: View | None = None
        self._number = 0

    def asked(self, game: Spectator) -> None:
        """See `Stage`."""
        self._say(game, ())

    def moved(self, game: Spectator, turns: Sequence[Turn]) -> None:
        """See `Stage`."""
        self._say(game, turns)

    def closed(self, game: Spectator, turns: Sequence[Turn]) -> None:
        """See `Stage`."""
        for line in self._say(game, turns).foot():
            click.echo(line)

    def _say(self, game: Spectator, turns: Sequence[Turn]) -> View:
        if self._view is None:
            self._view = View(game.record, self._names, self._seat)
            for line in self._view.head():
                click.echo(line)
            turns = game.turns
        self._view.hear(game.record)
        for turn in turns:
            self._number += 1
            for line in self._view.turn(self._number, turn):
                click.echo(line)
        return self._view


class Screen:
    """The table, drawn anew after each move, with a pause of `delay` seconds; `paused` waits for a key instead.

    `game_ms` is the limit for all of a seat's decisions, None where there is none or it is not known.
    """

    def __init__(
        self,
        names: Sequence[str],
        seat: int | None,
        *,
        delay: float,
        paused: bool,
        keys: Keys,
        console: Console,
        game_ms: int | None = None,
    ) -> None:
        self._names = [plain(name, limit=40) for name in names]
        self._seat = seat
        self._delay = delay
        self._game_ms = game_ms
        self._paused = paused and keys.are_there
        self._keys = keys
        self._console = console
        self._live = Live(console=console, screen=True, auto_refresh=False)
        self._turns: list[Text] = []
        self._view: View | None = None
        self._game: Spectator | None = None
        self._size = console.size

    def __enter__(self) -> Screen:
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.__exit__(None, None, None)

    def asked(self, game: Spectator) -> None:
        """See `Stage`."""
        if not game.record.steps:
            self._tell(game, game.turns)
        if self._sees_now(game):
            self._draw(game)

    def moved(self, game: Spectator, turns: Sequence[Turn]) -> None:
        """See `Stage`."""
        self._tell(game, turns)
        # Whether somebody is asked what becomes of a card is nothing that the others see.
        if turns or self._sees_now(game):
            self._draw(game)
            self._wait()

    def closed(self, game: Spectator, turns: Sequence[Turn]) -> None:
        """See `Stage`."""
        self._tell(game, turns)
        self._draw(game)

    def foot(self) -> Iterator[str]:
        """How the game ended, for the terminal that comes back."""
        assert self._view is not None
        return self._view.foot()

    def _sees(self, seat: int) -> bool:
        return self._seat in (None, seat)

    def _sees_now(self, game: Spectator) -> bool:
        return game.state.drawn is None or self._sees(game.state.turn)

    def _tell(self, game: Spectator, turns: Sequence[Turn]) -> None:
        if self._view is None:
            self._view = View(game.record, self._names, self._seat)
        self._view.hear(game.record)
        for turn in turns:
            words = Text.from_ansi(f"{len(self._turns) + 1:4}  {turn.seat} {self._names[turn.seat]}  ")
            self._turns.append(words + Text.from_ansi(self._view.deed(turn)))

    def _wait(self) -> None:
        until = time.monotonic() + self._delay
        while self._paused or time.monotonic() < until:
            key = self._keys.within(_LOOK if self._paused else min(until - time.monotonic(), _LOOK))
            if self._console.size != self._size and self._game is not None:
                self._draw(self._game)
            if key in ("q", "Q", ""):
                raise LeftError
            if key in (" ", "\n", "\r"):
                return
            if key == "p":
                self._paused = not self._paused
                until = time.monotonic() + self._delay
                if self._game is not None:
                    self._draw(self._game)

    def _draw(self, game: Spectator) -> None:
        self._game = game
        self._size = self._console.size
        table = Group(*self._table(game))
        above = len(self._console.render_lines(table, self._console.options))
        room = max(self._size.height - above - 1, 1)
        self._live.update(Group(table, *self._latest(room), self._help()), refresh=True)

    def _table(self, game: Spectator) -> Iterator[RenderableType]:
        state, record = game.state, game.record
        yield Text(f"game {record.game_id}: {len(record.seats)} players, turn {len(state.events) + 1}", style="bold")
        kept = f"kept in a row {state.kept_in_a_row} of {record.rules.stall_limit}"
        yield Text(f"talon {len(state.talon)}   pile {len(state.pile)}   {kept}")
        yield Text("widows    ") + Text(_cards(state.widows), style="magenta")
        yield Padding(Text("discards  ") + Text(_cards(state.discards), style="green"), 0)
        yield Text("")
        for seat in range(len(record.seats)):
            yield from self._seat_at(seat, game)
        yield Text("")

    def _seat_at(self, seat: int, game: Spectator) -> Iterator[RenderableType]:
        state = game.state
        moves = state.outcome is None and state.turn == seat
        size = state.sizes[seat]
        hand = _cards(cards_of(state.hands[seat])) if self._sees(seat) else " ".join(["??"] * size)
        line = Text(f"{'>' if moves else ' '} {seat} ") + Text(self._names[seat], style="bold")
        line += Text(f"  {size}: {hand}")
        if moves and state.drawn is not None and self._sees(seat):
            assert state.laid is not None
            line += Text(f"  laid {NAMES[state.laid]}, drew {NAMES[state.drawn]}", style="cyan")
        yield line
        yield Padding(self._clock(seat, game), (0, 0, 0, 4))

    def _clock(self, seat: int, game: Spectator) -> Text:
        """What a seat took, said and did wrong."""
        mine = [step for step in game.record.steps if step.seat == seat]
        words = Text()
        if mine and self._sees(seat):
            last, whole = mine[-1].us / 1000, sum(step.us for step in mine) / 1000
            left = "" if self._game_ms is None else f", {max(self._game_ms - whole, 0) / 1000:.1f} s left"
            words += Text(f"{last:.1f} ms, {whole:.1f} ms in all{left}", style="dim")
            words += _note(mine)
        for fault in game.record.faults:
            if fault.seat == seat:
                words += Text(f"  at fault: {fault.verdict.value}", style="red")
                words += Text(f": {plain(fault.detail)}" if self._sees(seat) else "")
        return words

    def _latest(self, room: int) -> Sequence[Text]:
        """As many of the last turns as there are rows for."""
        shown = [turn.copy() for turn in self._turns[-room:]]
        for turn in shown:
            turn.truncate(self._size.width, overflow="ellipsis")
        return shown

    def _help(self) -> Text:
        if not self._keys.are_there:
            return Text("Ctrl-C: leave", style="dim")
        go_on = "p: go on by itself" if self._paused else "p: wait after each move"
        return Text(f"space, enter: next   {go_on}   q: leave", style="dim", no_wrap=True, overflow="ellipsis")


def _note(steps: Sequence[Step]) -> Text:
    note = steps[-1].note
    return Text("") if note is None else Text(f"  note: {plain(note)}", style="italic")


def _cards(cards: Sequence[int]) -> str:
    return " ".join(NAMES[card] for card in cards) or "-"
