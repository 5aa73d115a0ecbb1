"""More positions for the catalogue: those that a long contest reaches, and a bot's own play seldom does."""

from __future__ import annotations

from referee.cards import BITS, QUEENS
from referee.checking.games.catalogue import ALL, POSITIONS, ArrangedGame, Position, any_question, fates
from referee.checking.games.dealing import Luck
from referee.checking.games.manners import keeps, takes
from referee.checking.games.setting import GameSetup, deck_with, heap_of_talon, room_in
from referee.rules import DEFAULT_RULES, Question, Rules

_BEYOND_A_BYTE = 1000
"""A `stall_limit` that eight bits do not hold."""


def _first_seat_gone(players: int, attempt: int) -> ArrangedGame:
    deck = deck_with(DEFAULT_RULES, players, {}, seed=attempt)
    return ArrangedGame(GameSetup(players=players, seat=players - 1, deck=deck, absent=(0,)))


def _one_other_left(players: int, attempt: int) -> ArrangedGame:
    seat = attempt % players
    absent = tuple(other for other in range(players) if other != seat)[1:]
    deck = deck_with(DEFAULT_RULES, players, {}, seed=attempt)
    return ArrangedGame(GameSetup(players=players, seat=seat, deck=deck, absent=absent))


def _house_recycles(players: int, attempt: int) -> ArrangedGame:
    # nobody finds anything, so that the talon's last card is drawn by the seat whose turn it then is
    gone = (room_in(heap_of_talon(DEFAULT_RULES, players), players) - 1) % players
    deck = deck_with(DEFAULT_RULES, players, {}, seed=attempt)
    setting = GameSetup(players=players, seat=(gone + 1 + attempt) % players, deck=deck, leaving=((gone, 1),))
    return ArrangedGame(setting, keeps, fates(Luck.NOTHING, seat=setting.seat))


def _house_recycled(question: Question) -> bool:
    return any(event.recycled and event.seat in question.forfeited for event in question.events)


_FEW = (
    ("6C 6D 6H 7C 7D 8C", "6S 7H 7S 8D 8H 8S"),
    ("8C 8D 9C 9D TC TD", "8H 8S 9H 9S TH TS"),
    ("JC JD JH KC AC AD", "JS KD KH KS AH AS"),
)
"""A hand of five or six, and a talon with what matches it."""


def _last_discard(players: int, attempt: int) -> ArrangedGame:
    seat = attempt % players
    hand, talon = _FEW[attempt % len(_FEW)]
    deck = deck_with(DEFAULT_RULES, players, {seat: hand}, talon=talon, seed=attempt)
    return ArrangedGame(GameSetup(players=players, seat=seat, deck=deck), keeps, fates(Luck.MATCHES, seat=seat))


def _goes_last(question: Question) -> bool:
    return question.drawn is not None and question.hand.bit_count() == 1 and bool(question.legal[0].taken)


def _queen_to_queens(players: int, attempt: int) -> ArrangedGame:
    seat = attempt % players
    deck = deck_with(DEFAULT_RULES, players, {seat: "QC QD QH"}, talon="QS", seed=attempt)
    return ArrangedGame(GameSetup(players=players, seat=seat, deck=deck), takes, fates(Luck.QUEEN, seat=seat))


def _has_queens_and_draws_one(question: Question) -> bool:
    drawn = question.drawn
    return drawn is not None and bool(BITS[drawn] & QUEENS) and (question.hand & QUEENS).bit_count() >= 2


def _large_stall_limit(players: int, attempt: int) -> ArrangedGame:
    rules = Rules(stall_limit=_BEYOND_A_BYTE)
    deck = deck_with(rules, players, {}, seed=attempt)
    return ArrangedGame(GameSetup(players=players, seat=0, deck=deck, rules=rules))


_LONG = {6: (391, Luck.ONE_MATCH), 5: (83, Luck.MATCHES), 4: (348, Luck.MATCHES), 3: (237, Luck.ONE_MATCH)}
"""By the number of players: the deal, and what others draw, with the longest first question that was found."""


def _long_question(players: int, attempt: int) -> ArrangedGame:
    """All others discard time and again, before the last seat is asked first; whatever that one plays."""
    del attempt
    seed, luck = _LONG[players]
    deck = deck_with(DEFAULT_RULES, players, {}, seed=seed)
    setting = GameSetup(players=players, seat=players - 1, deck=deck)
    return ArrangedGame(setting, takes, fates(Luck.NOTHING, luck, seat=setting.seat))


EVERY: tuple[Position, ...] = (
    *POSITIONS,
    Position(
        "long_question",
        "a question of more than 1,500 bytes: many events and discards",
        (6, 5, 4, 3),
        _long_question,
        any_question(lambda asked: len(asked.events) > 10 and len(asked.discards) > 10),
        tries=1,
    ),
    Position(
        "last_discard",
        "a discard of the last card in hand, which ends the game",
        (6, 5),
        _last_discard,
        any_question(_goes_last),
        tries=6,
    ),
    Position(
        "queen_to_queens",
        "a queen drawn, and two or more in hand",
        ALL,
        _queen_to_queens,
        any_question(_has_queens_and_draws_one),
    ),
    Position("stall_limit_1000", "stall_limit 1000", ALL, _large_stall_limit, lambda course: bool(course.replies)),
    Position(
        "seat_0_at_fault",
        "seat 0 at fault: forfeited is [0]",
        (3, 4, 5, 6),
        _first_seat_gone,
        any_question(lambda asked: asked.forfeited == (0,)),
    ),
    Position(
        "one_other_left",
        "all others at fault but one",
        (6, 5, 4, 3),
        _one_other_left,
        any_question(lambda asked: len(asked.forfeited) == len(asked.hand_sizes) - 2),
    ),
    Position(
        "house_recycles",
        "the house draws the talon's last card",
        (4, 5, 3, 6),
        _house_recycles,
        any_question(_house_recycled),
    ),
)
"""All positions, in the order in which they are tried."""
