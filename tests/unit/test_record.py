"""Records: the same game again from its bytes, and nothing else taken for a game."""

from __future__ import annotations

import json
import tracemalloc
import zlib
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records import ANNA, BERT, CARL, START, played

from referee.actions import parse
from referee.cards import deck_of
from referee.errors import RefereeError, RulesError, Verdict
from referee.record import Bot, Fault, GameRecord, GameResult, Step, replay, rules_as_dict
from referee.rules import DEFAULT_RULES, DiscardRule, Ending, Event, OddCard, Rules, Scoring, State

unhurried = settings(deadline=None, max_examples=40)

BOTS = [ANNA, BERT, CARL, Bot("dora", "d4" * 32), Bot("emil", "e5" * 32), Bot("fred", "f6" * 32)]


@st.composite
def games(draw: st.DrawFn) -> GameRecord:
    """Games by dice with any options, faults, failed starts and notes."""
    players = draw(st.integers(2, 6))
    seats = st.integers(0, players - 1)
    rules = Rules(
        draw(st.sampled_from(OddCard)),
        draw(st.sampled_from(Scoring)),
        draw(st.sampled_from(DiscardRule)),
        draw(st.sampled_from([1, 4, 200])),
    )
    return played(
        BOTS[:players],
        deal=draw(st.integers(0, 2**31)),
        rotation=draw(seats),
        rules=rules,
        faults=draw(st.dictionaries(seats, st.integers(START, 40), max_size=players)),
        notes=draw(st.dictionaries(seats, st.text(max_size=200), max_size=2)),
    )


def again(record: GameRecord) -> State:
    """The game played again with the rules alone, without `replay`."""
    state = State(record.rules, len(record.seats), deck_of(record.deck))
    absent = [fault.seat for fault in record.faults if fault.step is None]
    if absent:
        state.forfeit(*absent)
    for step in record.steps:
        action = parse(step.action or "")
        if action is None:
            state.forfeit(step.seat)
        else:
            state.apply(action)
    return state


# -- Playing again


@unhurried
@given(games())
def test_a_replay_follows_the_record_to_its_end(record: GameRecord) -> None:
    assert [moment.step for moment in replay(record)] == list(record.steps)
    assert again(record).outcome == record.outcome


@unhurried
@given(games())
def test_a_replay_gives_each_turn_once_and_the_position_before_each_step(record: GameRecord) -> None:
    events: list[Event] = []
    for moment in replay(record):
        events += moment.events
        assert moment.position.turn == moment.step.seat
        assert moment.position.events == events
    assert again(record).events[: len(events)] == events


@unhurried
@given(games())
def test_a_record_is_the_same_after_packing_and_unpacking(record: GameRecord) -> None:
    assert GameRecord.unpack(record.pack()) == record
    assert GameRecord.from_json(record.to_json()) == record
    assert GameRecord.unpack(record.pack()).pack() == record.pack()


def test_a_record_in_json_has_words_and_no_spaces() -> None:
    text = played(faults={1: 3}).to_json().decode()
    read = json.loads(text)
    assert read["rules"] == rules_as_dict(DEFAULT_RULES)
    assert read["rules"] == {"odd_card": "talon", "scoring": "places", "discard": "any", "stall_limit": 200}
    assert read["reason"] == "forfeit"
    assert json.dumps(read, separators=(",", ":"), ensure_ascii=False) == text


def test_steps_without_a_note_do_not_write_one() -> None:
    read = json.loads(played(notes={0: "first"}).to_json())
    assert {step["seat"] for step in read["steps"] if "note" in step} == {0}


def test_a_result_says_who_met_whatever_the_seats() -> None:
    record = played((BERT, CARL, ANNA), rotation=1, deal=7)
    assert record.seats == (BERT, CARL, ANNA)
    assert record.result == GameResult(record.seats, 7, 1, record.reason, record.places, record.forfeited)
    assert record.result.line_up == (ANNA, BERT, CARL)


# -- Damaged bytes


@unhurried
@given(st.data())
def test_damaged_bytes_are_refused(data: st.DataObject) -> None:
    packed = bytearray(played().pack())
    place = data.draw(st.integers(2, len(packed) - 1))
    packed[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(RefereeError):
        GameRecord.unpack(bytes(packed))


@pytest.mark.parametrize("length", [0, 1, 10, -1])
def test_bytes_cut_short_are_refused(length: int) -> None:
    with pytest.raises(RefereeError, match="a stored game is damaged"):
        GameRecord.unpack(played().pack()[:length])


@given(st.binary(max_size=60))
def test_other_bytes_are_refused(packed: bytes) -> None:
    with pytest.raises(RefereeError):
        GameRecord.unpack(packed)


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{}", '{"version":1}', "{", "\ud800".encode("utf-8", "surrogatepass")]
)
def test_other_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(RefereeError, match="this is no game record"):
        GameRecord.from_json(text)


def changed(**fields: Any) -> bytes:
    return json.dumps(json.loads(played().to_json()) | fields).encode()


@pytest.mark.parametrize(
    "fields",
    [
        {"reason": "tired"},
        {"rules": {"odd_card": "none"}},
        {"rules": {"stall_limit": 0}},
        {"rules": {"stall_limit": "200"}},
        {"seats": ["anna", "bert"]},
        {"steps": [{"seat": 0, "us": 1}]},
        {"places": ["1", "2"]},
        {"deck": None},
        {"faults": [{"seat": 0, "step": None, "verdict": "bad", "detail": "", "evidence": {}}]},
    ],
)
def test_fields_that_are_none_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(RefereeError):
        GameRecord.from_json(changed(**fields))


# -- Records that cheat


def refuse(record: GameRecord, words: str) -> None:
    with pytest.raises(RefereeError, match=words):
        list(replay(record))


def with_steps(record: GameRecord, *steps: Step) -> GameRecord:
    return msgspec.structs.replace(record, steps=steps)


def fault(seat: int, step: int | None) -> Fault:
    return Fault(seat, step, Verdict.TIMEOUT, "late", {})


def test_an_action_that_the_rules_do_not_allow_is_refused() -> None:
    record = played()
    first = record.steps[0]
    other = "keep" if first.action != "keep" else "widow"
    refuse(with_steps(record, Step(first.seat, other, 1), *record.steps[1:]), "step 0: keep is not allowed")


def test_a_card_from_another_hand_is_refused() -> None:
    record = played()
    position = next(replay(record)).position
    stolen = next(text for text in (f"lay {name}" for name in record.deck) if parse(text) not in position.legal())
    refuse(with_steps(record, Step(0, stolen, 1), *record.steps[1:]), f"step 0: {stolen} is not allowed")


@pytest.mark.parametrize("text", ["", "lay 1C", "lay  6C", "pass"])
def test_an_action_that_does_not_exist_is_refused(text: str) -> None:
    record = played()
    refuse(with_steps(record, Step(0, text, 1), *record.steps[1:]), f"step 0 has no action '{text}'")


def test_a_step_of_a_seat_that_is_not_to_move_is_refused() -> None:
    record = played()
    refuse(with_steps(record, Step(1, record.steps[0].action, 1), *record.steps[1:]), "step 0 is not this seat's turn")


def test_a_fault_of_a_seat_that_is_not_to_move_is_refused() -> None:
    record = played((ANNA, BERT, CARL))
    refuse(with_steps(record, Step(2, None, 1), *record.steps[1:]), "step 0 is not this seat's turn")


def test_steps_after_the_end_are_refused() -> None:
    record = played()
    refuse(with_steps(record, *record.steps, record.steps[-1]), f"step {len(record.steps)} is not this seat's turn")


def test_a_game_without_its_last_step_is_refused() -> None:
    record = played()
    refuse(with_steps(record, *record.steps[:-1]), "ends otherwise than its record says")


def test_a_game_without_steps_is_refused() -> None:
    refuse(with_steps(played()), "ends otherwise than its record says")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("places", (1, 1)),
        ("places", (1, 2, 3)),
        ("reason", Ending.WIDOWS),
        ("hand_sizes", (0, 0)),
        ("forfeited", (0,)),
        ("forfeited", ()),
    ],
)
def test_another_ending_than_the_games_is_refused(field: str, value: object) -> None:
    record = played(faults={1: 5})
    assert record.outcome == (Ending.FORFEIT, (1, 2), record.hand_sizes, (1,))
    refuse(msgspec.structs.replace(record, **{field: value}), "ends otherwise than its record says")


def test_another_deck_is_refused() -> None:
    record = played()
    cards = list(record.deck)
    refuse(msgspec.structs.replace(record, deck=tuple(reversed(cards))), "game ")


def test_a_deck_with_a_card_twice_is_refused() -> None:
    record = played()
    cards = list(record.deck)
    with pytest.raises(RulesError, match="twice"):
        list(replay(msgspec.structs.replace(record, deck=(*cards[:-1], cards[0]))))


def test_other_rules_than_the_games_are_refused() -> None:
    record = played(rules=Rules(stall_limit=4))
    refuse(msgspec.structs.replace(record, rules=Rules(stall_limit=3)), "not this seat's turn")


@pytest.mark.parametrize("seats", [(0, 0), (3,), (-1,)])
def test_seats_that_never_came_must_exist_and_count_once(seats: tuple[int, ...]) -> None:
    record = msgspec.structs.replace(played((ANNA, BERT, CARL)), faults=tuple(fault(seat, None) for seat in seats))
    refuse(record, "cannot be put at fault")


def test_a_seat_that_never_came_must_be_named() -> None:
    record = played((ANNA, BERT, CARL), faults={1: START})
    assert record.forfeited == (1,)
    refuse(msgspec.structs.replace(record, faults=()), "game ")


def test_a_record_of_one_seat_is_refused() -> None:
    record = played()
    with pytest.raises(RulesError, match="for 2 to 6 players, not 1"):
        list(replay(msgspec.structs.replace(record, seats=record.seats[:1])))


def test_a_fault_where_nothing_went_unanswered_is_refused() -> None:
    record = played()
    fault = Fault(0, 0, Verdict.TIMEOUT, "late", {})
    refuse(msgspec.structs.replace(record, faults=(*record.faults, fault)), "its faults are not where")


def test_bytes_behind_a_packed_record_are_refused() -> None:
    with pytest.raises(RefereeError, match="something stands behind it"):
        GameRecord.unpack(played().pack() + b"x")


def test_a_flood_in_a_few_bytes_is_refused_before_it_is_unpacked() -> None:
    flood = zlib.compress(bytes(200 << 20), 9)
    assert len(flood) < 1 << 20
    tracemalloc.start()
    with pytest.raises(RefereeError, match="damaged"):
        GameRecord.unpack(flood)
    assert tracemalloc.get_traced_memory()[1] < 150 << 20
    tracemalloc.stop()
