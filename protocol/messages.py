"""The messages of the wire contract, version 1, as models: the source from which `schema/` is generated.

Fields stand in the order in which they are sent. The models check types and ranges, exactly: `1` is an integer,
`1.0` and `true` are not. What fields have to do with one another is said in their descriptions and in README.md.
Unknown fields are ignored, since the referee may add fields without a new version.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from typing_extensions import TypeAliasType

PROTOCOL_VERSION = 1
MAX_ID = 2**31 - 1
MAX_NUMBER = 2**53 - 1
"""Every number on the wire is an integer of at most this size, so that any language reads it exactly."""
TEXT_LIMIT = 200
"""Characters kept of a bot's note or label; the rest is cut off."""

_CARD = "[6-9TJQKA][CDHS]"

# Aliases with a name, so that what is generated from the schemas has one type for a card and one for an action.
Card = TypeAliasType(
    "Card",
    Annotated[
        str,
        Field(title="Card", pattern=f"^{_CARD}$", description="A card: its rank and its suit, such as `TD`."),
    ],
)
Action = TypeAliasType(
    "Action",
    Annotated[
        str,
        Field(
            title="Action",
            pattern=f"^(lay {_CARD}|discard {_CARD}( {_CARD}){{0,2}}|keep|widow)$",
            description="An action, such as `lay 6C`, `discard 7C 7S`, `keep` or `widow`.",
        ),
    ],
)
Seat = Annotated[int, Field(ge=0, le=5)]
Cards = Annotated[tuple[Card, ...], Field(max_length=36)]
Count = Annotated[int, Field(ge=0, le=36)]
BySeat = Annotated[tuple[Count, ...], Field(min_length=2, max_length=6)]
Seats = Annotated[tuple[Seat, ...], Field(max_length=6)]
Number = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
Opaque = Annotated[str, Field(min_length=1)]

Phase = Literal["lay", "drawn"]
TurnResult = Literal["kept", "discarded", "widow"]
Reason = Literal["emptied", "widows", "stalled", "forfeit"]
Verdict = Literal["start_failed", "start_timeout", "timeout", "protocol_error", "illegal_action", "crash"]


def _kept_text(value: object) -> str | None:
    """What is kept of a text that a bot may say: its first 200 characters, or nothing where it is no string."""
    return value[:TEXT_LIMIT] if isinstance(value, str) else None


BotText = Annotated[str | None, BeforeValidator(_kept_text), WithJsonSchema({"anyOf": [{}]})]
"""Free text from a bot: never refused; cut at 200 characters; anything but a string counts as absent.

Its schema allows everything in the one way that type generators read so: `{}` with a description beside it is an object
to json-schema-to-typescript.
"""


class _Message(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class Rules(_Message):
    """The options of the rules that this game is played by."""

    odd_card: Literal["talon", "first"] = Field(
        description="Which heap of the deal is the talon: the first (`talon`) or the last (`first`). "
        "With 4 and 6 players it so says whether the talon or seat 0 has the card that is over."
    )
    scoring: Literal["places", "winner", "loser"] = Field(
        description="How cards left become places: `places` fewest first; `winner` only the fewest count; "
        "`loser` only the most count, unless somebody got rid of all cards."
    )
    discard: Literal["any", "all"] = Field(
        description="Which of the hand's cards of the drawn card's rank a discard takes: any of them, or all."
    )
    stall_limit: int = Field(
        ge=1, le=MAX_NUMBER, description="The game ends after this many turns in a row in which the card was kept."
    )


class Event(_Message):
    """One completed turn, as the seat that is told of it saw it."""

    seat: Seat = Field(description="Whose turn it was.")
    laid: Card | None = Field(description="The card laid face down; null in the turns of others.")
    drew: Card | None = Field(description="The card drawn; null where another seat kept it.")
    result: TurnResult = Field(description="What became of the drawn card.")
    discarded: Annotated[Cards, Field(max_length=3)] = Field(
        description="The cards from the hand that were discarded with the drawn one; empty unless `discarded`."
    )
    recycled: bool = Field(description="Whether the draw emptied the talon, so that the pile took its place.")


class Hello(_Message):
    """First line to a process, which answers `ready`."""

    type: Literal["hello"]
    protocol: tuple[Number, ...] = Field(min_length=1, description="Versions of the protocol to choose from.")
    game: Literal["four-widows"]
    referee: str = Field(description="The referee's version.")
    start_ms: Number | None = Field(description="Time from here to `ready`, in ms; null: no limit.")
    move_ms: Number | None = Field(description="Time for one decision, in ms; null: no limit.")
    game_ms: Number | None = Field(
        description="Time for the sum of this seat's own decisions in a game, in ms; null: no limit."
    )


class Start(_Message):
    """A game begins. Sent together with the game's first question, or with `end` where there was none."""

    type: Literal["start"]
    game_id: Opaque = Field(description="Names the game and tells nothing of it.")
    seat: Seat = Field(description="The seat of this bot in this game; seat 0 moves first.")
    players: int = Field(ge=2, le=6, description="The number of seats.")
    hand: Cards = Field(description="The hand as dealt, in canonical order.")
    hand_sizes: BySeat = Field(description="Cards in each hand as dealt, by seat.")
    talon_size: Count = Field(description="Cards in the talon as dealt.")
    rules: Rules
    seed: int = Field(
        ge=0,
        le=MAX_ID,
        description="For the bot's own random numbers: another for every game and seat, the same when the round "
        "is run again.",
    )


class Act(_Message):
    """A question: which of `legal`? Everything that the seat may see stands in it."""

    type: Literal["act"]
    id: int = Field(ge=1, le=MAX_ID, description="To be echoed in the answer; it cannot be guessed.")
    game_id: Opaque = Field(description="As in `start`.")
    seat: Seat = Field(description="As in `start`.")
    rules: Rules
    phase: Phase = Field(description="`lay`: choose the card to lay. `drawn`: choose what becomes of the drawn card.")
    hand: Cards = Field(description="Own cards in canonical order, the drawn one not among them.")
    drawn: Card | None = Field(description="The card just drawn, which no size counts; null in phase `lay`.")
    legal: tuple[Action, ...] = Field(min_length=1, description="The actions allowed; the answer is one of them.")
    laid: Card | None = Field(description="The card just laid; null in phase `lay`.")
    recycled: bool = Field(description="Whether this draw emptied the talon; false in phase `lay`.")
    hand_sizes: BySeat = Field(description="Cards in each hand, by seat.")
    talon_size: Count = Field(description="Cards in the talon, from which one draws.")
    pile_size: Count = Field(description="Cards in the pile, on which one lays; it is the next talon.")
    widows: Annotated[Cards, Field(max_length=4)] = Field(description="Queens open on the table, oldest first.")
    discards: Cards = Field(
        description="Cards discarded, oldest first: in each discard the drawn card and then those put with it."
    )
    forfeited: Seats = Field(description="Seats at fault, which the house plays on, first fault first.")
    kept_in_a_row: Number = Field(description="Turns since the last discard or widow; see `stall_limit`.")
    events: tuple[Event, ...] = Field(
        description="The turns completed since this seat's last question of the game, oldest first, its own included."
    )
    time_left_ms: Number | None = Field(description="Time for this decision under both limits, in ms; null: no limit.")
    game_left_ms: Number | None = Field(description="What is left of `game_ms`, in ms; null: no limit.")


class End(_Message):
    """A game is over. A bot at fault in it is not sent one."""

    type: Literal["end"]
    game_id: Opaque = Field(description="As in `start`.")
    reason: Reason = Field(
        description="`emptied`: a seat has got rid of all cards. `widows`: the fourth widow is on the table. "
        "`stalled`: the stall limit. `forfeit`: at most one seat is left that is not at fault."
    )
    places: Annotated[tuple[Annotated[int, Field(ge=1, le=6)], ...], Field(min_length=2, max_length=6)] = Field(
        description="Places by seat, from 1; equal places are shared."
    )
    hand_sizes: BySeat = Field(description="Cards left, by seat.")
    forfeited: Seats = Field(description="Seats at fault, first fault first.")
    events: tuple[Event, ...] = Field(description="The turns completed since this seat's last question, oldest first.")


class Fault(_Message):
    """The bot is charged with a fault and will be stopped."""

    type: Literal["fault"]
    verdict: Verdict = Field(description="The kind of fault.")
    detail: str = Field(description="One sentence: what was wrong, what was expected, the likely cause.")


class Quit(_Message):
    """Nothing more will come; the process is to exit within a second."""

    type: Literal["quit"]


class Ready(_Message):
    """The answer to `hello`. Labels are shown and never identify a bot: its folder does."""

    type: Literal["ready"]
    protocol: int = Field(ge=0, le=MAX_NUMBER, description="The version chosen, one of those offered.")
    name: BotText = Field(default=None, description="A label: what the bot calls itself.")
    version: BotText = Field(default=None, description="A label: the bot's version.")
    author: BotText = Field(default=None, description="A label: who wrote the bot.")
    language: BotText = Field(default=None, description="A label: what the bot is written in.")


class Answer(_Message):
    """The answer to `act`."""

    id: int = Field(ge=1, le=MAX_ID, description="The question's `id`.")
    action: str = Field(description="One of the question's `legal`, to the letter.")
    note: BotText = Field(
        default=None,
        description="A remark for the record, shown in replays: a string, cut after 200 characters; "
        "anything else is ignored.",
    )


RefereeMessage = Annotated[Hello | Start | Act | End | Fault | Quit, Field(discriminator="type")]
"""What the referee sends. A bot ignores a message of another type, unless it has an `id` (then it is a question)."""

BotMessage = Ready | Answer
"""What a bot sends."""
