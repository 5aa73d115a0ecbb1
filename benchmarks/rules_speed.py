"""How many decisions a second the rules alone take, beside OpenSpiel's crazy_eights driven from Python in the same way.

    python benchmarks/rules_speed.py [--repeats 15] [--games 200]

Needs the extra `benchmark` (OpenSpiel). Both games are played at random in one process by the same loop (list the legal
actions, apply one of them), taking turns, so that whatever slows the machine slows both. Dealing is timed on both
sides, shuffling on neither. Times are CPU times of this process; figures are medians over the repeats; a ratio is
that of the medians, with the lowest and highest of a single repeat in brackets.

What counts as a decision: here each `lay` (also with one card in hand) and each question about a drawn card that can be
discarded or put down; a draw without a choice is none. In crazy_eights each node of a player (play, draw, pass,
nominate a suit), also those with one legal action. Its chance nodes are not decisions; the last ratio counts them as if
they were.

crazy_eights asks for every card at a chance node. That costs little or much, so it is driven in three ways:

- `sampled`: as OpenSpiel's own examples do, an outcome is drawn by the probabilities of `chance_outcomes()`;
- `uniform`: one of `legal_actions()` with equal chances, which is right for one deck and nearly so for two;
- `handed in`: the next card of a deck shuffled beforehand, nothing asked and nothing drawn: the least it can cost, and
  the way in which our own deck comes.
"""

from __future__ import annotations

import argparse
import platform
import random
import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

import pyspiel

from referee.cards import DECK_SIZE
from referee.rules import DEFAULT_RULES, State

FRENCH_DECK = 52
EIGHT = 6
CHANCE, TERMINAL = -1, -4

Deck = tuple[int, ...]
Pick = Callable[[pyspiel.State], int]


class Count(NamedTuple):
    """What some games took: decisions of players, chance nodes, seconds of CPU."""

    decisions: int
    chance: int
    seconds: float


def play_four_widows(players: int, decks: list[Deck]) -> tuple[int, int]:
    """Play a game a deck; the numbers of decisions and of chance nodes (none: the deck is handed in)."""
    rnd = random.random
    decisions = 0
    for deck in decks:
        state = State(DEFAULT_RULES, players, deck)
        while state.outcome is None:
            legal = state.legal()
            state.apply(legal[int(rnd() * len(legal))])
            decisions += 1
    return decisions, 0


def ask_four_widows(players: int, decks: list[Deck]) -> tuple[int, int]:
    """The same with `State.ask` before each decision, as a tournament does."""
    rnd = random.random
    decisions = 0
    for deck in decks:
        state = State(DEFAULT_RULES, players, deck)
        while state.outcome is None:
            legal = state.ask().legal
            state.apply(legal[int(rnd() * len(legal))])
            decisions += 1
    return decisions, 0


def crazy_eights(pick_for: Callable[[Deck], Pick]) -> Callable[[int, list[Deck]], tuple[int, int]]:
    """Play crazy_eights, its chance nodes by the pick that belongs to a deck."""

    def play(players: int, decks: list[Deck]) -> tuple[int, int]:
        rnd = random.random
        game = pyspiel.load_game(f"crazy_eights(players={players})")
        decisions = chance = 0
        for deck in decks:
            pick = pick_for(deck)
            state = game.new_initial_state()
            state.apply_action(FRENCH_DECK + int(rnd() * players))  # who deals
            chance += 1
            while (player := state.current_player()) != TERMINAL:
                if player == CHANCE:
                    state.apply_action(pick(state))
                    chance += 1
                else:
                    legal = state.legal_actions()
                    state.apply_action(legal[int(rnd() * len(legal))])
                    decisions += 1
        return decisions, chance

    return play


def sampled(_deck: Deck) -> Pick:
    """An outcome by its probability."""

    def pick(state: pyspiel.State) -> int:
        outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
        return random.choices(outcomes, probabilities)[0]

    return pick


def uniform(_deck: Deck) -> Pick:
    """Any outcome."""
    rnd = random.random

    def pick(state: pyspiel.State) -> int:
        outcomes = state.legal_actions()
        return outcomes[int(rnd() * len(outcomes))]

    return pick


def play_handed_in(players: int, decks: list[Deck]) -> tuple[int, int]:
    """Play crazy_eights, the next card of the deck at every chance node, without a call for it."""
    rnd = random.random
    game = pyspiel.load_game(f"crazy_eights(players={players})")
    decisions = chance = 0
    for deck in decks:
        cards = iter(deck)
        state = game.new_initial_state()
        state.apply_action(FRENCH_DECK + int(rnd() * players))  # who deals
        chance += 1
        while (player := state.current_player()) != TERMINAL:
            if player == CHANCE:
                state.apply_action(next(cards))
                chance += 1
            else:
                legal = state.legal_actions()
                state.apply_action(legal[int(rnd() * len(legal))])
                decisions += 1
    return decisions, chance


def four_widows_deck(_players: int, dice: random.Random) -> Deck:
    """A deck of 36."""
    return tuple(dice.sample(range(DECK_SIZE), DECK_SIZE))


def crazy_eights_deck(players: int, dice: random.Random) -> Deck:
    """A deck of 52, or two of them for six players.

    An eight turned up after the deal goes back into the deck and another card is turned up; here that is done
    before the clock starts, which saves OpenSpiel a chance node.
    """
    cards = [*range(FRENCH_DECK)] * (1 if players <= 5 else 2)
    deck = dice.sample(cards, len(cards))
    turned_up = players * (7 if players == 2 else 5)
    while deck[turned_up] // 4 == EIGHT:
        other = dice.randrange(turned_up + 1, len(deck))
        deck[turned_up], deck[other] = deck[other], deck[turned_up]
    return tuple(deck)


class Contender(NamedTuple):
    """A loop, and how its decks are made."""

    name: str
    play: Callable[[int, list[Deck]], tuple[int, int]]
    deck: Callable[[int, random.Random], Deck]


RULES = Contender("rules alone", play_four_widows, four_widows_deck)
ASKED = Contender("rules and ask()", ask_four_widows, four_widows_deck)
SAMPLED = Contender("crazy_eights, sampled", crazy_eights(sampled), crazy_eights_deck)
UNIFORM = Contender("crazy_eights, uniform", crazy_eights(uniform), crazy_eights_deck)
HANDED_IN = Contender("crazy_eights, handed in", play_handed_in, crazy_eights_deck)
CONTENDERS = (RULES, ASKED, SAMPLED, UNIFORM, HANDED_IN)


def measure(contender: Contender, players: int, games: int, seed: str) -> Count:
    """Time `games` games."""
    dice = random.Random(seed)
    decks = [contender.deck(players, dice) for _ in range(games)]
    random.seed(seed)
    began = time.process_time()
    decisions, chance = contender.play(players, decks)
    return Count(decisions, chance, time.process_time() - began)


def compare(players: int, *, repeats: int, games: int) -> None:
    """Measure all contenders in turns; print a line for each, and the ratios."""
    counts: dict[Contender, list[Count]] = {contender: [] for contender in CONTENDERS}
    for repeat in range(-1, repeats):
        for contender in CONTENDERS:
            count = measure(contender, players, games, f"{players} {repeat}")
            if repeat >= 0:  # the first round warms up
                counts[contender].append(count)
    print(f"\n{players} players{'':>20}decisions/s   a game     rules alone are as fast")
    ours = rates(counts[RULES])
    for contender, measured in counts.items():
        a_game = sum(count.decisions for count in measured) / (repeats * games)
        compared = "" if contender in (RULES, ASKED) else f"   {ratio(ours, rates(measured))}"
        print(f"  {contender.name:<25}{median(rates(measured)):>14,.0f}{a_game:>9.1f}{compared}")
    handed_in = counts[HANDED_IN]
    counted = [(count.decisions + count.chance) / count.seconds for count in handed_in]
    print(f"  {'and its chance nodes':<25}{median(counted):>14,.0f}{'':>9}   {ratio(ours, counted)}")


def rates(measured: list[Count]) -> list[float]:
    """Decisions a second."""
    return [count.decisions / count.seconds for count in measured]


def ratio(ours: list[float], theirs: list[float]) -> str:
    """The ratio of the medians, and the range of the ratios repeat by repeat."""
    single = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return f"{median(ours) / median(theirs):.2f} times ({min(single):.2f} to {max(single):.2f})"


def main() -> None:
    """Print the comparison for 2, 4 and 6 players."""
    parser = argparse.ArgumentParser(description="Decisions a second: the rules alone, and OpenSpiel's crazy_eights.")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--games", type=int, default=200)
    arguments = parser.parse_args()
    print(f"Python {platform.python_version()}, {arguments.repeats} repeats of {arguments.games} games, medians")
    for players in (2, 4, 6):
        compare(players, repeats=arguments.repeats, games=arguments.games)


if __name__ == "__main__":
    main()
