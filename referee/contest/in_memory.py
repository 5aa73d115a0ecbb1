"""Bots that are Python functions, and the engine that plays them in this process."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from referee.actions import Action
from referee.bots.source.manifest import BotSpec
from referee.errors import BotFault, Verdict
from referee.play import Clock, GameEnd, GameStart, Player, Reply, SystemClock
from referee.record import Bot, GameRecord
from referee.rules import MAX_PLAYERS, MIN_PLAYERS, Question
from referee.store import Stored
from referee.tournament.engine.block import play_once
from referee.tournament.engine.pool import Arrival
from referee.tournament.engine.worker_messages import Finished
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.derivation import Derivation
from referee.tournament.rounds.schedule import Block, GameSpec, games_of

Choose = Callable[[Question], Action | str]
"""Returns one of `question.legal`, or its text, such as `lay TD`."""


@dataclass(frozen=True, slots=True)
class PythonBot:
    """A bot that is a function. It sees each question and nothing else; it may be asked for several games in turn."""

    manifest: BotSpec
    choose: Choose


def python_bot(
    name: str,
    choose: Choose,
    *,
    version: str = "1",
    author: str | None = None,
    players: Iterable[int] = range(MIN_PLAYERS, MAX_PLAYERS + 1),
) -> PythonBot:
    """Return a bot that answers with `choose(question)`.

    A bot is known by its name and `version`: games of another version are another bot's, as with programs. An answer
    that is not legal, or an exception, is a fault of the bot; there are no time limits.
    """
    content = hashlib.sha256(f"python function {name} {version}".encode()).hexdigest()
    identity = Bot(name, content)
    return PythonBot(BotSpec(identity, Path(name), (), (), "Python", author, frozenset(players)), choose)


class FunctionPlayer:
    """A Python function at a table; see `referee.play.Player`."""

    def __init__(self, choose: Choose, clock: Clock) -> None:
        self._choose = choose
        self._clock = clock

    def begin(self, start: GameStart) -> None:
        """See `Player`."""

    def ask(self, question: Question) -> Reply:
        """See `Player`. Raises BotFault if the function raises, or if its answer is not legal."""
        began = self._clock.now()
        try:
            answer = self._choose(question)
        except Exception as error:  # whatever the function raises is its own fault
            detail = f"it raised {type(error).__name__}: {error}"
            raise BotFault(Verdict.CRASH, detail, us=self._us(began)) from error
        text = answer.text if isinstance(answer, Action) else answer
        found = next((action for action in question.legal if action.text == text), None)
        if found is None:
            allowed = ", ".join(action.text for action in question.legal)
            raise BotFault(
                Verdict.ILLEGAL_ACTION, f"{text!r} is not allowed here; allowed: {allowed}", us=self._us(began)
            )
        return Reply(found, self._us(began))

    def end(self, end: GameEnd) -> None:
        """See `Player`."""

    def _us(self, began: int) -> int:
        return (self._clock.now() - began) // 1000


def play_in_memory(game: GameSpec, bots: Mapping[Bot, PythonBot], conditions: Conditions) -> GameRecord:
    """Play one game between functions in this process."""
    clock = SystemClock()
    table: list[Player] = [FunctionPlayer(bots[bot].choose, clock) for bot in game.seats]
    return play_once(game, table, conditions, clock)


class InMemoryEngine:
    """Plays the blocks of a round in this process, one game after the other; see `Engine`."""

    workers = 1

    def __init__(
        self, number: int, secret: bytes, bots: Mapping[Bot, PythonBot], conditions: Conditions, derivation: Derivation
    ) -> None:
        self._number = number
        self._secret = secret
        self._bots = bots
        self._conditions = conditions
        self._derivation = derivation
        self._again: deque[Block] = deque()
        self._stopping = False
        self._unwanted: Callable[[Block], bool] = lambda _: False

    def run(self, blocks: Iterator[Block], wait: Callable[[], float | None]) -> Iterator[Arrival | None]:
        """See `Engine.run`."""
        del wait
        while not self._stopping:
            block = self._again.popleft() if self._again else next(blocks, None)
            if block is None:
                return
            yield from self._play(block)

    def _play(self, block: Block) -> Iterator[Arrival]:
        self._unwanted = lambda _: False
        games = games_of(block, self._secret, of_round=self._number, derivation=self._derivation)
        for left, game in zip(range(len(block.deals) - 1, -1, -1), games, strict=True):
            record = play_in_memory(game, self._bots, self._conditions)
            yield Finished((Stored.of(record),), (), done=not left, ms=record.ms)
            if self._stopping or self._unwanted(block):
                return

    def arrived(self) -> Iterator[Arrival]:
        """See `Engine.arrived`: nothing is ever held back."""
        return iter(())

    def urge(self, block: Block) -> None:
        """See `Engine.urge`."""
        self._again.appendleft(block)

    def revise(self, change: Callable[[Block], Block]) -> None:
        """See `Engine.revise`."""
        self._again = deque(map(change, self._again))

    def stop(self) -> None:
        """See `Engine.stop`."""
        self._stopping = True

    def drop(self, unwanted: Callable[[Block], bool]) -> None:
        """See `Engine.drop`."""
        self._unwanted = unwanted
        self._again = deque(block for block in self._again if not unwanted(block))

    def close(self) -> None:
        """See `Engine.close`."""
