"""One game between players of any kind: asks them, turns their faults into forfeits. Knows no process and no bytes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from referee.actions import Action
from referee.errors import BotFault
from referee.record import Fault, Step
from referee.rules import Event, Outcome, Question, Rules, State


class Clock(Protocol):
    """Where time comes from; handed in, so that tests own it. Times are nanoseconds of one monotonic clock."""

    def now(self) -> int:
        """The time."""

    def sleep_until(self, when: int) -> None:
        """Return at `when`, or at once where that is past."""


class SystemClock:
    """The machine's monotonic clock."""

    def now(self) -> int:
        """The time."""
        return time.monotonic_ns()

    def sleep_until(self, when: int) -> None:
        """Return at `when`, or at once where that is past."""
        left = when - time.monotonic_ns()
        if left > 0:
            time.sleep(left / 1e9)


class GameStart(NamedTuple):
    """What a seat is told of a game before it begins. `hand` is a set of cards; `seed` is for its own dice."""

    game_id: str
    seat: int
    players: int
    hand: int
    hand_sizes: tuple[int, ...]
    talon_size: int
    rules: Rules
    seed: int


class GameEnd(NamedTuple):
    """What a seat is told of a game when it is over: the outcome, and the turns it has not been told of."""

    game_id: str
    outcome: Outcome
    events: tuple[Event, ...]


class Reply(msgspec.Struct, frozen=True):
    """A decision, the microseconds it took, and the bot's note on it."""

    action: Action
    us: int
    note: str | None = None


class Player(Protocol):
    """One seat's player. Its calls come in the order begin, ask …, end; after a BotFault none comes for this game.

    Any call may raise VoidGame, and `begin` and `ask` BotFault. An action that is not legal is an
    `illegal_action`, and the player's to find, since only it can show the evidence.
    """

    def begin(self, start: GameStart) -> None:
        """A game begins. A BotFault from here puts the seat at fault before the first question."""

    def ask(self, question: Question) -> Reply:
        """Decide. `BotFault.us` says how long a fault took."""

    def end(self, end: GameEnd) -> None:
        """The game is over."""


class DealtGame(NamedTuple):
    """What identifies a game and fixes all that is not the players' choice; `seeds` are by seat."""

    game_id: str
    rules: Rules
    deck: tuple[int, ...]
    seeds: tuple[int, ...]


class PlayedGame(NamedTuple):
    """What happened in a game."""

    steps: tuple[Step, ...]
    faults: tuple[Fault, ...]
    outcome: Outcome


def play_game(game: DealtGame, players: Sequence[Player], *, clock: Clock, pace: int = 0) -> PlayedGame:
    """Play one game to its end.

    With `pace`, in nanoseconds, every turn takes at least that long from its first question, whatever was asked,
    so that the others' clocks do not tell whether a kept card matched.

    Raises VoidGame where the machine failed; no fault of a player leaves this function.
    """
    table = _GameTable(game, players)
    table.begin()
    state = table.state
    while state.outcome is None:
        turn_began = clock.now() if pace else 0
        turns = len(state.events)
        while state.outcome is None and len(state.events) == turns:
            table.step()
        if pace and state.outcome is None:
            clock.sleep_until(turn_began + pace)
    return table.finish(state.outcome)


class _GameTable:
    def __init__(self, game: DealtGame, players: Sequence[Player]) -> None:
        self.game = game
        self.players = players
        self.state = State(game.rules, len(players), game.deck)
        self.steps: list[Step] = []
        self.faults: list[Fault] = []

    def begin(self) -> None:
        state = self.state
        sizes, talon_size = tuple(state.sizes), len(state.talon)
        absent = []
        for seat, player in enumerate(self.players):
            start = GameStart(
                self.game.game_id,
                seat,
                len(self.players),
                state.hands[seat],
                sizes,
                talon_size,
                self.game.rules,
                self.game.seeds[seat],
            )
            try:
                player.begin(start)
            except BotFault as fault:
                absent.append(seat)
                self._charge(seat, None, fault)
        if absent:
            state.forfeit(*absent)

    def step(self) -> None:
        state = self.state
        seat = state.turn
        try:
            reply = self.players[seat].ask(state.ask())
        except BotFault as fault:
            self._charge(seat, len(self.steps), fault)
            self.steps.append(Step(seat, None, fault.us))
            state.forfeit(seat)
        else:
            action = reply.action
            self.steps.append(Step(seat, action.text, reply.us, reply.note))
            state.apply(action)

    def _charge(self, seat: int, step: int | None, fault: BotFault) -> None:
        self.faults.append(Fault(seat, step, fault.verdict, fault.detail, fault.evidence))

    def finish(self, outcome: Outcome) -> PlayedGame:
        for seat, player in enumerate(self.players):
            if seat not in outcome.forfeited:
                player.end(GameEnd(self.game.game_id, outcome, self.state.untold(seat)))
        return PlayedGame(tuple(self.steps), tuple(self.faults), outcome)
