"""The rules against whole games that an independent implementation played; see `tests/vectors`."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from referee.actions import parse
from referee.cards import NAMES, cards_of, names, parse_deck
from referee.rules import DiscardRule, Event, OddCard, Question, Rules, Scoring, State

VECTORS = Path(__file__).parents[1] / "vectors" / "games.jsonl.gz"
GAMES = 80

Json = dict[str, Any]


@cache
def games() -> list[Json]:
    with gzip.open(VECTORS, "rt", encoding="ascii") as lines:
        return [json.loads(line) for line in lines]


def name(card: int | None) -> str | None:
    return None if card is None else NAMES[card]


def event_json(event: Event) -> Json:
    return {
        "seat": event.seat,
        "laid": name(event.laid),
        "drew": name(event.drew),
        "result": event.result.value,
        "discarded": names(event.discarded),
        "recycled": event.recycled,
    }


def question_json(question: Question) -> Json:
    return {
        "phase": question.phase.value,
        "seat": question.seat,
        "hand": names(cards_of(question.hand)),
        "drawn": name(question.drawn),
        "legal": [action.text for action in question.legal],
        "laid": name(question.laid),
        "recycled": question.recycled,
        "hand_sizes": list(question.hand_sizes),
        "talon_size": question.talon_size,
        "pile_size": question.pile_size,
        "widows": names(question.widows),
        "discards": names(question.discards),
        "forfeited": list(question.forfeited),
        "kept_in_a_row": question.kept_in_a_row,
        "events": [event_json(event) for event in question.events],
    }


def end_json(state: State) -> Json:
    outcome = state.outcome
    assert outcome is not None
    return {
        "reason": outcome.reason.value,
        "places": list(outcome.places),
        "hand_sizes": list(outcome.hand_sizes),
        "forfeited": list(outcome.forfeited),
        "events": [
            None if seat in outcome.forfeited else [event_json(event) for event in state.untold(seat)]
            for seat in range(state.players)
        ],
    }


def begin(game: Json) -> State:
    options = game["rules"]
    rules = Rules(
        OddCard(options["odd_card"]),
        Scoring(options["scoring"]),
        DiscardRule(options["discard"]),
        options["stall_limit"],
    )
    return State(rules, game["players"], parse_deck(" ".join(game["deck"])))


@pytest.mark.parametrize("number", range(GAMES))
def test_game_plays_as_the_independent_implementation_says(number: int) -> None:
    game = games()[number]
    state = begin(game)
    for asked in game["asked"]:
        assert state.outcome is None
        question = state.ask()
        assert question_json(question) == asked["question"]
        assert [action.text for action in state.legal()] == asked["question"]["legal"]
        if asked["action"] is None:
            state.forfeit(question.seat)
        else:
            action = parse(asked["action"])
            assert action is not None
            state.apply(action)
    assert end_json(state) == game["end"]


def test_games_are_all_there() -> None:
    assert len(games()) == GAMES


def test_games_cover_every_number_of_players_every_option_and_every_ending() -> None:
    assert {game["players"] for game in games()} == {2, 3, 4, 5, 6}
    for option, values in (("odd_card", OddCard), ("scoring", Scoring), ("discard", DiscardRule)):
        assert {game["rules"][option] for game in games()} == {value.value for value in values}
    assert {game["end"]["reason"] for game in games()} == {"emptied", "widows", "stalled", "forfeit"}
