"""Every way in which a process can fail to answer, as real programs; the wire between them and the referee."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from seats import PROGRAMS, Seat

from referee.bots.process.limits import Limits, Reuse
from referee.errors import Verdict
from referee.play import PlayedGame
from referee.record import Fault

Make = Callable[..., Seat]

SLACK = 0.2
"""Seconds within which a verdict falls after its deadline."""


def only_fault(played: PlayedGame) -> Fault:
    assert len(played.faults) == 1, played.faults
    assert played.faults[0].seat == 0
    assert played.outcome.places == (2, 1)
    return played.faults[0]


def gone(pid: int) -> bool:
    """Whether a process is gone, or dead and waiting to be reaped by somebody else."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


STARTS = {
    "exits_before_ready": (Verdict.START_FAILED, "exited with status 3 (last on stderr: no such model) before"),
    "prints_a_banner": (Verdict.START_FAILED, "My Bot v1.0"),
    "chooses_another_version": (Verdict.START_FAILED, "version 2"),
    "never_ready": (Verdict.START_TIMEOUT, "no `ready` within 400 ms"),
    "ready_without_flush": (Verdict.START_TIMEOUT, "stdout was not flushed"),
}


@pytest.mark.parametrize("mode", STARTS)
def test_what_goes_wrong_before_ready_is_a_failed_start(seat: Make, mode: str) -> None:
    verdict, words = STARTS[mode]
    played = seat(mode, limits=Limits(start_ms=400)).play()
    fault = only_fault(played)
    assert (fault.verdict, fault.step) == (verdict, None)
    assert words in fault.detail
    assert played.steps == ()


@pytest.mark.parametrize("mode", ["says_more_than_ready", "says_more_a_little_later"])
def test_what_follows_ready_is_charged_when_the_first_question_falls_due(seat: Make, mode: str) -> None:
    fault = only_fault(seat(mode).play())
    assert (fault.verdict, fault.step) == (Verdict.PROTOCOL_ERROR, 0)


def test_what_follows_ready_is_charged_in_a_process_that_was_started_before_the_game(seat: Make) -> None:
    table = seat("says_more_than_ready")
    table.player.start()
    assert only_fault(table.play()).verdict is Verdict.PROTOCOL_ERROR
    assert table.player.replaced == 0


def test_a_program_that_cannot_be_started_is_a_failed_start(seat: Make) -> None:
    fault = only_fault(seat(argv=("/no/such/program",)).play())
    assert fault.verdict is Verdict.START_FAILED
    assert "/no/such/program" in fault.detail + str(fault.evidence)


TIMEOUTS = {
    "half_a_line": "its line has not ended with a newline",
    "one_byte_at_a_time": "its line has not ended with a newline",
    "stops_itself": "no answer within 300 ms",
    "floods_stderr": "no answer within 300 ms",
    "answers_late": "no answer within 300 ms",
    "does_not_flush": "stdout was not flushed",
}


@pytest.mark.parametrize("mode", TIMEOUTS)
def test_an_answer_that_does_not_come_is_a_timeout_soon_after_the_deadline(seat: Make, mode: str) -> None:
    fault = only_fault(seat(mode).play())
    assert fault.verdict is Verdict.TIMEOUT
    assert TIMEOUTS[mode] in fault.detail


@pytest.mark.parametrize("mode", ["half_a_line", "floods_stderr", "one_byte_at_a_time"])
def test_the_verdict_falls_at_the_deadline_whatever_the_bot_does_meanwhile(seat: Make, mode: str) -> None:
    played = seat(mode).play()
    assert 300_000 <= played.steps[-1].us <= 300_000 + SLACK * 1e6


def test_a_bot_that_closed_its_stdin_and_lives_is_timed_out_and_told_apart(seat: Make) -> None:
    fault = only_fault(seat("closes_stdin").play())
    assert (fault.verdict, fault.step is not None and fault.step > 0) == (Verdict.TIMEOUT, True)
    assert "its stdin is closed" in fault.detail


def test_a_bot_that_closed_its_stdin_ends_the_wait_without_any_limit(seat: Make) -> None:
    fault = only_fault(seat("closes_stdin", limits=Limits(move_ms=None)).play())
    assert fault.verdict is Verdict.TIMEOUT
    assert fault.detail == "no answer comes: its stdin is closed, so that it cannot hear the question"


def test_a_bot_that_read_its_question_and_closed_its_stdin_may_think(seat: Make) -> None:
    played = seat("closes_stdin_and_thinks", limits=Limits(move_ms=None)).play()
    assert [step.action is not None for step in played.steps if step.seat == 0][:2] == [True, False]
    assert only_fault(played).verdict is Verdict.CRASH


def test_a_bot_that_takes_back_what_it_wrote_does_no_harm(seat: Make) -> None:
    assert seat("takes_back_what_it_wrote").play().faults == ()


def test_a_flood_on_stderr_is_kept_by_its_head_and_tail_only(seat: Make) -> None:
    fault = only_fault(seat("floods_stderr").play())
    log = fault.evidence["stderr"]
    assert isinstance(log, str)
    assert "bytes left out" in log
    assert len(log) < 70_000


PROTOCOL_ERRORS = {
    "writes_without_end": "one line of at most 65536 bytes",
    "writes_a_long_line": "",
    "writes_many_lines": "id",
    "answers_an_old_id": "the reply echoed id",
    "bad_utf8": "UTF-8",
    "bom": "byte order mark",
    "nul": "",
    "nan": "NaN",
    "infinity": "Infinity",
    "too_large_a_float": "1e999",
    "duplicate_keys": "id",
    "deep_nesting": "16",
    "long_integer": "",
    "over_2_to_53": "9007199254740993",
    "lone_surrogate": "surrogate",
    "true_for_an_id": "id",
    "float_for_an_id": "id",
    "trailing_data": "",
    "array": "object",
    "null": "object",
    "empty_line": "empty",
    "blank": "",
    "no_action": "action",
    "debug_print": "thinking...",
}


@pytest.mark.parametrize("mode", PROTOCOL_ERRORS)
def test_a_line_that_breaks_the_contract_is_a_protocol_error_and_is_quoted(seat: Make, mode: str) -> None:
    fault = only_fault(seat(mode).play())
    assert fault.verdict is Verdict.PROTOCOL_ERROR, fault
    assert PROTOCOL_ERRORS[mode] in fault.detail, fault.detail


def test_a_debug_print_is_told_that_stdout_is_for_messages(seat: Make) -> None:
    detail = only_fault(seat("debug_print").play()).detail
    assert "stdout" in detail
    assert "stderr" in detail


def test_a_second_answer_is_charged_when_the_next_question_falls_due(seat: Make) -> None:
    fault = only_fault(seat("answers_twice").play())
    assert (fault.verdict, fault.step is not None and fault.step > 0) == (Verdict.PROTOCOL_ERROR, True)


@pytest.mark.parametrize("mode", ["illegal_action", "legal_elsewhere"])
def test_a_well_formed_answer_that_is_not_legal_is_an_illegal_action(seat: Make, mode: str) -> None:
    fault = only_fault(seat(mode).play())
    assert fault.verdict is Verdict.ILLEGAL_ACTION
    assert "to the letter one of: " in fault.detail


CRASHES = {
    "exits": "exited with status 7 (last on stderr: Traceback: it broke here)",
    "exits_with_zero": "exited with status 0",
    "is_killed": "killed by SIGSEGV",
    "closes_stdout": "closed its stdout",
    "leaves_a_daemon_and_exits": "exited with status 0",
    "lets_a_daemon_answer": "exited with status 0",
}


@pytest.mark.parametrize("limit", [300, None])
@pytest.mark.parametrize("mode", CRASHES)
def test_an_end_while_being_asked_is_a_crash_noticed_at_once_even_without_a_limit(
    seat: Make, mode: str, limit: int | None
) -> None:
    fault = only_fault(seat(mode, limits=Limits(move_ms=limit)).play())
    assert fault.verdict is Verdict.CRASH
    assert CRASHES[mode] in fault.detail


def test_the_exit_status_and_stderr_stand_at_the_game(seat: Make) -> None:
    evidence = only_fault(seat("exits").play()).evidence
    assert evidence["exit_status"] == 7
    assert evidence["stderr"] == "Traceback: it broke here\n"
    assert '"type":"act"' in str(evidence["sent"])


def test_an_answer_followed_by_an_exit_counts_as_an_answer(seat: Make) -> None:
    played = seat("answers_and_exits").play()
    assert only_fault(played).verdict is Verdict.CRASH
    asked = [step.action for step in played.steps if step.seat == 0]
    assert asked[0] is not None
    assert asked[1:] == [None]


@pytest.mark.parametrize("mode", ["uses_crlf", "answers_in_pieces", "notes"])
def test_what_the_contract_allows_is_no_fault(seat: Make, mode: str) -> None:
    assert seat(mode).play().faults == ()


def test_a_note_is_cut_and_kept(seat: Make) -> None:
    assert {step.note for step in seat("notes").play().steps if step.seat == 0} == {"n" * 200}


def test_a_bot_at_fault_plays_its_next_game_in_a_new_process(seat: Make) -> None:
    table = seat("exits")
    assert [table.play().faults[0].verdict for _ in range(3)] == [Verdict.CRASH] * 3


def test_one_process_plays_many_games_and_fresh_gives_each_its_own(seat: Make) -> None:
    def processes(reuse: Reuse) -> int:
        table = seat(argv=(sys.executable, str(PROGRAMS / "who.py")), reuse=reuse)
        return len({step.note for _ in range(3) for step in table.play().steps if step.seat == 0})

    assert processes(Reuse.MANY_GAMES) == 1
    assert processes(Reuse.FRESH) == 3


@pytest.mark.parametrize(
    "mode", ["exits_after_end", "talks_after_end", "exits_slowly_after_end", "talks_slowly_after_end"]
)
def test_what_a_process_does_after_a_game_is_not_charged_and_it_is_replaced(seat: Make, mode: str) -> None:
    table = seat(argv=(sys.executable, str(PROGRAMS / "who.py"), mode))
    games = [table.play() for _ in range(5)]
    assert [game.faults for game in games] == [()] * 5
    assert len({step.note for game in games for step in game.steps if step.seat == 0}) == 5


def second_game(seat: Make, mode: str) -> tuple[Seat, PlayedGame]:
    table = seat(argv=(sys.executable, str(PROGRAMS / "who.py"), mode))
    assert table.play().faults == ()
    return table, table.play()


def processes_of(played: PlayedGame) -> set[str | None]:
    return {step.note for step in played.steps if step.seat == 0}


def test_after_a_question_was_put_again_each_game_has_a_process_of_its_own(seat: Make) -> None:
    table, second = second_game(seat, "exits_in_its_second_game")
    assert table.player.replaced == 1
    games = [second, *(table.play() for _ in range(3))]
    assert [game.faults for game in games] == [()] * 4
    assert len(set().union(*map(processes_of, games))) == 4
    assert table.player.replaced == 1


@pytest.mark.parametrize(
    ("mode", "verdict"),
    [
        ("forgets_the_action_in_its_second_game", Verdict.PROTOCOL_ERROR),
        ("dies_in_its_answer_in_its_second_game", Verdict.CRASH),
    ],
)
def test_what_bears_the_questions_id_is_charged_in_any_game(seat: Make, mode: str, verdict: Verdict) -> None:
    table, second = second_game(seat, mode)
    assert (only_fault(second).verdict, table.player.replaced) == (verdict, 0)


def test_the_time_before_a_question_was_put_again_counts(seat: Make) -> None:
    table, second = second_game(seat, "talks_slowly_after_end")
    assert (second.faults, table.player.replaced) == ((), 1)
    spent = sum(step.us for step in second.steps if step.seat == 0)
    assert table.player.used // 1000 >= spent + 20_000


def test_a_bot_sees_a_bare_environment_and_an_empty_folder_of_its_own(
    seat: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    evidence = only_fault(seat("tells_its_surroundings").play()).evidence
    seen = json.loads(str(evidence["stderr"]))
    assert set(seen["env"]) - {"LC_CTYPE"} == {
        "PATH", "HOME", "TMPDIR", "LANG", "TZ", "JDK_JAVA_OPTIONS", "NODE_OPTIONS", "GOMEMLIMIT",
    }  # fmt: skip
    assert seen["env"]["HOME"] == seen["env"]["TMPDIR"]
    assert seen["tmp"] == []
    assert seen["sid"] is True
    assert len(seen["fds"]) == 4  # its three pipes, and the one it lists with
    assert not Path(seen["env"]["TMPDIR"]).exists()


def test_a_bot_that_ignores_quit_is_ended(seat: Make) -> None:
    table = seat("ignores_quit")
    table.play()
    process = table.player.conversation.process
    assert process is not None
    began = time.monotonic()
    table.player.stop()
    assert gone(process.child.pid)
    assert time.monotonic() - began < 1 + 10 * SLACK


def test_descriptors_and_scratch_folders_are_flat_over_many_faults(seat: Make, tmp_path: Path) -> None:
    table = seat("exits")
    table.play()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        table.play()
    assert len(os.listdir("/proc/self/fd")) == before
    assert [path for path in tmp_path.iterdir() if path.name.startswith("bot-")] == []
