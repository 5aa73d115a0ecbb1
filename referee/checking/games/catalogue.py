"""The positions that a bot has to master, and games that reach them whatever the bot plays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from referee.cards import QUEENS
from referee.checking.games.dealing import Fate, Luck
from referee.checking.games.manners import AtRandom, Manner, keeps, only_widows, takes
from referee.checking.games.setting import GameSetup, deck_with, heap_of, heap_of_talon, room_in
from referee.checking.games.sitting import CheckedGame
from referee.rules import DEFAULT_RULES, DiscardRule, Ending, OddCard, Question, Rules, Scoring, State

TRIPLES = "6C 6D 6H 7C 7D 7H 8C 8D 8H 9C 9D 9H"
FOURTHS = "6S 7S 8S 9S"
_QUEENS = "QC QD QH QS"
_STALL = "QS KC KD KH KS AC AD AH AS JC JD JH"
"""A talon from which all can draw some cards that match nothing in their hands."""


@dataclass(frozen=True, slots=True)
class ArrangedGame:
    """A game to be played: how the others play, and what is drawn; without `fate` the deck says it."""

    setting: GameSetup
    manner: Manner = takes
    fate: Fate | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """A position by its name: at how many players it can be had, games that lead to it, and whether one did.

    `games` makes the game of the n-th try, from 0, for that many players; the tries end when `shown` is true.
    """

    name: str
    title: str
    players: tuple[int, ...]
    games: Callable[[int, int], ArrangedGame]
    shown: Callable[[CheckedGame], bool]
    tries: int = 3


def fates(own: Luck, others: Luck = Luck.NOTHING, *, seat: int) -> Fate:
    """The bot draws so, the others so."""
    return lambda _state, turn: own if turn == seat else others


def any_question(holds: Callable[[Question], bool]) -> Callable[[CheckedGame], bool]:
    """True if a question was answered of which this holds."""
    return lambda course: any(holds(question) for question in course.questions[: len(course.replies)])


ALL = (2, 3, 4, 5, 6)


# -- hands and draws


def _one_card(players: int, attempt: int) -> ArrangedGame:
    seat = attempt % players
    deck = deck_with(DEFAULT_RULES, players, {seat: TRIPLES}, seed=attempt)
    setting = GameSetup(players=players, seat=seat, deck=deck)
    return ArrangedGame(setting, keeps, fates(Luck.ONE_LEFT, seat=seat))


def _three_matches(discard: DiscardRule) -> Callable[[int, int], ArrangedGame]:
    rules = Rules(discard=discard)

    def make(players: int, attempt: int) -> ArrangedGame:
        seat = attempt % players
        triples = room_in(heap_of(rules, seat), players) // 3
        talon = " ".join(FOURTHS.split()[: max(1, triples)])  # of the triples in hand alone
        deck = deck_with(rules, players, {seat: TRIPLES}, talon=talon, seed=attempt)
        setting = GameSetup(players=players, seat=seat, deck=deck, rules=rules)
        return ArrangedGame(setting, keeps, fates(Luck.MATCHES, seat=seat))

    return make


def _four_queens(players: int, attempt: int) -> ArrangedGame:
    seat = attempt % players
    deck = deck_with(DEFAULT_RULES, players, {seat: _QUEENS}, seed=attempt)
    return ArrangedGame(GameSetup(players=players, seat=seat, deck=deck), takes, None)


def _widows(players: int, attempt: int) -> ArrangedGame:
    seat = (1 + attempt) % players
    deck = deck_with(DEFAULT_RULES, players, {}, talon=_QUEENS, seed=attempt)

    def fate(state: State, turn: int) -> Luck:
        if turn == seat:
            return Luck.QUEEN if len(state.widows) == 3 else Luck.NOTHING
        return Luck.QUEEN if len(state.widows) < 3 else Luck.NOTHING

    return ArrangedGame(GameSetup(players=players, seat=seat, deck=deck), only_widows, fate)


def _recycled(players: int, attempt: int) -> ArrangedGame:
    # the talon's last card is drawn by the seat whose turn it then is; queens, which nobody draws before, are left
    seat = (room_in(heap_of_talon(DEFAULT_RULES, players), players) - 1) % players
    deck = deck_with(DEFAULT_RULES, players, {}, talon=_STALL, seed=attempt)
    return ArrangedGame(GameSetup(players=players, seat=seat, deck=deck), keeps, fates(Luck.NOTHING, seat=seat))


# -- the others


def _house(at_fault: int) -> Callable[[int, int], ArrangedGame]:
    def make(players: int, attempt: int) -> ArrangedGame:
        seat = attempt % players
        others = [other for other in range(players) if other != seat][:at_fault]
        absent, leaving = tuple(others[:1]), tuple((other, 2) for other in others[1:])
        deck = deck_with(DEFAULT_RULES, players, {}, seed=attempt)
        return ArrangedGame(GameSetup(players=players, seat=seat, deck=deck, absent=absent, leaving=leaving), takes)

    return make


def _never_asked(players: int, attempt: int) -> ArrangedGame:
    others = tuple(range(players - 1))
    deck = deck_with(DEFAULT_RULES, players, {}, seed=attempt)
    return ArrangedGame(GameSetup(players=players, seat=players - 1, deck=deck, absent=others))


def _many_events(players: int, attempt: int) -> ArrangedGame:
    seat = players - 1
    deck = deck_with(DEFAULT_RULES, players, {}, seed=attempt)
    return ArrangedGame(
        GameSetup(players=players, seat=seat, deck=deck), takes, fates(Luck.NOTHING, Luck.MATCHES, seat=seat)
    )


# -- rules


def _ruled(rules: Rules, *, seat: int = 0) -> Callable[[int, int], ArrangedGame]:
    def make(players: int, attempt: int) -> ArrangedGame:
        deck = deck_with(rules, players, {}, seed=attempt)
        return ArrangedGame(GameSetup(players=players, seat=seat, deck=deck, rules=rules), takes)

    return make


def _quiet_but_for_the_last(seat: int) -> Fate:
    """No seat has a choice, until a queen saves the game from its stall."""

    def fate(state: State, turn: int) -> Luck:
        is_last = state.kept_in_a_row == state.rules.stall_limit - 1
        return Luck.QUEEN if is_last and turn == seat else Luck.NOTHING

    return fate


def _stalls(limit: int, *, saved: bool = False) -> Callable[[int, int], ArrangedGame]:
    rules = Rules(stall_limit=limit)

    def make(players: int, attempt: int) -> ArrangedGame:
        seat = attempt % players
        deck = deck_with(rules, players, {}, talon=_STALL, seed=attempt)
        setting = GameSetup(players=players, seat=seat, deck=deck, rules=rules)
        return ArrangedGame(setting, keeps, _quiet_but_for_the_last(seat) if saved else fates(Luck.NOTHING, seat=seat))

    return make


def _plain(players: int, attempt: int) -> ArrangedGame:
    deck = deck_with(DEFAULT_RULES, players, {}, seed=attempt)
    return ArrangedGame(GameSetup(players=players, seat=attempt % players, deck=deck), AtRandom(attempt))


def _asked(course: CheckedGame) -> bool:
    return bool(course.replies)


def _ends(reason: Ending) -> Callable[[CheckedGame], bool]:
    return lambda course: course.outcome is not None and course.outcome.reason is reason


def _matches(question: Question, count: int) -> bool:
    return question.drawn is not None and len(question.legal[0].taken) == count


POSITIONS: tuple[Position, ...] = (
    Position("most_cards", "the longest hand to lay from", ALL, _ruled(DEFAULT_RULES), _asked),
    Position(
        "three_matches",
        "three cards in hand match the one drawn: eight legal actions",
        ALL,
        _three_matches(DiscardRule.ANY),
        any_question(lambda asked: _matches(asked, 3)),
    ),
    Position(
        "four_queens",
        "four queens in hand",
        ALL,
        _four_queens,
        any_question(lambda asked: (asked.hand & QUEENS).bit_count() == 4),
    ),
    Position(
        "three_widows",
        "three widows on the table",
        ALL,
        _widows,
        any_question(lambda asked: len(asked.widows) == 3 and asked.drawn is None),
    ),
    Position(
        "fourth_widow",
        "the fourth queen drawn: the widow that ends the game",
        ALL,
        _widows,
        any_question(lambda asked: len(asked.widows) == 3 and asked.drawn is not None and not asked.hand & QUEENS),
    ),
    Position(
        "recycled",
        "a talon recycled in mid-turn: recycled is true",
        (3, 4, 2, 5, 6),
        _recycled,
        any_question(lambda asked: asked.recycled),
    ),
    Position(
        "near_the_stall",
        "the last turn before a stall: kept_in_a_row is stall_limit - 1",
        ALL,
        _stalls(5, saved=True),
        any_question(lambda asked: asked.kept_in_a_row == asked.rules.stall_limit - 1),
        tries=7,
    ),
    Position("stalled", "a game that ends stalled", ALL, _stalls(5), _ends(Ending.STALLED)),
    Position(
        "one_card",
        "one card in hand",
        ALL,
        _one_card,
        any_question(lambda asked: asked.hand.bit_count() == 1 and asked.drawn is None),
    ),
    Position(
        "empty_hand",
        "a queen drawn, and no card left in hand",
        ALL,
        _one_card,
        any_question(lambda asked: asked.hand == 0),
        tries=6,
    ),
    Position("stall_limit_1", "stall_limit 1", ALL, _ruled(Rules(stall_limit=1)), _asked),
    Position("scoring_winner", "scoring winner", ALL, _ruled(Rules(scoring=Scoring.WINNER)), _asked),
    Position("scoring_loser", "scoring loser", ALL, _ruled(Rules(scoring=Scoring.LOSER)), _asked),
    Position(
        "discard_all",
        "discard all: several cards match, and two actions are legal",
        ALL,
        _three_matches(DiscardRule.ALL),
        any_question(lambda asked: asked.drawn is not None and len(asked.legal[0].taken) > 1),
    ),
    Position(
        "odd_card_first",
        "odd_card first, where seat 0 has a card more",
        (4, 6, 2, 3, 5),
        _ruled(Rules(odd_card=OddCard.FIRST)),
        _asked,
    ),
    Position(
        "never_asked",
        "a game that is over before the bot was asked: start and end in one piece",
        ALL,
        _never_asked,
        _ends(Ending.FORFEIT),
        tries=1,
    ),
    Position(
        "house",
        "a seat at fault, played by the house: forfeited is not empty",
        (3, 4, 5, 6),
        _house(1),
        any_question(lambda asked: len(asked.forfeited) == 1),
    ),
    Position(
        "two_houses",
        "two seats at fault",
        (4, 5, 6),
        _house(2),
        any_question(lambda asked: len(asked.forfeited) == 2),
    ),
    *(Position(f"players_{count}", f"a table of {count}", (count,), _plain, _asked, tries=1) for count in ALL),
    Position(
        "many_events",
        "the most events in one question",
        (6, 5, 4, 3, 2),
        _many_events,
        any_question(lambda asked: len(asked.events) >= len(asked.hand_sizes)),
    ),
)
"""In the order in which they are tried: what a game comes to on its way to a position stands before it."""
