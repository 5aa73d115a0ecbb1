"""A bot for Four Widows. `choose` decides what it plays; the rest reads what it is sent and writes what it answers."""

from __future__ import annotations

import json
import sys
from typing import Any, TypedDict


def choose(question: Question) -> str:
    """The action to take: one of `question["legal"]`. Change this, and play better."""
    if question["phase"] == "lay":
        return "lay " + min(question["hand"], key=lambda card: cost(card, question))
    first = question["legal"][0]
    if first == "widow" and len(question["widows"]) == 3 and not leads(question):
        return "keep"  # the fourth widow would end a game that is not being won
    return first


def cost(card: str, question: Question) -> tuple[int, int]:
    """How bad it is to lay a card. Tuples compare by their first number, then by their second."""
    rank = card[0]
    if rank == "Q":
        return (-1, 0)  # a queen matches nothing
    held = count(rank, question["hand"])
    coming = 4 - held - count(rank, question["discards"])
    return (coming if held == 1 else 0, coming)


def count(rank: str, cards: list[str]) -> int:
    """How many of the cards have that rank."""
    return sum(card[0] == rank for card in cards)


def leads(question: Question) -> bool:
    """Whether nobody has fewer cards than this seat."""
    return question["hand_sizes"][question["seat"]] == min(question["hand_sizes"])


class Question(TypedDict):
    """What the bot is asked. A card is its rank, one of 6789TJQKA, and its suit, one of CDHS: "6C", "QS"."""

    id: int  # echoed in the answer
    game_id: str  # the same throughout a game
    seat: int  # this bot's place at the table, from 0
    rules: Rules  # which rules the game is played by
    phase: str  # "lay": which card to lay? "drawn": what becomes of the card just drawn?
    hand: list[str]  # this bot's cards, sorted, the drawn one not among them
    drawn: str | None  # the card just drawn, in phase "drawn"
    legal: list[str]  # the actions to choose from: "lay 6C", "discard 7C 7D", "widow", "keep"
    laid: str | None  # the card laid before this draw, in phase "drawn"
    recycled: bool  # whether this draw emptied the talon, so that the pile became the new talon
    hand_sizes: list[int]  # how many cards each seat has in its hand
    talon_size: int  # how many cards are left to draw
    pile_size: int  # how many cards have been laid since the talon was new
    widows: list[str]  # the queens on the table, oldest first; the fourth ends the game
    discards: list[str]  # the cards that are out of the game, oldest first
    forfeited: list[int]  # the seats that broke down; the house plays on for them
    kept_in_a_row: int  # turns since the last discard or widow; at rules["stall_limit"] the game ends
    events: list[Event]  # the turns since this bot's last question, oldest first, its own among them
    time_left_ms: int | None  # for this answer; None: no limit
    game_left_ms: int | None  # for all answers of this game together; None: no limit


class Rules(TypedDict):
    """The options of the rules."""

    odd_card: str  # who got the card that was over: "talon" or "first"
    scoring: str  # what counts at the end: "places", "winner" or "loser"
    discard: str  # "any" of the matching cards may be discarded, or only "all"
    stall_limit: int  # so many turns in a row without a discard or a widow end the game


class Event(TypedDict):
    """One turn of one seat."""

    seat: int  # whose turn it was
    laid: str | None  # the card laid; None in turns of others
    drew: str | None  # the card drawn; None where another seat kept it
    result: str  # "kept", "discarded" or "widow"
    discarded: list[str]  # the cards that went out with the drawn one
    recycled: bool  # whether the draw emptied the talon, so that the pile became the new talon


def say(message: dict[str, Any]) -> None:
    """Write one line, at once."""
    print(json.dumps(message), flush=True)


def main() -> None:
    """Answer what is asked, and ignore what is not known, until the referee has had enough."""
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("type") == "hello":
            say({"type": "ready", "protocol": 1, "name": "greedy", "version": "1", "language": "Python"})
        elif message.get("type") == "quit":
            break
        elif "id" in message:  # only questions have one
            say({"id": message["id"], "action": choose(message)})


if __name__ == "__main__":
    main()
