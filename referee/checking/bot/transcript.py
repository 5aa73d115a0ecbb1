"""One seat's side of a dialogue, line by line, and telling it to a bot once more."""

from __future__ import annotations

import json
from typing import NamedTuple, Protocol

from referee.errors import BotFault
from referee.play import Reply
from referee.rules import Question


class Put(NamedTuple):
    """A message to the bot, its LF included, and where it stands among all of its file, counted from 1.

    `question` is None where it wants no answer. `action` is the answer then, None where any that is legal will do.
    """

    number: int
    line: bytes
    question: Question | None = None
    id: int = 0
    action: str | None = None


class Side(NamedTuple):
    """What one seat's process was told, from `hello` to what came before `quit` or its fault."""

    seat: int
    hello: Put
    puts: tuple[Put, ...]

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return sum(put.question is not None for put in self.puts)


def as_transcript(side: Side) -> str:
    """The lines of a file that tells this side again; answers are left out, so that any that are legal will do."""
    said = {"to": "referee", "seat": side.seat, "line": {"type": "ready", "protocol": 1}}
    told = [{"to": "bot", "seat": side.seat, "line": json.loads(put.line)} for put in (side.hello, *side.puts)]
    lines = [told[0], said, *told[1:]]
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


class Listener(Protocol):
    """A bot at a seat that is told lines as they are given."""

    def start(self) -> None:
        """Start its process and say hello. Raises BotFault."""

    def tell(self, line: bytes) -> None:
        """Send a line that wants no answer."""

    def hold(self, line: bytes) -> None:
        """Send a line that wants no answer together with the next one."""

    def put(self, line: bytes, question: Question, question_id: int) -> Reply:
        """Send a question, and judge the answer. Raises BotFault."""


class Difference(NamedTuple):
    """Where a bot first answers otherwise than a file has it: an action, or a fault."""

    seat: int
    put: Put
    now: str | BotFault


def tell(side: Side, listener: Listener) -> Difference | None:
    """Tell a bot one side of a file, up to the first difference. Raises VoidGame."""
    put = side.hello
    try:
        listener.start()
        for put in side.puts:
            if put.question is None:
                _say(put.line, listener)
                continue
            now = listener.put(put.line, put.question, put.id).action.text
            if put.action not in (None, now):
                return Difference(side.seat, put, now)
    except BotFault as fault:
        return Difference(side.seat, put, fault)
    return None


def _say(line: bytes, listener: Listener) -> None:
    if line.startswith(b'{"type":"start"'):
        listener.hold(line)
    else:
        listener.tell(line)
