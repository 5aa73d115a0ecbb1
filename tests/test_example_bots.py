"""The example bots, started as real programs: what they answer, that their games are repeatable, how good they are."""

from __future__ import annotations

import gzip
import importlib.util
import json
import random
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, stdev
from types import ModuleType
from typing import Any

import pytest

from protocol.codec import parse_answer, parse_ready
from referee import actions
from referee.bots.manifest import find_bots
from referee.bots.prepare import Prepared, prepare
from referee.bots.sandbox.building import Workshop
from referee.bots.sandbox.tiers import Tier
from referee.cards import NAMES, cards_of, names, parse_deck, set_of
from referee.record import rules_as_dict
from referee.rules import DEFAULT_RULES, Outcome, Question, Rules, State, deal

EXAMPLES = Path(__file__).parent.parent / "example_bots"
VECTORS = Path(__file__).parent / "vectors" / "games.jsonl.gz"
BOTS = ("greedy", "greedy-c", "memory", "pairs", "random")

Message = dict[str, Any]


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Prepared]:
    found = find_bots(sorted(EXAMPLES.iterdir()))
    assert not found.refused
    cache = tmp_path_factory.mktemp("cache")
    return {bot.identity.name: prepare(bot, cache, builder=Workshop(Tier.D)) for bot in found.bots}


@pytest.fixture(scope="module")
def games() -> list[list[Message]]:
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


@pytest.mark.parametrize("name", BOTS)
def test_every_question_is_answered_once_with_a_legal_action(
    name: str, bots: dict[str, Prepared], games: list[list[Message]]
) -> None:
    asked = questions_in(flat(games))
    answers = [parse_answer(answer) for answer in replies(bots[name], flat(games))]
    assert len(asked) > 1500
    assert [answer.id for answer in answers] == [question["id"] for question in asked]
    assert all(answer.action in question["legal"] for answer, question in zip(answers, asked, strict=True))


@pytest.mark.parametrize("name", BOTS)
def test_a_game_is_repeatable_whatever_was_played_before(
    name: str, bots: dict[str, Prepared], games: list[list[Message]]
) -> None:
    game, others = max(games, key=len), flat(games[:30])
    length = len(questions_in(game))
    alone = replies(bots[name], game)
    assert replies(bots[name], [*others, *game])[-length:] == alone
    assert replies(bots[name], [*game[: len(game) // 2], *game])[-length:] == alone


def test_another_seed_gives_another_random_game(bots: dict[str, Prepared], games: list[list[Message]]) -> None:
    start, *rest = max(games, key=len)
    assert replies(bots["random"], [start, *rest]) != replies(bots["random"], [{**start, "seed": 99}, *rest])


@pytest.mark.parametrize("name", BOTS)
def test_unknown_messages_and_fields_are_ignored(
    name: str, bots: dict[str, Prepared], games: list[list[Message]]
) -> None:
    game = max(games, key=len)
    strange = {"type": "weather", "ids": [1], "text": 'a "type":"quit", and an "id":7'}
    more = [{**message, "mood": {"id_card": "QS", "list": [1]}} for message in game]
    assert replies(bots[name], [strange, *more[:3], strange, *more[3:]]) == replies(bots[name], game)


@pytest.mark.parametrize("name", BOTS)
def test_each_answer_is_flushed_and_quit_ends_the_bot(
    name: str, bots: dict[str, Prepared], games: list[list[Message]]
) -> None:
    with talk_to(bots[name]) as process:
        assert process.stdin and process.stdout
        for message in [HELLO, *games[0][:-1]]:
            process.stdin.write(line(message))
            process.stdin.flush()
            if message["type"] != "start":
                assert process.stdout.readline().endswith(b"}\n")
        process.stdin.write(line(QUIT))
        process.stdin.flush()
        assert process.wait() == 0


@pytest.mark.parametrize("name", BOTS)
def test_the_end_of_stdin_ends_the_bot(name: str, bots: dict[str, Prepared]) -> None:
    sent = line(HELLO)
    done = subprocess.run(bots[name].argv, cwd=bots[name].folder, input=sent, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, b"", 1)


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


def test_greedy_in_c_and_in_python_choose_alike(bots: dict[str, Prepared], games: list[list[Message]]) -> None:
    seen = [*questions_in(flat(games)), *questions_met_at_random(150)]
    assert len(seen) > 6_000
    assert replies_as_actions(bots["greedy-c"], seen) == replies_as_actions(bots["greedy"], seen)


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


def test_greedy_in_c_compiles_without_a_warning(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    assert compiler
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    done = subprocess.run(
        [compiler, *flags, "-o", tmp_path / "greedy", EXAMPLES / "greedy-c" / "greedy.c"], capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", BOTS)
def test_an_example_is_short_and_has_a_page_of_five_lines(name: str) -> None:
    folder = EXAMPLES / name
    assert len((folder / "README.md").read_text().splitlines()) == 5
    (source,) = (path for path in folder.iterdir() if path.suffix in (".py", ".c", ".js"))
    text = source.read_text()
    assert len(text.splitlines()) < 150
    assert not any(f"{word} {ours}" in text for word in ("import", "from") for ours in ("referee", "protocol"))


# -- strength, in this process


class Table:
    """A seat of a game in this process: told of its start, and asked."""

    def __init__(self, choose: Callable[[Message], str]) -> None:
        self.choose = choose

    def begin(self, start: Message) -> None:
        """A game begins."""


class Remembering(Table):
    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def begin(self, start: Message) -> None:
        self.choose = self.module.Memory(start).choose


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / name / "bot.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def score(one: Table, other: Table, *, players: int, deals: int) -> tuple[float, float]:
    """The mean score of `one` on every second seat against `other` on the rest, seats changed, and its error."""
    dice = random.Random(1)
    means = []
    for _ in range(deals):
        deck = shuffled(dice)
        points: list[float] = []
        for first in (0, 1):
            sides = [(seat + first) % 2 for seat in range(players)]
            places = play([(one, other)[side] for side in sides], deck).places
            points += [
                (places[a] < places[b]) + (places[a] == places[b]) / 2
                for a in range(players)
                for b in range(players)
                if sides[a] == 0 and sides[b] == 1
            ]
        means.append(fmean(points))
    return fmean(means), stdev(means) / deals**0.5


def test_greedy_beats_random_by_far() -> None:
    dice = random.Random(2)
    mean, error = score(
        Table(load("greedy").choose), Table(lambda question: dice.choice(question["legal"])), players=2, deals=100
    )
    assert mean - 3 * error > 0.8


def test_memory_beats_greedy() -> None:
    mean, error = score(Remembering(load("memory")), Table(load("greedy").choose), players=3, deals=400)
    assert mean - 2 * error > 0.5


def test_greedy_beats_pairs(bots: dict[str, Prepared]) -> None:
    with talk_to(bots["pairs"]) as process:
        assert process.stdin and process.stdout

        def choose(question: Message) -> str:
            process.stdin.write(line(question))
            process.stdin.flush()
            return parse_answer(process.stdout.readline().rstrip(b"\n")).action

        mean, error = score(Table(load("greedy").choose), Table(choose), players=2, deals=100)
    assert mean - 3 * error > 0.6
