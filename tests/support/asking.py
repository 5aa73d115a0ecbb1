"""What bots are asked in whole games, and how their processes are asked it."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from protocol.codec import parse_answer, parse_ready
from referee import actions
from referee.bots.cache.prepare import Prepared
from referee.cards import NAMES, cards_of, names, parse_deck, set_of
from referee.record import rules_as_dict
from referee.rules import DEFAULT_RULES, Outcome, Question, Rules, State, deal

VECTORS = Path(__file__).parents[1] / "vectors" / "games.jsonl.gz"

Message = dict[str, Any]


def games_of_the_vectors() -> list[list[Message]]:
    """What one seat was sent in each of the games of the vectors, from `start` to `end`, for every seat."""
    with gzip.open(VECTORS, "rt") as file:
        return [messages for number, line in enumerate(file) for messages in seats_of(json.loads(line), number)]


def seats_of(game: Message, number: int) -> Iterator[list[Message]]:
    rules = game["rules"]
    hands, talon = deal(Rules(**rules), game["players"], parse_deck(" ".join(game["deck"])))
    for seat, hand in enumerate(hands):
        head = {"game_id": f"{number}", "seat": seat}
        start = {
            "type": "start",
            **head,
            "players": len(hands),
            "hand": names(cards_of(set_of(hand))),
            "hand_sizes": [len(other) for other in hands],
            "talon_size": len(talon),
            "rules": rules,
            "seed": 7 * number + seat,
        }
        questions = [asked["question"] for asked in game["asked"] if asked["question"]["seat"] == seat]
        acts = [act({**question, **head, "rules": rules}, 1 + number + step) for step, question in enumerate(questions)]
        yield [start, *acts, {"type": "end", **head, **game["end"], "events": []}]


FIELDS = (
    "game_id seat rules phase hand drawn legal laid recycled hand_sizes talon_size pile_size widows discards forfeited"
    " kept_in_a_row events"
)


def act(question: Message, number: int) -> Message:
    """An `act` message, its fields in the order of the contract."""
    fields = {field: question[field] for field in FIELDS.split()}
    return {"type": "act", "id": number, **fields, "time_left_ms": 1000, "game_left_ms": None}


HELLO = {
    "type": "hello",
    "protocol": [1],
    "game": "four-widows",
    "referee": "0",
    "start_ms": None,
    "move_ms": None,
    "game_ms": None,
}
QUIT = {"type": "quit"}


def line(message: Message) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def replies(bot: Prepared, messages: Sequence[Message]) -> list[bytes]:
    """What a bot says from `ready` on to `messages`, all sent at once, and that it ends well."""
    sent = b"".join(map(line, [HELLO, *messages, QUIT]))
    done = subprocess.run(bot.argv, cwd=bot.folder, input=sent, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    said = done.stdout.splitlines()
    assert parse_ready(said[0]).name == bot.manifest.identity.name
    return said[1:]


def questions_in(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if "id" in message]


def flat(games: Sequence[list[Message]]) -> list[Message]:
    return [message for game in games for message in game]


class talk_to:  # noqa: N801 - read as a word of a sentence
    """A bot's process with pipes; killed after 20 s, so that a bot that says nothing fails its test."""

    def __init__(self, bot: Prepared) -> None:
        self.process = subprocess.Popen(bot.argv, cwd=bot.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.alarm = threading.Timer(20, self.process.kill)

    def __enter__(self) -> subprocess.Popen[bytes]:
        self.alarm.start()
        return self.process

    def __exit__(self, *_: object) -> None:
        self.alarm.cancel()
        self.process.kill()
        self.process.communicate()


def replies_as_actions(bot: Prepared, questions: Sequence[Message]) -> list[str]:
    return [parse_answer(answer).action for answer in replies(bot, questions)]


def questions_met_at_random(count: int) -> list[Message]:
    """All questions of some games between players who take the first legal action or any."""
    met: list[Message] = []
    dice = random.Random(5)

    def choose(question: Message) -> str:
        met.append(question)
        return question["legal"][0] if question["drawn"] and dice.random() < 0.8 else dice.choice(question["legal"])

    for number in range(count):
        play([Table(choose)] * (2 + number % 5), shuffled(dice))
    return met


# -- games in this process


class Table:
    """A seat of a game in this process: told of its start, and asked."""

    def __init__(self, choose: Callable[[Message], str]) -> None:
        self.choose = choose

    def begin(self, start: Message) -> None:
        """A game begins."""


def shuffled(dice: random.Random) -> tuple[int, ...]:
    deck = list(range(len(NAMES)))
    dice.shuffle(deck)
    return tuple(deck)


def play(table: Sequence[Table], deck: tuple[int, ...]) -> Outcome:
    state = State(DEFAULT_RULES, len(table), deck)
    for player in table:
        player.begin({"talon_size": len(state.talon)})
    number = 0
    while state.outcome is None:
        number += 1
        question = as_message(state.ask(), number)
        action = actions.parse(table[question["seat"]].choose(question))
        assert action
        state.apply(action)
    return state.outcome


def as_message(question: Question, number: int) -> Message:
    def card(index: int | None) -> str | None:
        return None if index is None else NAMES[index]

    events = [
        {
            **event._asdict(),
            "laid": card(event.laid),
            "drew": card(event.drew),
            "result": event.result.value,
            "discarded": names(event.discarded),
        }
        for event in question.events
    ]
    fields: Message = {
        **question._asdict(),
        "game_id": "0",
        "rules": rules_as_dict(question.rules),
        "phase": question.phase.value,
        "hand": names(cards_of(question.hand)),
        "drawn": card(question.drawn),
        "laid": card(question.laid),
        "legal": [action.text for action in question.legal],
        "widows": names(question.widows),
        "discards": names(question.discards),
        "events": events,
    }
    return act(fields, number)
