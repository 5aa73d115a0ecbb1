"""The lines that a bot is sent in a game, written by hand since this is the hot path.

They are tested equal to the models of `protocol`. Everything is made from what a seat may see (`GameStart`, `Question`,
`GameEnd`), and nothing from a `State`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import lru_cache

from protocol.codec import encode
from protocol.messages import PROTOCOL_VERSION, Hello
from referee.actions import DISCARD_ALL, DISCARD_ANY
from referee.bots.process.limits import Limits
from referee.cards import DECK_SIZE, NAMES, SAME_RANK
from referee.play import GameEnd, GameStart
from referee.record import rules_as_dict
from referee.rules import MAX_PLAYERS, DiscardRule, DrawFate, Event, Question, Rules
from referee.version import __version__

_CARDS = tuple(f'"{name}"' for name in NAMES)
_TRUTH = ("false", "true")

_CHUNK = 9
_CHUNK_MASK = (1 << _CHUNK) - 1
_HALF = 2 * _CHUNK
_HALF_MASK = (1 << _HALF) - 1


def _chunk_tables(text_of: Callable[[int], str]) -> list[list[str]]:
    """By chunk of 9 cards and the set of them: their texts in canonical order, each with a comma behind it."""
    tables = []
    for lowest in range(0, DECK_SIZE, _CHUNK):
        table = [""]
        for bits in range(1, 1 << _CHUNK):
            highest = bits.bit_length() - 1
            table.append(table[bits ^ 1 << highest] + text_of(lowest + highest) + ",")
        tables.append(table)
    return tables


_HAND_0, _HAND_1, _HAND_2, _HAND_3 = _chunk_tables(lambda card: _CARDS[card])
_LAYS_0, _LAYS_1, _LAYS_2, _LAYS_3 = _chunk_tables(lambda card: f'"lay {NAMES[card]}"')

_CHOICES = {
    rule: {matching: ",".join(f'"{action.text}"' for action in legal) for matching, legal in table.items()}
    for rule, table in ((DiscardRule.ANY, DISCARD_ANY), (DiscardRule.ALL, DISCARD_ALL))
}
_QUEEN_CHOICES = '"widow","keep"'

_KEPT_UNSEEN = [
    [
        f'{{"seat":{seat},"laid":null,"drew":null,"result":"kept","discarded":[],"recycled":{truth}}}'
        for seat in range(MAX_PLAYERS)
    ]
    for truth in _TRUTH
]
"""By whether the talon was recycled and by seat: the most frequent event."""


def _hand(held: int) -> str:
    low, high = held & _HALF_MASK, held >> _HALF
    return (
        _HAND_0[low & _CHUNK_MASK] + _HAND_1[low >> _CHUNK] + _HAND_2[high & _CHUNK_MASK] + _HAND_3[high >> _CHUNK]
    )[:-1]


def _lays(held: int) -> str:
    low, high = held & _HALF_MASK, held >> _HALF
    return (
        _LAYS_0[low & _CHUNK_MASK] + _LAYS_1[low >> _CHUNK] + _LAYS_2[high & _CHUNK_MASK] + _LAYS_3[high >> _CHUNK]
    )[:-1]


class _NumbersText(dict[tuple[int, ...], str]):
    """Numbers as they stand in a list, remembered: the same few sizes and places come again and again."""

    def __missing__(self, values: tuple[int, ...]) -> str:
        if len(self) > _REMEMBERED:
            self.clear()
        text = self[values] = ",".join(map(str, values))
        return text


_REMEMBERED = 1 << 14
_numbers = _NumbersText()


class _OwnKeptText(dict[tuple[int, int | None, int], str]):
    """By seat, card laid and card drawn: the event of a seat's own turn in which it kept the card."""

    def __missing__(self, turn: tuple[int, int | None, int]) -> str:
        text = self[turn] = _written(Event(*turn, DrawFate.KEPT, (), False))
        return text


_own_kept = _OwnKeptText()


def _card_list(cards: Iterable[int]) -> str:
    return ",".join([_CARDS[card] for card in cards])


def _event(event: Event) -> str:
    seat, laid, drew, result, _, recycled = event
    if drew is None:
        return _KEPT_UNSEEN[recycled][seat]
    if result is DrawFate.KEPT and not recycled:
        return _own_kept[seat, laid, drew]
    return _written(event)


def _written(event: Event) -> str:
    seat, laid, drew, result, discarded, recycled = event
    return (
        f'{{"seat":{seat},"laid":{_card(laid)},"drew":{_card(drew)},"result":"{result}",'
        f'"discarded":[{_card_list(discarded)}],"recycled":{_TRUTH[recycled]}}}'
    )


def _card(card: int | None) -> str:
    return "null" if card is None else _CARDS[card]


def _events(events: tuple[Event, ...]) -> str:
    return ",".join([_event(event) for event in events])


_quoted = lru_cache(maxsize=8)(json.dumps)
"""A text as JSON; each game's id is written several times."""


@lru_cache(maxsize=64)
def _rules(rules: Rules) -> str:
    return json.dumps(rules_as_dict(rules), separators=(",", ":"))


def hello_line(limits: Limits) -> bytes:
    """The `hello` message, the first line to a process."""
    hello = Hello(
        type="hello",
        protocol=(PROTOCOL_VERSION,),
        game="four-widows",
        referee=__version__,
        start_ms=limits.start_ms,
        move_ms=limits.move_ms,
        game_ms=limits.game_ms,
    )
    return encode(hello)


def start_line(start: GameStart) -> bytes:
    """The `start` message."""
    return (
        f'{{"type":"start","game_id":{_quoted(start.game_id)},"seat":{start.seat},"players":{start.players},'
        f'"hand":[{_hand(start.hand)}],"hand_sizes":[{_numbers[start.hand_sizes]}],"talon_size":{start.talon_size},'
        f'"rules":{_rules(start.rules)},"seed":{start.seed}}}\n'
    ).encode("ascii")


def end_line(end: GameEnd) -> bytes:
    """The `end` message."""
    outcome = end.outcome
    return (
        f'{{"type":"end","game_id":{_quoted(end.game_id)},"reason":"{outcome.reason.value}",'
        f'"places":[{_numbers[outcome.places]}],"hand_sizes":[{_numbers[outcome.hand_sizes]}],'
        f'"forfeited":[{_numbers[outcome.forfeited]}],"events":[{_events(end.events)}]}}\n'
    ).encode("ascii")


class QuestionWriter:
    """Writes the `act` messages of one seat in one game; remembers only what saves writing it again."""

    __slots__ = ("_choices", "_head", "_open", "_open_text", "_shown")

    def __init__(self, start: GameStart) -> None:
        self._head = f',"game_id":{_quoted(start.game_id)},"seat":{start.seat},"rules":{_rules(start.rules)},"phase":"'
        self._choices = _CHOICES[start.rules.discard]
        self._shown: tuple[int, ...] = ()
        self._open: tuple[int, ...] = ()
        self._open_text = '"widows":[],"discards":[]'

    def line(self, question: Question, question_id: int, time_left: int | None, game_left: int | None) -> bytes:
        """The message for `question`; the times are in milliseconds, None where there is no limit."""
        # fmt: off
        (_, _, hand, drawn, laid, recycled, hand_sizes, talon_size, pile_size, widows, discards, forfeited,
         kept_in_a_row, events) = question
        # fmt: on
        if discards is not self._open or widows is not self._shown:
            self._open, self._shown = discards, widows
            self._open_text = f'"widows":[{_card_list(widows)}],"discards":[{_card_list(discards)}]'
        if drawn is None:
            asked = f'lay","hand":[{_hand(hand)}],"drawn":null,"legal":[{_lays(hand)}],"laid":null,"recycled":false'
        else:
            legal = self._choices.get(hand & SAME_RANK[drawn], _QUEEN_CHOICES)
            asked = (
                f'drawn","hand":[{_hand(hand)}],"drawn":{_CARDS[drawn]},"legal":[{legal}],'
                f'"laid":{_card(laid)},"recycled":{_TRUTH[recycled]}'
            )
        return (
            f'{{"type":"act","id":{question_id}{self._head}{asked},"hand_sizes":[{_numbers[hand_sizes]}],'
            f'"talon_size":{talon_size},"pile_size":{pile_size},{self._open_text},"forfeited":[{_numbers[forfeited]}],'
            f'"kept_in_a_row":{kept_in_a_row},"events":[{_events(events)}],'
            f'"time_left_ms":{"null" if time_left is None else time_left},'
            f'"game_left_ms":{"null" if game_left is None else game_left}}}\n'
        ).encode("ascii")
