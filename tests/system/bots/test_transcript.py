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
from referee.bots.seat.conversation import Conversation
from referee.bots.seat.playback import Onward, PlayedBack, play_back
from referee.bots.seat.recorded import transcript_of
from referee.bots.seat.transcript import SeatFault, Transcript, with_limits
from referee.contest.turns import turns_of
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


def sent_lines(transcript: Transcript) -> bytes:
    return b"".join(one.line for one in transcript.sent())


def heard(transcript: Transcript) -> bytes:
    return sent_lines(transcript) + (transcript.fault.line or b"" if transcript.fault else b"")


def has_end(transcript: Transcript) -> bool:
    return bool(transcript.lines) and transcript.lines[-1].line.startswith(b'{"type":"end"')


def without_ids(lines: bytes) -> bytes:
    """Lines with ids away, and the time of a game, of which a record knows microseconds only."""
    return re.sub(rb'"(id|game_left_ms)":\d+', rb'"\1":0', lines)


def ids(lines: bytes) -> list[int]:
    return [int(number) for number in re.findall(rb'"type":"act","id":(\d+)', lines)]


# -- To the byte


@pytest.mark.parametrize("deck", [b"1", b"2", b"3"])
def test_a_whole_game_is_told_as_it_was_played(play: Play, deck: bytes) -> None:
    record, ear = play(*program("plain/first.py"), deck=deck)
    transcript = transcript_of(record, 1, LIMITS)
    assert without_ids(heard(transcript)) == without_ids(ear.sent_lines)
    assert (transcript.fault, has_end(transcript)) == (None, True)
    assert [asked.action for asked in transcript.questions] == [step.action for step in record.steps if step.seat == 1]


FAULTS = ["exits", "does_not_flush", "answers_an_old_id", "debug_print", "illegal_action", "half_a_line", "bad_utf8"]


@pytest.mark.parametrize("mode", FAULTS)
def test_a_fault_is_told_with_its_own_question_to_the_byte(play: Play, mode: str) -> None:
    record, ear = play(*program("bad.py", mode))
    transcript = transcript_of(record, 1, LIMITS)
    told = heard(transcript)
    assert told.startswith(ear.sent_lines) if mode == "exits" else told == ear.sent_lines
    assert transcript.fault is not None and transcript.fault.asked
    assert (transcript.questions[-1].answer, has_end(transcript)) == (None, False)


@pytest.mark.parametrize("mode", ["exits_before_ready", "prints_a_banner"])
def test_before_ready_hello_is_all_that_was_told(play: Play, mode: str) -> None:
    record, ear = play(*program("bad.py", mode))
    transcript = transcript_of(record, 1, LIMITS)
    assert heard(transcript).startswith(ear.sent_lines)
    assert list(transcript.sent()) == [transcript.hello]
    assert transcript.hello is not None and ear.sent_lines.startswith(transcript.hello.line)


def test_a_question_that_was_not_put_is_not_told(play: Play) -> None:
    record, ear = play(*program("bad.py", "answers_twice"))
    transcript = transcript_of(record, 1, LIMITS)
    assert heard(transcript) == ear.sent_lines
    assert transcript.fault is not None
    assert (transcript.fault.asked, len(transcript.questions)) == (False, 1)
    assert transcript.questions[0].answer is not None and transcript.questions[0].answer + b"\n" in ear.said


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
    transcript = transcript_of(record, 1, LIMITS)
    real = ids(ear.sent_lines)
    made = [asked.id for asked in transcript.questions]
    assert len(real) == 3
    assert made[1:] == real[1:] and made[0] != real[0]
    assert transcript.questions[1].answer == ear.said.splitlines()[2]
    assert transcript.questions[0].answer == b'{"id":%d,"action":"%s","note":"\\u00e9"}' % (
        made[0],
        str(transcript.questions[0].action).encode(),
    )
    assert ids(sent_lines(transcript)) == made


def test_other_limits_are_told_where_they_are_given(play: Play) -> None:
    record, _ = play(sys.executable, "-c", LATER)
    played = transcript_of(record, 1, LIMITS)
    same = with_limits(played, LIMITS)
    assert without_ids(heard(same)) == without_ids(heard(played))
    given = with_limits(played, Limits(start_ms=None, move_ms=None, game_ms=None))
    assert sent_lines(given).count(b'"time_left_ms":null,"game_left_ms":null') == 3
    assert b'"start_ms":null,"move_ms":null,"game_ms":null' in sent_lines(given).splitlines()[0]


def test_a_turn_is_counted_as_in_a_replay(play: Play) -> None:
    record, _ = play(*program("plain/first.py"))
    told = [(sent.number, sent.action) for sent in transcript_of(record, 1, LIMITS).questions]
    turns = enumerate(turns_of(record), 1)
    assert told == [(number, step.action) for number, turn in turns for step in turn.steps if turn.seat == 1]


# -- Nothing that the seat did not see


def check_twins(pair: Pair) -> None:
    first, second = (record_of(world, pair) for world in (pair.first, pair.second))
    assert first.deck != second.deck
    told = [transcript_of(record, pair.seat, LIMITS) for record in (first, second)]
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
def again(tmp_path: Path, reaper: Reaper) -> Callable[..., tuple[list[PlayedBack], Ear]]:
    """Tell a program again what was told in a game."""

    def again(
        transcript: Transcript,
        *argv: str,
        onward: Onward = Onward.STOP,
        until: int | None = None,
        limits: Limits = LIMITS,
    ) -> tuple[list[PlayedBack], Ear]:
        ear = Ear()
        conversation = Conversation(
            prepared(*argv),
            launcher=PlainLauncher(tmp_path, reaper),
            clock=SystemClock(),
            limits=limits,
            hello=transcript.hello.line if transcript.hello else None,
            tap=ear,
        )
        try:
            moments = list(play_back(transcript, conversation, onward=onward, until=until))
        finally:
            conversation.stop()
        return moments, ear

    return again


Again = Callable[..., tuple[list[PlayedBack], Ear]]


def told_again(play: Play, *argv: str) -> Transcript:
    record, _ = play(*argv)
    return transcript_of(record, 1, LIMITS)


def test_the_same_bot_is_told_the_same_bytes_and_answers_the_same(play: Play, again: Again) -> None:
    transcript = told_again(play, *program("plain/first.py"))
    moments, ear = again(transcript, *program("plain/first.py"))
    assert [moment.same for moment in moments] == [True] * len(transcript.questions)
    assert ear.sent_lines == sent_lines(transcript) + b'{"type":"quit"}\n'


def test_another_bot_is_stopped_where_it_goes_another_way(play: Play, again: Again) -> None:
    transcript = told_again(play, *program("plain/first.py"))
    moments, _ = again(transcript, *program("plain/last.py"))
    assert [moment.same for moment in moments] == [True] * (len(moments) - 1) + [False]
    last = moments[-1]
    assert last.sent is not None and isinstance(last.now, Reply)
    assert last.now.action.text == last.sent.question.legal[-1].text != last.sent.action


def test_it_can_be_asked_on_as_the_game_went_then(play: Play, again: Again) -> None:
    transcript = told_again(play, *program("plain/first.py"))
    moments, ear = again(transcript, *program("plain/last.py"), onward=Onward.GO_ON)
    assert len(moments) == len(transcript.questions)
    assert not all(moment.same for moment in moments)
    assert ear.sent_lines == sent_lines(transcript) + b'{"type":"quit"}\n'


def test_nothing_is_asked_after_a_turn(play: Play, again: Again) -> None:
    transcript = told_again(play, *program("plain/first.py"))
    third = transcript.questions[2].number
    moments, _ = again(transcript, *program("plain/first.py"), until=third)
    assert [moment.sent for moment in moments] == [asked for asked in transcript.questions if asked.number <= third]


@pytest.mark.parametrize("mode", [*FAULTS, "exits_before_ready", "prints_a_banner", "answers_twice"])
def test_a_fault_is_the_same_again(play: Play, again: Again, mode: str) -> None:
    transcript = told_again(play, *program("bad.py", mode))
    moments, _ = again(transcript, *program("bad.py", mode))
    now = moments[-1].now
    assert isinstance(now, BotFault) and isinstance(moments[-1].fault, SeatFault)
    assert moments[-1].same
    assert [moment.same for moment in moments] == [True] * len(moments)


@pytest.mark.parametrize("mode", ["exits", "exits_before_ready", "answers_twice"])
def test_a_fault_that_was_mended_is_gone(play: Play, again: Again, mode: str) -> None:
    transcript = told_again(play, *program("bad.py", mode))
    moments, _ = again(transcript, *program("plain/first.py"))
    assert not isinstance(moments[-1].now, BotFault)
    assert (moments[-1].fault is not None, moments[-1].same) == (True, False)


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
    transcript = told_again(play, *program("bad.py", "answers_twice"))
    moments, _ = again(transcript, sys.executable, "-c", SPEAKS_LATER)
    now = moments[-1].now
    assert isinstance(now, BotFault)
    assert (moments[-1].sent, moments[-1].same) == (None, True)
    assert "and now?" in now.detail


def test_a_bot_that_now_ends_instead_of_speaking_goes_another_way(play: Play, again: Again) -> None:
    transcript = told_again(play, *program("bad.py", "answers_twice"))
    moments, _ = again(transcript, *program("bad.py", "answers_and_exits"))
    now = moments[-1].now
    assert isinstance(now, BotFault)
    assert (moments[-1].same, now.verdict) == (False, Verdict.CRASH)
    assert now.detail.startswith("it exited with status 0")


def test_limits_can_be_taken_away_for_a_debugger(play: Play, again: Again) -> None:
    transcript = told_again(play, *program("bad.py", "answers_late"))
    assert transcript.fault is not None and transcript.fault.verdict is Verdict.TIMEOUT
    moments, _ = again(transcript, *program("bad.py", "answers_late"), limits=Limits(move_ms=None))
    assert isinstance(moments[-1].now, Reply)
