"""Greedy as `docs/greedy.md` has it to the letter, written from that page alone, and what is worth showing of it."""

from __future__ import annotations

from typing import Any

Message = dict[str, Any]


def choose(question: Message) -> str:
    """The action for an `act` message."""
    if question["phase"] == "drawn":
        return "keep" if declines(question) else str(question["legal"][0])
    cards = question["hand"]
    costs = [cost(card, question) for card in cards]
    return f"lay {cards[costs.index(min(costs))]}"


def declines(question: Message) -> bool:
    """Whether this is the exception: the fourth widow, and some seat has fewer cards."""
    sizes = question["hand_sizes"]
    own = sizes[question["seat"]]
    return question["legal"][0] == "widow" and len(question["widows"]) == 3 and any(size < own for size in sizes)


def cost(card: str, question: Message) -> tuple[int, int]:
    """What it costs to lay a card of the hand."""
    if card[0] == "Q":
        return -1, 0
    held = sum(other[0] == card[0] for other in question["hand"])
    coming = 4 - held - sum(other[0] == card[0] for other in question["discards"])
    return (coming if held == 1 else 0), coming


def shows(question: Message) -> set[str]:
    """In a few words, what in this question a program may do wrongly."""
    legal, widows = question["legal"], question["widows"]
    found = {f"{key} {value}" for key, value in question["rules"].items() if key != "stall_limit"}
    if question["phase"] == "lay":
        found |= _laying(question)
    elif legal[0] == "widow":
        found.add("keeps the fourth widow" if declines(question) else f"widow after {len(widows)}")
    else:
        found.add(f"discards {len(legal[0].split()) - 1} of {len(legal)}")
    if question["recycled"]:
        found.add("recycled in mid-turn")
    if question["forfeited"]:
        found.add(f"{len(question['forfeited'])} at fault")
    return found


def _laying(question: Message) -> set[str]:
    found, hand = set(), question["hand"]
    costs = sorted((cost(card, question), hand.index(card)) for card in hand)
    least = [card for card in hand if cost(card, question) == costs[0][0]]
    if len(hand) == 1:
        found.add("one card")
    if sum(card[0] == "Q" for card in hand) > 1:
        found.add("several queens")
    if hand[costs[0][1]][0] == "Q" and any(cost(card, question) == (0, 0) for card in hand[: costs[0][1]]):
        found.add("a queen before what costs nothing")
    if len({card[0] for card in least}) > 1:
        found.add("a tie of ranks")
    if any(first == costs[0][0][0] and second > costs[0][0][1] for (first, second), _ in costs):
        found.add("the second number decides")
    return found
