"""Writes `protocol/transcripts/` from the test vectors: `python tests/unit/protocol/make_transcripts.py`.

Cards, questions, answers and endings are those of `tests/vectors`; ids, seeds, game ids, times and labels are made up
here, the same in every run. How a seat at fault failed is chosen here too, since the vectors say only where it did.
The tables of `greedy-*` are those of `tests/greedy_tables.py`.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
VECTORS = ROOT / "tests" / "vectors" / "games.jsonl.gz"
FOLDER = ROOT / "protocol" / "transcripts"

Json = dict[str, Any]


class Failure(StrEnum):
    """How a bot fails, by its verdict."""

    SILENCE = "timeout"
    OLD_ID = "protocol_error"
    ILLEGAL = "illegal_action"


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """What the same processes play together: games by their number in the vectors, under limits in ms."""

    name: str
    games: tuple[int, ...]
    move_ms: int | None = 1000
    game_ms: int | None = None
    failures: tuple[Failure, ...] = ()


SITTINGS = (
    Sitting(name="2-emptied", games=(61,)),
    Sitting(name="2-two-games", games=(6, 56)),
    Sitting(name="2-illegal-action", games=(0,), failures=(Failure.ILLEGAL,)),
    Sitting(name="2-timeout", games=(41,), move_ms=250, failures=(Failure.SILENCE,)),
    Sitting(name="3-recycled-in-mid-turn", games=(10,), game_ms=3000),
    Sitting(name="3-widows", games=(9,)),
    Sitting(name="4-house-plays-on", games=(31,), failures=(Failure.SILENCE, Failure.OLD_ID)),
    Sitting(name="5-emptied", games=(43,)),
    Sitting(name="5-stalled", games=(2,), move_ms=None),
    Sitting(name="6-emptied", games=(1,)),
    Sitting(name="6-widows", games=(4,)),
)
START_FAILED = Sitting(name="2-start-failed", games=(38,))

LABELS: tuple[Json, ...] = (
    {"name": "careful", "version": "1.2", "language": "C"},
    {},
    {"name": "greedy", "author": None, "version": None},
)


def transcripts() -> dict[str, str]:
    """By file name: the text of each transcript."""
    with gzip.open(VECTORS, "rt", encoding="ascii") as file:
        vectors = [json.loads(line) for line in file]
    told = {sitting.name: list(_Table(sitting, vectors).play()) for sitting in SITTINGS}
    told[START_FAILED.name] = list(_Table(START_FAILED, vectors).never_begin())
    told |= _greedy()
    return {
        f"{name}.jsonl": "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        for name, lines in sorted(told.items())
    }


def _greedy() -> dict[str, list[Json]]:
    """By name: what is said at the tables at which all play greedy."""
    if str(ROOT / "tests" / "support") not in sys.path:
        sys.path.insert(0, str(ROOT / "tests" / "support"))
    from greedy_tables import TABLES, Made, Telling

    made = Made(_number, _game_id)
    return {table.name: list(Telling(table, made).lines()) for table in TABLES}


class _Table:
    """The processes of one sitting, one for each seat."""

    def __init__(self, sitting: Sitting, vectors: list[Json]) -> None:
        self.sitting = sitting
        self.games = [vectors[number] for number in sitting.games]
        self.seats = range(self.games[0]["players"])
        self.failures = iter(sitting.failures)
        self.stopped: set[int] = set()
        self.ids: dict[int, list[int]] = {seat: [] for seat in self.seats}

    def play(self) -> Iterator[Json]:
        for seat in self.seats:
            yield self._hello(seat)
            yield _said(seat, {"type": "ready", "protocol": 1, **LABELS[seat % len(LABELS)]})
        for number, game in enumerate(self.games):
            yield from self._game(game, f"{self.sitting.name} {number}")
        yield from self._quit()

    def never_begin(self) -> Iterator[Json]:
        """Seat 0 chooses a version that was not offered, so that the game of two is over before it begins."""
        yield self._hello(0)
        yield _said(0, {"type": "ready", "protocol": 2})
        yield self._fault(0, "start_failed", "it chose version 2 of the protocol, and only 1 was offered")
        yield self._hello(1)
        yield _said(1, {"type": "ready", "protocol": 1})
        game, name = self.games[0], self.sitting.name
        start = self._start(game, name, 1)
        end = {
            "reason": "forfeit",
            "places": [2, 1],
            "hand_sizes": start["line"]["hand_sizes"],
            "forfeited": [0],
            "events": [None, []],
        }
        yield start
        yield self._end(end, name, 1)
        yield from self._quit()

    def _game(self, game: Json, name: str) -> Iterator[Json]:
        started: set[int] = set()
        used = dict.fromkeys(self.seats, 0)
        for asked in game["asked"]:
            seat = asked["question"]["seat"]
            if seat not in started:
                started.add(seat)
                yield self._start(game, name, seat)
            yield self._act(asked["question"], game["rules"], name, used[seat])
            used[seat] += 5 + self.ids[seat][-1] % 300
            if asked["action"] is None:
                yield from self._fail(seat, asked["question"]["legal"])
            else:
                yield self._answer(seat, asked)
        for seat in self.seats:
            if seat not in self.stopped:
                if seat not in started:
                    yield self._start(game, name, seat)
                yield self._end(game["end"], name, seat)

    def _hello(self, seat: int) -> Json:
        limits = {"start_ms": 10000, "move_ms": self.sitting.move_ms, "game_ms": self.sitting.game_ms}
        hello = {"type": "hello", "protocol": [1], "game": "four-widows", "referee": "0.1.0", **limits}
        return _told(seat, hello)

    def _start(self, game: Json, name: str, seat: int) -> Json:
        heaps = [game["deck"][first :: game["players"] + 1] for first in range(game["players"] + 1)]
        talon = heaps.pop(0 if game["rules"]["odd_card"] == "talon" else -1)
        return _told(
            seat,
            {
                "type": "start",
                "game_id": _game_id(name),
                "seat": seat,
                "players": game["players"],
                "hand": sorted(heaps[seat], key=_canonical),
                "hand_sizes": [len(hand) for hand in heaps],
                "talon_size": len(talon),
                "rules": game["rules"],
                "seed": _number(f"seed {name} {seat}") - 1,
            },
        )

    def _act(self, question: Json, rules: Json, name: str, used: int) -> Json:
        seat = question["seat"]
        self.ids[seat].append(_number(f"id {name} {seat} {len(self.ids[seat])}"))
        game_left = None if self.sitting.game_ms is None else self.sitting.game_ms - used
        limits = [limit for limit in (self.sitting.move_ms, game_left) if limit is not None]
        return _told(
            seat,
            {
                "type": "act",
                "id": self.ids[seat][-1],
                "game_id": _game_id(name),
                "seat": seat,
                "rules": rules,
                **{field: value for field, value in question.items() if field != "seat"},
                "time_left_ms": min(limits, default=None),
                "game_left_ms": game_left,
            },
        )

    def _answer(self, seat: int, asked: Json) -> Json:
        answer = {"id": self.ids[seat][-1], "action": asked["action"]}
        if seat == 0 and asked["action"].startswith("discard"):
            gone = len(asked["action"].split()) - 1
            answer["note"] = f"{len(asked['question']['hand']) - gone} left"
        return _said(seat, answer)

    def _fail(self, seat: int, legal: list[str]) -> Iterator[Json]:
        failure = next(self.failures)
        self.stopped.add(seat)
        now = self.ids[seat][-1]
        if failure is Failure.SILENCE:
            detail = (
                f"no answer within {self.sitting.move_ms} ms: if it did print an answer, stdout was not flushed; "
                "else it was too slow, or waits for more input"
            )
        elif failure is Failure.OLD_ID:
            before = self.ids[seat][-2]
            yield _said(seat, {"id": before, "action": legal[0]})
            detail = (
                f"the reply echoed id {before}, the question was {now}: answer each question once, after it was asked"
            )
        else:
            action = legal[0].upper()
            yield _said(seat, {"id": now, "action": action})
            detail = f"{action} is not allowed here; to the letter one of: {', '.join(legal)}"
        yield self._fault(seat, failure.value, detail)

    def _fault(self, seat: int, verdict: str, detail: str) -> Json:
        self.stopped.add(seat)
        return _told(seat, {"type": "fault", "verdict": verdict, "detail": detail})

    def _end(self, end: Json, name: str, seat: int) -> Json:
        return _told(seat, {"type": "end", "game_id": _game_id(name), **end, "events": end["events"][seat]})

    def _quit(self) -> Iterator[Json]:
        return (_told(seat, {"type": "quit"}) for seat in self.seats if seat not in self.stopped)


def _told(seat: int, line: Json) -> Json:
    return {"to": "bot", "seat": seat, "line": line}


def _said(seat: int, line: Json) -> Json:
    return {"to": "referee", "seat": seat, "line": line}


def _canonical(card: str) -> tuple[int, int]:
    return "6789TJQKA".index(card[0]), "CDHS".index(card[1])


def _game_id(name: str) -> str:
    return sha256(f"game {name}".encode()).hexdigest()[:16]


def _number(name: str) -> int:
    """A number from 1 to 2^31 - 1 that belongs to `name`."""
    return int.from_bytes(sha256(name.encode()).digest()[:8], "big") % (2**31 - 1) + 1


def main() -> None:
    """Write every transcript into its file, and remove those that are no more."""
    FOLDER.mkdir(exist_ok=True)
    made = transcripts()
    for old in FOLDER.glob("*.jsonl"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
