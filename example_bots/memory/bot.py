"""Plays like greedy, and remembers where in the talon and the pile the cards lie that it laid itself."""

import json
import sys


class Memory:
    """One game: talon and pile as card names, the next to be drawn last, None for a card that others laid.

    The pile becomes the talon as it lies, so the card laid last is drawn first.
    """

    def __init__(self, start):
        self.talon = [None] * start["talon_size"]
        self.pile = []

    def follow(self, event):
        """A turn: one card laid on the pile, one drawn from the talon."""
        self.pile.append(event["laid"])
        self.talon.pop()
        if not self.talon:
            self.talon, self.pile = self.pile, []

    def choose(self, question):
        """The action for an `act` message."""
        for event in question["events"]:
            self.follow(event)
        if question["phase"] == "lay":
            return "lay " + min(question["hand"], key=lambda card: self.cost(card, question))
        best = question["legal"][0]
        if best == "widow" and len(question["widows"]) == 3 and not leads(question):
            return "keep"  # the fourth widow would end the game
        return best

    def cost(self, card, question):
        """How bad it is to lay a card; of two that cost the same, `min` takes the first in canonical order."""
        rank = card[0]
        if rank == "Q":
            return (-1, 0)  # of no use in the hand
        held = count(rank, question["hand"])
        next_drawn = self.talon[-1]
        if next_drawn and next_drawn[0] == rank:
            return (99, held)  # it is about to match
        known = count(rank, self.talon + self.pile)
        unseen = 4 - held - count(rank, question["discards"]) - known
        coming = 2 * unseen + 3 * known  # an unseen card may stay in another hand, a known one will be drawn
        return (coming if held == 1 else 0, coming)


def count(rank, cards):
    return sum(card is not None and card[0] == rank for card in cards)


def leads(question):
    """Whether nobody has fewer cards than this seat."""
    return question["hand_sizes"][question["seat"]] == min(question["hand_sizes"])


def say(message):
    print(json.dumps(message), flush=True)


def main():
    memory = None
    for line in sys.stdin:
        message = json.loads(line)
        kind = message.get("type")
        if kind == "hello":
            say({"type": "ready", "protocol": 1, "name": "memory", "version": "1", "language": "Python"})
        elif kind == "start":
            memory = Memory(message)
        elif kind == "quit":
            break
        elif "id" in message:
            say({"id": message["id"], "action": memory.choose(message)})


if __name__ == "__main__":
    main()
