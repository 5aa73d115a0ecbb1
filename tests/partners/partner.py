"""Plays for two: finds its partner at the table through files of a folder, and shares there what only it may know.

`partner.py FOLDER` plays like `memory` where its partner is absent. Where it is present, each also knows what the other
holds and has laid, and both end a game by the fourth widow only where they come off better than the others together.
`partner.py FOLDER idle` besides takes no card off its hand where the partner is absent.
"""

import json
import sys
from pathlib import Path


class Game:
    """One game as one of the two knows it. Cards that were laid are known by the number of their turn."""

    def __init__(self, start, folder):
        self.seat = start["seat"]
        self.others = [seat for seat in range(start["players"]) if seat != self.seat]
        self.mine = folder / f"{start['game_id']}.{self.seat}"
        self.talon = [None] * start["talon_size"]
        self.pile = []
        self.turn = 0
        self.laid = {}
        self.partner = None
        self.partner_hand = []
        self.write(start["hand"])

    def write(self, hand):
        """Tell the partner."""
        unfinished = self.mine.with_suffix(".new" + self.mine.suffix)
        unfinished.write_text(json.dumps({"hand": hand, "laid": self.laid}))
        unfinished.replace(self.mine)

    def read(self):
        """Hear the partner, where there is one."""
        for seat in self.others if self.partner is None else [self.partner]:
            try:
                told = json.loads(self.mine.with_suffix(f".{seat}").read_text())
            except FileNotFoundError:
                continue
            self.partner, self.partner_hand = seat, told["hand"]
            self.laid.update({turn: card for turn, card in told["laid"].items() if turn not in self.laid})

    def follow(self, event):
        """A turn: one card laid on the pile, one drawn from the talon."""
        self.pile.append(str(self.turn))
        self.turn += 1
        self.talon.pop()
        if not self.talon:
            self.talon, self.pile = self.pile, []

    def choose(self, question, idle):
        """The action for an `act` message."""
        for event in question["events"]:
            self.follow(event)
        self.read()
        if idle and self.partner is None:
            return question["legal"][-1]
        if question["phase"] == "lay":
            card = min(question["hand"], key=lambda card: self.cost(card, question))
            self.laid[str(self.turn)] = card
            self.write([other for other in question["hand"] if other != card])
            return "lay " + card
        best = question["legal"][0]
        if best == "widow" and len(question["widows"]) == 3 and not self.ahead(question):
            return "keep"
        return best

    def ahead(self, question):
        """Whether the fourth widow is welcome: the pair then beats more of the others than beat it, by their number."""
        sizes = question["hand_sizes"]
        if self.partner is None:
            return sizes[self.seat] == min(sizes)
        pair = (self.seat, self.partner)
        others = [size for seat, size in enumerate(sizes) if seat not in pair]
        return sum((sizes[one] < other) - (sizes[one] > other) for one in pair for other in others) >= len(others)

    def cost(self, card, question):
        """How bad it is to lay a card; of two that cost the same, `min` takes the first in canonical order."""
        rank = card[0]
        if rank == "Q":
            return (-1, 0)
        held = count(rank, question["hand"])
        if count(rank, [self.laid.get(self.talon[-1])]):
            return (99, held)  # it is about to match
        known = count(rank, [self.laid.get(turn) for turn in self.talon + self.pile])
        gone = count(rank, question["discards"]) + count(rank, self.partner_hand)
        coming = 2 * (4 - held - gone - known) + 3 * known
        return (coming if held == 1 else 0, coming)


def count(rank, cards):
    return sum(card is not None and card[0] == rank for card in cards)


def say(message):
    print(json.dumps(message), flush=True)


def main(folder, idle=""):
    game = None
    for line in sys.stdin:
        message = json.loads(line)
        kind = message.get("type")
        if kind == "hello":
            say({"type": "ready", "protocol": 1})
        elif kind == "start":
            game = Game(message, Path(folder))
        elif kind == "quit":
            break
        elif "id" in message:
            say({"id": message["id"], "action": game.choose(message, idle)})


if __name__ == "__main__":
    main(*sys.argv[1:])
