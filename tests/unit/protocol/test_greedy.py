"""The dialogues of `greedy-*`: every answer is the page's, they show all that there is, and a wrong reading is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import greedy
import pytest

Lines = list[dict[str, Any]]
Message = dict[str, Any]
Choice = Callable[[Message], str]


@pytest.fixture(scope="module")
def answered(transcripts: dict[str, Lines]) -> dict[str, list[tuple[Message, str]]]:
    """By name: the questions that were answered, and their answers."""
    return {name: list(pairs(lines)) for name, lines in transcripts.items() if name.startswith("greedy-")}


def pairs(lines: Lines) -> Iterator[tuple[Message, str]]:
    asked: dict[int, Message] = {}
    for line in lines:
        message = line["line"]
        if line["to"] == "referee" and "id" in message:
            yield asked[message["id"]], message["action"]
        elif "id" in message:
            asked[message["id"]] = message


def test_there_is_one_for_every_number_of_players(answered: dict[str, list[tuple[Message, str]]]) -> None:
    assert list(answered) == [f"greedy-{players}" for players in range(2, 7)]
    for name, questions in answered.items():
        assert {len(question["hand_sizes"]) for question, _ in questions} == {int(name[-1])}
        assert {question["seat"] for question, _ in questions} == set(range(int(name[-1])))


def test_every_answer_is_what_the_page_says(answered: dict[str, list[tuple[Message, str]]]) -> None:
    questions = [pair for several in answered.values() for pair in several]
    assert len(questions) > 700
    assert all(greedy.choose(question) == action for question, action in questions)


def test_each_table_shows_the_rules_and_what_is_rare(answered: dict[str, list[tuple[Message, str]]]) -> None:
    everywhere = {
        "odd_card talon", "odd_card first", "scoring places", "scoring winner", "scoring loser", "discard any",
        "discard all", "recycled in mid-turn", "one card", "a tie of ranks", "the second number decides",
        "several queens", "keeps the fourth widow", "discards 1 of 2", "discards 2 of 2",
        *(f"widow after {widows}" for widows in range(4)),
    }  # fmt: skip
    shown = {name: set[str]().union(*(greedy.shows(asked) for asked, _ in told)) for name, told in answered.items()}
    assert {name: everywhere - found for name, found in shown.items()} == {name: set() for name in answered}
    assert {
        "discards 3 of 8",
        "discards 3 of 2",
        "discards 2 of 4",
        "1 at fault",
        "2 at fault",
        "a queen before what costs nothing",
    } <= set().union(*shown.values())


def test_all_endings_are_shown(transcripts: dict[str, Lines]) -> None:
    ends = {
        line["line"]["reason"]
        for name, lines in transcripts.items()
        if name.startswith("greedy-")
        for line in lines
        if line["line"].get("type") == "end"
    }
    assert ends == {"emptied", "widows", "stalled"}


def laying(cost: Callable[[str, Message], Any], *, last: bool = False) -> Choice:
    """Greedy with another cost, or with the last of those that cost the same."""

    def choose(question: Message) -> str:
        if question["phase"] == "drawn":
            return greedy.choose(question)
        cards = question["hand"][::-1] if last else question["hand"]
        return "lay " + min(cards, key=lambda card: cost(card, question))

    return choose


def drawing(declines: Callable[[Message], bool], best: int = 0) -> Choice:
    """Greedy with another exception, or with another of the legal actions."""

    def choose(question: Message) -> str:
        if question["phase"] == "lay":
            return greedy.choose(question)
        return "keep" if declines(question) else str(question["legal"][min(best, len(question["legal"]) - 2)])

    return choose


def count(card: str, cards: list[str]) -> int:
    return sum(other[0] == card[0] for other in cards)


def other_cost(
    *, itself: int = 0, discards: tuple[str, ...] = ("discards",), queen: tuple[int, int] | None = (-1, 0)
) -> Callable[[str, Message], Any]:
    def cost(card: str, question: Message) -> tuple[int, int]:
        if card[0] == "Q" and queen is not None:
            return queen
        held = count(card, question["hand"])
        coming = 4 - held + itself - sum(count(card, question[name]) for name in discards)
        return (coming if held == 1 else 0), coming

    return cost


def fewer(question: Message, widows: range, *, equal: bool = False, more: bool = False) -> bool:
    own, sizes = question["hand_sizes"][question["seat"]], question["hand_sizes"]
    others = [size for seat, size in enumerate(sizes) if seat != question["seat"]]
    behind = any(size <= own if equal else size > own if more else size < own for size in others)
    return question["legal"][0] == "widow" and len(question["widows"]) in widows and behind


WRONG: dict[str, Choice] = {
    "the last of those that cost the same": laying(greedy.cost, last=True),
    "the first number alone": laying(lambda card, question: greedy.cost(card, question)[0]),
    "the second number alone": laying(lambda card, question: greedy.cost(card, question)[1]),
    "queens cost as others do": laying(other_cost(queen=None)),
    "queens cost nothing": laying(other_cost(queen=(0, 0))),
    "queens go last": laying(other_cost(queen=(9, 9))),
    "discards do not count": laying(other_cost(discards=())),
    "the highest card of the cheapest": laying(lambda card, question: (*greedy.cost(card, question), -ord(card[1]))),
    "the fourth widow is never kept": drawing(lambda question: False),
    "the third widow is kept too": drawing(lambda question: fewer(question, range(2, 4))),
    "the fourth widow is always kept": drawing(lambda question: len(question["widows"]) == 3 and "widow" in question["legal"]),
    "kept where some seat has as few": drawing(lambda question: fewer(question, range(3, 4), equal=True)),
    "kept where some seat has more": drawing(lambda question: fewer(question, range(3, 4), more=True)),
    "the second choice": drawing(greedy.declines, 1),
    "the smallest discard": drawing(greedy.declines, -2),
    "seat 0 as oneself": drawing(lambda question: greedy.declines({**question, "seat": 0})),
    "the next seat alone is looked at": drawing(
        lambda question: greedy.declines(question)
        and question["hand_sizes"][(question["seat"] + 1) % len(question["hand_sizes"])]
        < question["hand_sizes"][question["seat"]]
    ),
    "the drawn card is among those held": laying(
        lambda card, question: other_cost()(card, {**question, "hand": [*question["hand"], question["drawn"] or "6C"]})
    ),
}  # fmt: skip


@pytest.mark.parametrize("reading", WRONG)
def test_a_wrong_reading_of_the_page_answers_otherwise_somewhere(
    reading: str, answered: dict[str, list[tuple[Message, str]]]
) -> None:
    assert any(WRONG[reading](question) != action for several in answered.values() for question, action in several)
