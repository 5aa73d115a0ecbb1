"""What a bot was told is rebuilt from the record to the byte, with nothing that its seat did not see; and told again."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from dialogues import LIMITS, Ear, by_program, pairs, record_of
from hypothesis import given, settings
from hypothesis import strategies as st
from seats import PROGRAMS, prepared
from worlds import Pair, some_pair

from referee.bots.process.launcher import PlainLauncher
from referee.bots.process.limits import Limits
from referee.bots.process.system import Reaper
from referee.bots.seat.dialogue import Charge, Dialogue, with_limits
from referee.bots.seat.rerun import Compared, Onward, rerun
from referee.bots.seat.retelling import dialogue_of
from referee.cli.commands.replay import turns_of
from referee.errors import BotFault, Verdict
from referee.play import Reply, SystemClock
from referee.record import GameRecord

Played = tuple[GameRecord, Ear]
Play = Callable[..., Played]


@pytest.fixture
def play(tmp_path: Path, reaper: Reaper) -> Play:
    """Play a game with a real program at seat 1 of three, and hear it."""

    def play(*argv: str, limits: Limits = LIMITS, deck: bytes = b"3") -> Played:
        return by_program(tmp_path, *argv, reaper=reaper, limits=limits, deck=deck)

    return play


def program(name: str, *words: str) -> tuple[str, ...]:
    return (sys.executable, str(PROGRAMS / name), *words)


def heard(dialogue: Dialogue) -> bytes:
    told = b"".join(dialogue.sent())
    return told + (dialogue.charge.line or b"" if dialogue.charge else b"")


def without_ids(lines: bytes) -> bytes:
    """Lines with ids away, and the time of a game, of which a record knows microseconds only."""
    return re.sub(rb'"(id|game_left_ms)":\d+', rb'"\1":0', lines)


def ids(lines: bytes) -> list[int]:
    return [int(number) for number in re.findall(rb'"type":"act","id":(\d+)', lines)]


# -- To the byte


@pytest.mark.parametrize("deck", [b"1", b"2", b"3"])
def test_a_whole_game_is_told_as_it_was_played(play: Play, deck: bytes) -> None:
    record, ear = play(*program("plain/first.py"), deck=deck)
    dialogue = dialogue_of(record, 1, LIMITS)
    assert without_ids(heard(dialogue)) == without_ids(ear.sent_lines)
    assert (dialogue.charge, dialogue.end is not None) == (None, True)
    assert [asked.action for asked in dialogue.asked] == [step.action for step in record.steps if step.seat == 1]


FAULTS = ["exits", "does_not_flush", "answers_an_old_id", "debug_print", "illegal_action", "half_a_line", "bad_utf8"]


@pytest.mark.parametrize("mode", FAULTS)
def test_a_fault_is_told_with_its_own_question_to_the_byte(play: Play, mode: str) -> None:
    record, ear = play(*program("bad.py", mode))
    dialogue = dialogue_of(record, 1, LIMITS)
    told = heard(dialogue)
    assert told.startswith(ear.sent_lines) if mode == "exits" else told == ear.sent_lines
    assert dialogue.charge is not None and dialogue.charge.asked
    assert (dialogue.asked[-1].answer, dialogue.end) == (None, None)


@pytest.mark.parametrize("mode", ["exits_before_ready", "prints_a_banner"])
def test_before_ready_hello_is_all_that_was_told(play: Play, mode: str) -> None:
    record, ear = play(*program("bad.py", mode))
    dialogue = dialogue_of(record, 1, LIMITS)
    assert heard(dialogue).startswith(ear.sent_lines)
    assert list(dialogue.sent()) == [dialogue.hello]
    assert ear.sent_lines.startswith(dialogue.hello or b"?")


def test_a_question_that_was_not_put_is_not_told(play: Play) -> None:
    record, ear = play(*program("bad.py", "answers_twice"))
    dialogue = dialogue_of(record, 1, LIMITS)
    assert heard(dialogue) == ear.sent_lines
    assert dialogue.charge is not None
    assert (dialogue.charge.asked, len(dialogue.asked)) == (False, 1)
    assert dialogue.asked[0].answer is not None and dialogue.asked[0].answer + b"\n" in ear.said


LATER = """
import json, sys
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready",  "protocol": 1}', flush=True)
    elif "id" in message:
        asked += 1
        if asked == 3:
            sys.exit(3)
        print(json.dumps({"action": message["legal"][0], "id": message["id"], "note": "é"}), flush=True)
"""


def test_the_last_two_ids_and_the_last_good_line_are_the_real_ones(play: Play) -> None:
    record, ear = play(sys.executable, "-c", LATER)
    dialogue = dialogue_of(record, 1, LIMITS)
    real = ids(ear.sent_lines)
    made = [asked.id for asked in dialogue.asked]
    assert len(real) == 3
    assert made[1:] == real[1:] and made[0] != real[0]
    assert dialogue.asked[1].answer == ear.said.splitlines()[2]
    assert dialogue.asked[0].answer == b'{"id":%d,"action":"%s","note":"\\u00e9"}' % (
        made[0],
        str(dialogue.asked[0].action).encode(),
    )
    assert ids(b"".join(dialogue.sent())) == made


def test_other_limits_are_told_where_they_are_given(play: Play) -> None:
    record, _ = play(sys.executable, "-c", LATER)
    played = dialogue_of(record, 1, LIMITS)
    same = with_limits(played, LIMITS)
    assert without_ids(heard(same)) == without_ids(heard(played))
    given = with_limits(played, Limits(start_ms=None, move_ms=None, game_ms=None))
    assert b"".join(given.sent()).count(b'"time_left_ms":null,"game_left_ms":null') == 3
    assert b'"start_ms":null,"move_ms":null,"game_ms":null' in (given.hello or b"")


def test_a_turn_is_counted_as_in_a_replay(play: Play) -> None:
    record, _ = play(*program("plain/first.py"))
    told = [(asked.turn, asked.action) for asked in dialogue_of(record, 1, LIMITS).asked]
    turns = enumerate(turns_of(record), 1)
    assert told == [(number, step.action) for number, turn in turns for step in turn.steps if turn.seat == 1]


# -- Nothing that the seat did not see


def check_twins(pair: Pair) -> None:
    first, second = (record_of(world, pair) for world in (pair.first, pair.second))
    assert first.deck != second.deck
    told = [dialogue_of(record, pair.seat, LIMITS) for record in (first, second)]
    assert told[0] == told[1]


def test_two_games_that_look_alike_to_a_seat_have_one_dialogue() -> None:
    assert len(pairs()) > 60
    for pair in pairs():
        check_twins(pair)


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_what_a_seat_cannot_see_changes_nothing_in_its_dialogue(seed: int) -> None:
    pair = some_pair(Random(seed))
    if pair is not None:
        check_twins(pair)


# -- Told again


@pytest.fixture
def again(tmp_path: Path, reaper: Reaper) -> Callable[..., tuple[list[Compared], Ear]]:
    """Tell a program again what was told in a game."""

    def again(
        dialogue: Dialogue, *argv: str, onward: Onward = Onward.STOP, until: int | None = None, limits: Limits = LIMITS
    ) -> tuple[list[Compared], Ear]:
        ear = Ear()
        launcher = PlainLauncher(tmp_path, reaper)
        moments = rerun(
            dialogue,
            prepared(*argv),
            launcher=launcher,
            clock=SystemClock(),
            limits=limits,
            onward=onward,
            until=until,
            tap=ear,
        )
        return list(moments), ear

    return again


Again = Callable[..., tuple[list[Compared], Ear]]


def told_again(play: Play, *argv: str) -> Dialogue:
    record, _ = play(*argv)
    return dialogue_of(record, 1, LIMITS)


def test_the_same_bot_is_told_the_same_bytes_and_answers_the_same(play: Play, again: Again) -> None:
    dialogue = told_again(play, *program("plain/first.py"))
    moments, ear = again(dialogue, *program("plain/first.py"))
    assert [moment.same for moment in moments] == [True] * len(dialogue.asked)
    assert ear.sent_lines == b"".join(dialogue.sent()) + b'{"type":"quit"}\n'


def test_another_bot_is_stopped_where_it_goes_another_way(play: Play, again: Again) -> None:
    dialogue = told_again(play, *program("plain/first.py"))
    moments, _ = again(dialogue, *program("plain/last.py"))
    assert [moment.same for moment in moments] == [True] * (len(moments) - 1) + [False]
    last = moments[-1]
    assert last.asked is not None and isinstance(last.now, Reply)
    assert last.now.action.text == last.asked.question.legal[-1].text != last.asked.action


def test_it_can_be_asked_on_as_the_game_went_then(play: Play, again: Again) -> None:
    dialogue = told_again(play, *program("plain/first.py"))
    moments, ear = again(dialogue, *program("plain/last.py"), onward=Onward.GO_ON)
    assert len(moments) == len(dialogue.asked)
    assert not all(moment.same for moment in moments)
    assert ear.sent_lines == b"".join(dialogue.sent()) + b'{"type":"quit"}\n'


def test_nothing_is_asked_after_a_turn(play: Play, again: Again) -> None:
    dialogue = told_again(play, *program("plain/first.py"))
    third = dialogue.asked[2].turn
    moments, _ = again(dialogue, *program("plain/first.py"), until=third)
    assert [moment.asked for moment in moments] == [asked for asked in dialogue.asked if asked.turn <= third]


@pytest.mark.parametrize("mode", [*FAULTS, "exits_before_ready", "prints_a_banner", "answers_twice"])
def test_a_fault_is_the_same_again(play: Play, again: Again, mode: str) -> None:
    dialogue = told_again(play, *program("bad.py", mode))
    moments, _ = again(dialogue, *program("bad.py", mode))
    now = moments[-1].now
    assert isinstance(now, BotFault) and isinstance(moments[-1].charge, Charge)
    assert moments[-1].same
    assert [moment.same for moment in moments] == [True] * len(moments)


@pytest.mark.parametrize("mode", ["exits", "exits_before_ready", "answers_twice"])
def test_a_fault_that_was_mended_is_gone(play: Play, again: Again, mode: str) -> None:
    dialogue = told_again(play, *program("bad.py", mode))
    moments, _ = again(dialogue, *program("plain/first.py"))
    assert not isinstance(moments[-1].now, BotFault)
    assert (moments[-1].charge is not None, moments[-1].same) == (True, False)


SPEAKS_LATER = """
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready", "protocol": 1}', flush=True)
    elif "id" in message:
        print(json.dumps({"id": message["id"], "action": message["legal"][0]}), flush=True)
        time.sleep(0.05)
        print("and now?", flush=True)
"""


def test_a_bot_that_spoke_unasked_is_listened_to_for_a_while(play: Play, again: Again) -> None:
    dialogue = told_again(play, *program("bad.py", "answers_twice"))
    moments, _ = again(dialogue, sys.executable, "-c", SPEAKS_LATER)
    now = moments[-1].now
    assert isinstance(now, BotFault)
    assert (moments[-1].asked, moments[-1].same) == (None, True)
    assert "and now?" in now.detail


def test_a_bot_that_now_ends_instead_of_speaking_goes_another_way(play: Play, again: Again) -> None:
    dialogue = told_again(play, *program("bad.py", "answers_twice"))
    moments, _ = again(dialogue, *program("bad.py", "answers_and_exits"))
    now = moments[-1].now
    assert isinstance(now, BotFault)
    assert (moments[-1].same, now.verdict) == (False, Verdict.CRASH)
    assert now.detail.startswith("it exited with status 0")


def test_limits_can_be_taken_away_for_a_debugger(play: Play, again: Again) -> None:
    dialogue = told_again(play, *program("bad.py", "answers_late"))
    assert dialogue.charge is not None and dialogue.charge.verdict is Verdict.TIMEOUT
    moments, _ = again(dialogue, *program("bad.py", "answers_late"), limits=Limits(move_ms=None))
    assert isinstance(moments[-1].now, Reply)
