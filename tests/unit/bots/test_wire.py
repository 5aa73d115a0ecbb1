"""The lines written by hand are those of the models, to the byte; over the games of an independent implementation."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from protocol import messages
from protocol.codec import MAX_SENT, encode
from referee import actions
from referee.bots.seat.wire import QuestionWriter, end_line, start_line
from referee.cards import parse_deck
from referee.play import GameEnd, GameStart
from referee.rules import DiscardRule, OddCard, Rules, Scoring, State

VECTORS = Path(__file__).parents[2] / "vectors" / "games.jsonl.gz"
GAME_ID = "00ff00ff00ff00ff"


def vectors() -> Iterator[dict[str, Any]]:
    with gzip.open(VECTORS, "rt") as file:
        yield from map(json.loads, file)


def state_of(game: dict[str, Any]) -> State:
    given = game["rules"]
    rules = Rules(
        OddCard(given["odd_card"]), Scoring(given["scoring"]), DiscardRule(given["discard"]), given["stall_limit"]
    )
    return State(rules, game["players"], parse_deck(" ".join(game["deck"])))


def starts(state: State) -> list[GameStart]:
    sizes = tuple(state.sizes)
    return [
        GameStart(
            GAME_ID, seat, state.players, state.hands[seat], sizes, len(state.talon), state.rules, 2**31 - 1 - seat
        )
        for seat in range(state.players)
    ]


def lines(game: dict[str, Any]) -> Iterator[tuple[bytes, type]]:
    """Every line that the bots of a game are sent, and the model that it is of."""
    state = state_of(game)
    told = starts(state)
    writers = [QuestionWriter(start) for start in told]
    yield from ((start_line(start), messages.Start) for start in told)
    for number, asked in enumerate(game["asked"], 1):
        seat = state.turn
        limits = (None, None) if number % 3 == 0 else (1000 - number % 7, 2**31)
        yield writers[seat].line(state.ask(), number, *limits), messages.Act
        if asked["action"] is None:
            state.forfeit(seat)
        else:
            action = actions.parse(asked["action"])
            assert action is not None
            state.apply(action)
    assert state.outcome is not None
    for seat in range(state.players):
        yield end_line(GameEnd(GAME_ID, state.outcome, state.untold(seat))), messages.End


def test_every_line_is_what_its_model_would_write() -> None:
    written = [pair for game in vectors() for pair in lines(game)]
    assert len(written) > 2000
    for line, model in written:
        assert encode(model.model_validate_json(line)) == line


def test_every_line_is_ascii_and_within_the_limit() -> None:
    longest = max(len(line) for game in vectors() for line, _ in lines(game))
    assert longest <= MAX_SENT
    assert all(
        line.isascii() and line.endswith(b"\n") and line.count(b"\n") == 1 for g in vectors() for line, _ in lines(g)
    )


@pytest.mark.parametrize("seat", [0, 1])
def test_a_question_says_what_the_vectors_say(seat: int) -> None:
    game = next(game for game in vectors() if game["players"] == 2)
    asked = [entry["question"] for entry in game["asked"] if entry["question"]["seat"] == seat]
    said = [json.loads(line) for line, model in lines(game) if model is messages.Act]
    ours = [message for message in said if message["seat"] == seat]
    assert [{key: message[key] for key in question} for message, question in zip(ours, asked, strict=True)] == asked
