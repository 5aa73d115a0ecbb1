"""Ways of playing Four Widows, honest and not, as functions in the same process: for studies of many games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from referee.actions import KEEP, LAYS, WIDOW, Action
from referee.cards import BITS, QUEENS, SAME_RANK, cards_of, set_of, shuffled
from referee.record import Bot, GameResult
from referee.rules import DEFAULT_RULES, Ending, Phase, Question, State
from referee.tournament.rounds.seating import seats_of


class Manner:
    """Plays like the example bot greedy; one object is one seat of one game. Others differ as their names say."""

    slips = 0.0

    def __init__(self, dice: Random, seat: int, table: Table) -> None:
        self.dice, self.seat, self.table = dice, seat, table

    def choose(self, question: Question) -> Action:
        if self.slips and self.dice.random() < self.slips:
            return self.dice.choice(question.legal)
        if question.phase is Phase.LAY:
            return LAYS[min(cards_of(question.hand), key=lambda card: self.cost(card, question))]
        best = question.legal[0]
        return self.widow(question) if best is WIDOW else best

    def cost(self, card: int, question: Question) -> tuple[int, int]:
        if BITS[card] & QUEENS:
            return (-1, 0)
        held = of_rank(card, question.hand)
        coming = 4 - held - of_rank(card, set_of(question.discards))
        return (coming if held == 1 else 0, coming)

    def widow(self, question: Question) -> Action:
        sizes = question.hand_sizes
        return KEEP if len(question.widows) == 3 and sizes[self.seat] > min(sizes) else WIDOW


class Careless(Manner):
    slips = 0.1


class Sloppy(Manner):
    slips = 0.3


class Anything(Manner):
    slips = 1.0


class Eager(Manner):
    def widow(self, question: Question) -> Action:
        del question
        return WIDOW


class Shy(Manner):
    def widow(self, question: Question) -> Action:
        return WIDOW if question.hand_sizes[self.seat] == min(question.hand_sizes) else KEEP


class NoWidow(Manner):
    def widow(self, question: Question) -> Action:
        del question
        return KEEP


class KeepsQueens(Manner):
    def cost(self, card: int, question: Question) -> tuple[int, int]:
        return (99, 0) if BITS[card] & QUEENS else super().cost(card, question)


class OneByOne(Manner):
    def choose(self, question: Question) -> Action:
        if question.phase is Phase.DRAWN and question.legal[0] is not WIDOW:
            return question.legal[-2]
        return super().choose(question)


class KeepsAll(Manner):
    def choose(self, question: Question) -> Action:
        return KEEP if question.phase is Phase.DRAWN else super().choose(question)


class LaysLow(Manner):
    def cost(self, card: int, question: Question) -> tuple[int, int]:
        del question
        return (card, 0)


class LaysHigh(Manner):
    def cost(self, card: int, question: Question) -> tuple[int, int]:
        del question
        return (-card, 0)


class Memory(Manner):
    """Like the example bot memory, which knows where the cards lie that it laid."""

    def __init__(self, dice: Random, seat: int, table: Table) -> None:
        super().__init__(dice, seat, table)
        self.talon: list[int | None] = [None] * len(table.state.talon)
        self.pile: list[int | None] = []
        self.turn = 0

    def knows(self) -> set[int]:
        """The seats whose cards it sees being laid."""
        return {self.seat}

    def choose(self, question: Question) -> Action:
        events, knows = self.table.state.events, self.knows()
        for event in events[self.turn :]:
            self.pile.append(event.laid if event.seat in knows else None)
            self.talon.pop()
            if not self.talon:
                self.talon, self.pile = self.pile, []
        self.turn = len(events)
        return super().choose(question)

    def cost(self, card: int, question: Question) -> tuple[int, int]:
        if BITS[card] & QUEENS:
            return (-1, 0)
        held, following = of_rank(card, question.hand), self.talon[-1]
        if following is not None and of_rank(card, BITS[following]):
            return (99, held)
        known = of_rank(card, set_of(one for one in (*self.talon, *self.pile) if one is not None))
        gone = of_rank(card, set_of(question.discards)) + self.elsewhere(card)
        coming = 2 * (4 - held - gone - known) + 3 * known
        return (coming if held == 1 else 0, coming)

    def elsewhere(self, card: int) -> int:
        """How many cards of this rank it knows in others' hands."""
        del card
        return 0


class Partner(Memory):
    """Shares with its partner what both hold and lay, and ends the game where both come off well: as
    `tests/partners/partner.py`."""

    def knows(self) -> set[int]:
        return {self.seat, *self.partners()}

    def partners(self) -> list[int]:
        players = self.table.players
        return [seat for seat, other in enumerate(players) if isinstance(other, Partner) and seat != self.seat]

    def elsewhere(self, card: int) -> int:
        return sum(of_rank(card, self.table.state.hands[seat]) for seat in self.partners())

    def widow(self, question: Question) -> Action:
        if len(question.widows) < 3 or not self.partners():
            return super().widow(question)
        sizes, pair = question.hand_sizes, {self.seat, *self.partners()}
        others = [size for seat, size in enumerate(sizes) if seat not in pair]
        ahead = sum((sizes[one] < other) - (sizes[one] > other) for one in pair for other in others)
        return WIDOW if ahead >= len(others) else KEEP


HONEST: dict[str, type[Manner]] = {
    manner.__name__: manner
    for manner in (
        *(Manner, Memory, Careless, Sloppy, Anything, Eager, Shy, NoWidow, KeepsQueens, OneByOne, KeepsAll),
        *(LaysLow, LaysHigh),
    )
}


def of_rank(card: int, held: int) -> int:
    """How many cards of a set have this card's rank."""
    return (held & SAME_RANK[card]).bit_count()


class Table:
    """One game; partners may look at all of it, honest manners look at their questions."""

    def __init__(self, manners: Sequence[type[Manner]], deck: tuple[int, ...], dice: Random) -> None:
        self.state = State(DEFAULT_RULES, len(manners), deck)
        self.players = [manner(dice, seat, self) for seat, manner in enumerate(manners)]

    def play(self) -> tuple[int, ...]:
        """The places by seat."""
        state = self.state
        while state.outcome is None:
            state.apply(self.players[state.turn].choose(state.ask()))
        return state.outcome.places


def games(
    bots: Mapping[str, type[Manner]], line_ups: Sequence[tuple[str, ...]], deals: range, seed: str
) -> list[GameResult]:
    """All rotations of some deals of each line-up."""
    dice, played = Random(seed), []
    known = {name: Bot(name, name.encode().hex().ljust(64, "0")) for name in bots}
    for line_up in line_ups:
        size = len(line_up)
        for deal in deals:
            deck = shuffled(f"{seed} {line_up} {deal}".encode())
            for rotation in range(size):
                seats = [line_up[member] for member in seats_of(size, deal, rotation)]
                places = Table([bots[name] for name in seats], deck, dice).play()
                played.append(
                    GameResult(tuple(known[name] for name in seats), deal, rotation, Ending.EMPTIED, places, ())
                )
    return played
