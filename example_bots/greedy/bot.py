"""Lays the card that gives up the fewest matches, and takes whatever can be had of a drawn card."""

import json
import sys


def choose(question):
    """The action for an `act` message."""
    if question["phase"] == "lay":
        return "lay " + min(question["hand"], key=lambda card: cost(card, question))
    best = question["legal"][0]
    if best == "widow" and len(question["widows"]) == 3 and not leads(question):
        return "keep"  # the fourth widow would end the game
    return best


def cost(card, question):
    """How bad it is to lay a card; of two that cost the same, `min` takes the first in canonical order."""
    rank = card[0]
    if rank == "Q":
        return (-1, 0)  # of no use in the hand
    held = count(rank, question["hand"])
    coming = 4 - held - count(rank, question["discards"])
    given_up = coming if held == 1 else 0  # cards that match the hand now and would not then
    return (given_up, coming)


def count(rank, cards):
    return sum(card[0] == rank for card in cards)


def leads(question):
    """Whether nobody has fewer cards than this seat."""
    return question["hand_sizes"][question["seat"]] == min(question["hand_sizes"])


def say(message):
    print(json.dumps(message), flush=True)


def main():
    for line in sys.stdin:
        message = json.loads(line)
        kind = message.get("type")
        if kind == "hello":
            say({"type": "ready", "protocol": 1, "name": "greedy", "version": "1", "language": "Python"})
        elif kind == "quit":
            break
        elif "id" in message:
            say({"id": message["id"], "action": choose(message)})


if __name__ == "__main__":
    main()
