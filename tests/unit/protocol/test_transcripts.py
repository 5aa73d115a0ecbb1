"""The transcripts: made as said, good by models and schemas, and dialogues that follow the contract."""

from __future__ import annotations

import json
import runpy
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

import protocol
from protocol.codec import MAX_SENT, encode, parse_answer, parse_ready
from protocol.messages import Act, End, Event, Fault, RefereeMessage, Start

FOLDER = Path(protocol.__file__).parent
NAMES = sorted(path.stem for path in (FOLDER / "transcripts").glob("*.jsonl"))
REFEREE: TypeAdapter[Any] = TypeAdapter(RefereeMessage)
Lines = list[dict[str, Any]]
by_name = pytest.mark.parametrize("name", NAMES)


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def by_seat(lines: Lines) -> dict[int, Lines]:
    return {seat: [line for line in lines if line["seat"] == seat] for seat in {line["seat"] for line in lines}}


def told(lines: Lines) -> list[Any]:
    """The messages to bots, as models."""
    return [REFEREE.validate_json(compact(line["line"])) for line in lines if line["to"] == "bot"]


def test_the_files_are_what_the_script_makes() -> None:
    made = runpy.run_path(str(Path(__file__).with_name("make_transcripts.py")))["transcripts"]()
    found = {path.name: path.read_text("ascii") for path in (FOLDER / "transcripts").iterdir()}
    assert found == made


@by_name
def test_each_line_says_who_reads_it_which_seat_and_what(name: str, transcripts: dict[str, Lines]) -> None:
    assert all(list(line) == ["to", "seat", "line"] for line in transcripts[name])
    assert {line["to"] for line in transcripts[name]} == {"bot", "referee"}


@by_name
def test_what_bots_are_told_is_the_models_bytes(name: str, transcripts: dict[str, Lines]) -> None:
    for line in transcripts[name]:
        if line["to"] == "bot":
            sent = compact(line["line"]) + b"\n"
            assert encode(REFEREE.validate_json(sent)) == sent
            assert len(sent) <= MAX_SENT


@by_name
def test_what_bots_say_is_read_by_the_codec(name: str, transcripts: dict[str, Lines]) -> None:
    for line in transcripts[name]:
        if line["to"] == "referee":
            said = line["line"]
            if "type" in said:
                assert parse_ready(compact(said)).protocol == said["protocol"]
            else:
                assert parse_answer(compact(said)) == (said["id"], said["action"], said.get("note"))


@pytest.mark.parametrize(("to", "name"), [("bot", "referee-to-bot"), ("referee", "bot-to-referee")])
def test_every_message_is_valid_by_its_schemas(to: str, name: str, transcripts: dict[str, Lines]) -> None:
    schemas = {
        path.stem: Draft202012Validator(json.loads(path.read_text("ascii")))
        for path in (FOLDER / "schema" / "v1").iterdir()
    }
    for message in (line["line"] for lines in transcripts.values() for line in lines if line["to"] == to):
        schemas[name].validate(message)
        schemas[message.get("type", "answer")].validate(message)


@by_name
def test_a_dialogue_goes_as_the_contract_says(name: str, transcripts: dict[str, Lines]) -> None:
    for lines in by_seat(transcripts[name]).values():
        kinds = [line["line"].get("type", "answer") for line in lines]
        assert kinds[:2] == ["hello", "ready"]
        assert kinds[-1] in ("quit", "fault") and kinds.count("hello") == 1
        follows: dict[str, set[str]] = {
            "ready": {"start", "fault"},
            "start": {"act", "end"},
            "act": {"answer", "fault"},
            "answer": {"act", "end", "fault"},
            "end": {"start", "quit"},
        }
        for now, then in pairwise(kinds[1:]):
            assert then in follows[now]


@by_name
def test_each_question_is_answered_as_allowed_unless_a_fault_follows(name: str, transcripts: dict[str, Lines]) -> None:
    for lines in by_seat(transcripts[name]).values():
        for asked, said, then in zip(lines, lines[1:], lines[2:], strict=False):
            if asked["line"].get("type") == "act" and then["line"].get("type") != "fault" and said["to"] == "referee":
                assert said["line"]["id"] == asked["line"]["id"]
                assert said["line"]["action"] in asked["line"]["legal"]


@by_name
def test_no_id_is_used_twice(name: str, transcripts: dict[str, Lines]) -> None:
    ids = [message.id for message in told(transcripts[name]) if isinstance(message, Act)]
    assert len(ids) == len(set(ids))


def test_each_illegal_or_old_answer_is_what_its_fault_says(transcripts: dict[str, Lines]) -> None:
    found = []
    for lines in (one for name in NAMES for one in by_seat(transcripts[name]).values()):
        if lines[-1]["line"]["type"] != "fault":
            continue
        verdict, before = lines[-1]["line"]["verdict"], lines[-2]["line"]
        asked = next((line["line"] for line in reversed(lines) if line["line"].get("type") == "act"), None)
        found.append(verdict)
        if verdict == "timeout":
            assert before is asked
        elif verdict == "illegal_action":
            assert asked and before["id"] == asked["id"] and before["action"] not in asked["legal"]
        elif verdict == "protocol_error":
            assert asked and before["id"] != asked["id"]
        else:
            assert verdict == "start_failed" and before["protocol"] == 2 and asked is None
    assert set(found) == {"timeout", "illegal_action", "protocol_error", "start_failed"}


def legal_by_the_contract(act: Act) -> list[str]:
    if act.drawn is None:
        return [f"lay {card}" for card in act.hand]
    if act.drawn[0] == "Q":
        return ["widow", "keep"]
    same = [card for card in act.hand if card[0] == act.drawn[0]]
    sizes = range(len(same), 0, -1) if act.rules.discard == "any" else [len(same)]
    return [" ".join(["discard", *chosen]) for size in sizes for chosen in combinations(same, size)] + ["keep"]


@by_name
def test_questions_hold_together(name: str, transcripts: dict[str, Lines]) -> None:
    for act in told(transcripts[name]):
        if not isinstance(act, Act):
            continue
        assert list(act.legal) == legal_by_the_contract(act)
        assert (act.phase == "lay") == (act.drawn is None) == (act.laid is None)
        assert act.phase == "drawn" or not act.recycled
        assert act.hand_sizes[act.seat] == len(act.hand)
        assert list(act.hand) == sorted(act.hand, key=lambda card: ("6789TJQKA".index(card[0]), "CDHS".index(card[1])))
        counted = sum(act.hand_sizes) + act.talon_size + act.pile_size + len(act.widows) + len(act.discards)
        assert counted == (36 if act.drawn is None else 35)


@by_name
def test_no_seat_is_told_what_it_may_not_see(name: str, transcripts: dict[str, Lines]) -> None:
    for seat, lines in by_seat(transcripts[name]).items():
        events: list[Event] = [
            one for message in told(lines) if isinstance(message, Act | End) for one in message.events
        ]
        for event in events:
            own = event.seat == seat
            assert (event.laid is not None) == own
            assert (event.drew is None) == (event.result == "kept" and not own)
            assert bool(event.discarded) == (event.result == "discarded")


@by_name
def test_every_process_of_a_table_is_told_of_every_turn(name: str, transcripts: dict[str, Lines]) -> None:
    """Each seat that heard `end` was told the same turns, as far as all may know them."""
    turns: dict[str, list[list[tuple[int, str, tuple[str, ...], bool]]]] = {}
    for lines in by_seat(transcripts[name]).values():
        heard: list[tuple[int, str, tuple[str, ...], bool]] = []
        for message in told(lines):
            if isinstance(message, Start):
                heard = []
            if isinstance(message, Act | End):
                heard += [(one.seat, one.result, one.discarded, one.recycled) for one in message.events]
            if isinstance(message, End):
                turns.setdefault(message.game_id, []).append(heard)
    assert turns
    for versions in turns.values():
        assert all(version == versions[0] for version in versions)


def test_the_transcripts_show_what_there_is(transcripts: dict[str, Lines]) -> None:
    messages = [message for name in NAMES for message in told(transcripts[name])]
    starts = [message for message in messages if isinstance(message, Start)]
    acts = [message for message in messages if isinstance(message, Act)]
    assert {start.players for start in starts} == {2, 3, 4, 5, 6}
    for option, values in {
        "odd_card": {"talon", "first"},
        "scoring": {"places", "winner", "loser"},
        "discard": {"any", "all"},
    }.items():
        assert {getattr(start.rules, option) for start in starts} == values
    assert {message.reason for message in messages if isinstance(message, End)} == {
        "emptied",
        "widows",
        "stalled",
        "forfeit",
    }
    assert {message.verdict for message in messages if isinstance(message, Fault)} == {
        "start_failed",
        "timeout",
        "protocol_error",
        "illegal_action",
    }
    assert any(act.recycled for act in acts)
    assert any(len(act.legal) > 3 and act.phase == "drawn" for act in acts)
    assert any(len(act.forfeited) == 2 for act in acts)
    assert any(act.time_left_ms is None for act in acts)
    assert any(act.game_left_ms is not None for act in acts)
