"""Who sits at a table beside bots: a stand-in of ours, a seat that is charged before the game, a pair of ears."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from referee.actions import parse
from referee.errors import BotFault, Verdict
from referee.play import GameEnd, GameStart, Player, Reply
from referee.rules import Question

Moves = tuple[tuple[str, ...], ...]
"""What was answered in a game, as far as it came: by seat, the actions one after the other."""

Told = Callable[[int, str | None], None]
"""Hears of a seat and its action, and of None where a seat's game begins anew."""


class ScriptedPlayer:
    """A player that makes the moves it is given for as long as they are legal, and then the first legal one."""

    def __init__(self, moves: Sequence[str] = ()) -> None:
        self._moves = iter(moves)

    def begin(self, start: GameStart) -> None:
        """See `Player`."""

    def ask(self, question: Question) -> Reply:
        """See `Player`."""
        wanted = parse(next(self._moves, ""))
        legal = list(question.legal)
        return Reply(wanted if wanted in legal else legal[0], 0)

    def end(self, end: GameEnd) -> None:
        """See `Player`."""


class ForfeitedPlayer:
    """The seat of a bot that is charged with the game before it begins, and has no process in it."""

    def __init__(self, detail: str) -> None:
        self._detail = detail

    def begin(self, _: GameStart) -> None:
        """See `Player`. Raises BotFault, always."""
        raise BotFault(Verdict.CRASH, self._detail)

    def ask(self, _: Question) -> Reply:
        """See `Player`; it is at fault since the beginning, so that nobody asks it."""
        raise AssertionError("a seat is asked that was charged before")

    def end(self, _: GameEnd) -> None:
        """See `Player`."""


class ObservedPlayer:
    """Another player, of whose moves somebody is told."""

    def __init__(self, player: Player, seat: int, told: Told) -> None:
        self._player = player
        self._seat = seat
        self._told = told

    def begin(self, start: GameStart) -> None:
        """See `Player`."""
        self._told(self._seat, None)
        self._player.begin(start)

    def ask(self, question: Question) -> Reply:
        """See `Player`."""
        reply = self._player.ask(question)
        self._told(self._seat, reply.action.text)
        return reply

    def end(self, end: GameEnd) -> None:
        """See `Player`."""
        self._player.end(end)


class Moving:
    """Collects the moves of a game, in whatever order its seats are heard of."""

    def __init__(self) -> None:
        self._moves: dict[int, list[str]] = {}

    def told(self, seat: int, action: str | None) -> None:
        """See `Told`."""
        if action is None:
            self._moves[seat] = []
        else:
            self._moves.setdefault(seat, []).append(action)

    def moves(self) -> Moves:
        """What came so far."""
        return tuple([tuple(self._moves.get(seat, ())) for seat in range(max(self._moves, default=-1) + 1)])
