"""The report of `replay-bot`: lines as it goes, or one JSON document at the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from referee.cli.output.words import in_json
from referee.cli.streams import echo_line
from referee.errors import BotFault

if TYPE_CHECKING:
    from referee.bots.cache.prepare import Prepared
    from referee.bots.seat.playback import PlayedBack
    from referee.bots.seat.transcript import Transcript


class RerunReport:
    """Reports each moment of a playback as it comes, or all in one document at the end."""

    def __init__(self, transcript: Transcript, bot: Prepared, *, as_json: bool) -> None:
        self._transcript = transcript
        self._played = transcript.of_game
        self._as_json = as_json
        self._moments: list[dict[str, object]] = []
        self._bot = bot.manifest.identity
        self._asked = 0
        self._wrong: PlayedBack | None = None
        self._failed = False
        if not as_json:
            for line in self._head():
                echo_line(line)

    def _head(self) -> Iterator[str]:
        then, now = self._played.bot, self._bot
        yield f"game {self._played.game_id}, seat {self._transcript.seat} of {self._played.players}"
        if now == then:
            yield f"{now.name} {now.hash[:8]}, the version that played"
        else:
            yield f"{now.name} {now.hash[:8]}; then it was another version, {then.name} {then.hash[:8]}"

    def add(self, moment: PlayedBack) -> None:
        """Report one more moment."""
        self._asked += moment.sent is not None
        self._failed = self._failed or isinstance(moment.now, BotFault)
        if not moment.same and self._wrong is None:
            self._wrong = moment
        if self._as_json:
            self._moments.append(_as_dict(moment))
        else:
            for line in _told_in_lines(moment):
                echo_line(line)

    def finish(self) -> bool:
        """Report the end; True if everything was the same and nothing went wrong."""
        if self._as_json:
            click.echo(in_json(self._document(), indent=2))
        else:
            click.echo(self._end())
        return self._wrong is None and not self._failed

    def _end(self) -> str:
        questions = f"{self._asked} question{'' if self._asked == 1 else 's'}"
        if self._wrong is not None:
            return f"{questions}: it goes another way {_where(self._wrong)}"
        return f"{questions}: the same {'to the fault, which comes again' if self._failed else 'all the way'}"

    def _document(self) -> dict[str, object]:
        then, now = self._played.bot, self._bot
        return {
            "game_id": self._played.game_id,
            "seat": self._transcript.seat,
            "bot": {
                "then": {"name": then.name, "hash": then.hash},
                "now": {"name": now.name, "hash": now.hash},
            },
            "same": self._wrong is None,
            "at_fault": self._failed,
            "moments": self._moments,
        }


def _where(moment: PlayedBack) -> str:
    if moment.sent is not None:
        return f"in turn {moment.sent.number}"
    turn = None if moment.fault is None else moment.fault.turn
    return "at its start" if turn is None else f"in turn {turn}, before the question"


def _then(moment: PlayedBack) -> str:
    if moment.fault is not None:
        return f"{moment.fault.verdict.value}: {moment.fault.detail}"
    return "ready" if moment.sent is None else str(moment.sent.action)


def _now(moment: PlayedBack) -> str:
    if isinstance(moment.now, BotFault):
        return f"{moment.now.verdict.value}: {moment.now.detail}"
    if moment.now is not None:
        return moment.now.action.text
    return "ready" if moment.fault is None or moment.fault.turn is None else "nothing that should not be"


def _told_in_lines(moment: PlayedBack) -> Iterator[str]:
    """Yield one line if it went as before, else the question, the old answer and the new one."""
    from referee.site.text import plain

    if moment.same and not isinstance(moment.now, BotFault) and moment.sent is not None:
        us = 0 if moment.now is None else moment.now.us
        yield f"{moment.sent.number:4}  {_then(moment)}" + click.style(f"   {us / 1000:.2f} ms", dim=True)
        return
    turn = moment.sent.number if moment.sent is not None else moment.fault.turn if moment.fault is not None else None
    yield f"{'' if turn is None else turn:>4}  " + ("the same fault" if moment.same else "another way")
    if moment.sent is not None:
        yield f"      asked  {moment.sent.line.decode().rstrip()}"
    yield f"      then   {plain(_then(moment), limit=2000)}"
    yield f"      now    {plain(_now(moment), limit=2000)}"


def _as_dict(moment: PlayedBack) -> dict[str, object]:
    sent, now = moment.sent, moment.now
    return {
        "turn": sent.number if sent is not None else moment.fault.turn if moment.fault is not None else None,
        "question": None if sent is None else json.loads(sent.line),
        "then": _side(
            None if sent is None else sent.action,
            None if moment.fault is None else (moment.fault.verdict.value, moment.fault.detail),
            None if sent is None else sent.us,
        ),
        "now": _side(
            None if now is None or isinstance(now, BotFault) else now.action.text,
            (now.verdict.value, now.detail) if isinstance(now, BotFault) else None,
            None if now is None else now.us,
        ),
        "same": moment.same,
    }


def _side(action: str | None, fault: tuple[str, str] | None, us: int | None) -> dict[str, object]:
    return {"action": action, "fault": None if fault is None else {"verdict": fault[0], "detail": fault[1]}, "us": us}
