"""Programs that fail in one rare way only: each is found by its own step, with its cause and the line of the contract."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from referee.checking.report.report import CheckStep, Mark

Found = Callable[..., list[CheckStep]]


def is_cross(step: CheckStep) -> bool:
    return step.mark is Mark.FAILED


@pytest.mark.parametrize(
    ("mode", "name", "verdict", "clause", "words"),
    [
        ("never_starts", "starts", "start_failed", "C1", "there is no engine"),
        ("version", "ready", "start_failed", "C1", "it chose version 2"),
        ("prints", "flushes", "protocol_error", "C4", "logs go to stderr"),
        ("old_id", "ids", "protocol_error", "C2", "was the question before, which was answered already"),
        ("large_id", "ids", "protocol_error", "C2", "echoed id 2147483584, the question was 2147483647"),
        ("unknown_field", "unknown_fields", "start_failed", "C5", "RuntimeError: an unknown field"),
        ("unknown_message", "unknown_messages", "crash", "C5", "RuntimeError: an unknown message"),
        ("answers_unknown", "unknown_messages", "protocol_error", "C5", "echoed id"),
        ("seat", "many_games", "crash", "C9", "cannot do seat"),
        ("three", "three_matches", "crash", "C11", "three matches: it exited with status 1"),
        ("four_queens", "four_queens", "crash", "C11", "four queens in hand: it exited"),
        ("three_widows", "three_widows", "crash", "C11", "three widows: it exited"),
        ("recycled", "recycled", "crash", "C11", "phase drawn, recycled: it exited"),
        ("twice", "recycled", "protocol_error", None, "answer"),
        ("kept", "near_the_stall", "crash", "C11", "one turn before the stall, stall_limit 5: it exited"),
        ("stalled", "stalled", "crash", "C11", "after the end of the game (stalled): it exited"),
        ("one_card", "one_card", "crash", "C11", "one card in hand: it exited"),
        ("stall_limit", "stall_limit_1", "crash", "C11", "stall_limit 1: it exited"),
        ("winner", "scoring_winner", "crash", "C11", "scoring winner: it exited"),
        ("loser", "scoring_loser", "crash", "C11", "scoring loser: it exited"),
        ("discard_all", "discard_all", "crash", "C11", "three matches, discard all: it exited"),
        ("part", "discard_all", "illegal_action", "C2", "discard 9C is not allowed here"),
        ("first", "odd_card_first", "crash", "C11", "odd_card first: it exited"),
        ("forfeited", "house", "crash", "C11", "one at fault: it exited"),
        ("two_forfeited", "two_houses", "crash", "C11", "two at fault: it exited"),
        ("six", "players_6", "crash", "C11", "question 1 of a game of 6"),
        ("many_events", "many_events", "crash", "C11", "events: it exited"),
        ("long_line", "long_question", "crash", "C11", "12 events: it exited"),
        ("last_discard", "last_discard", "crash", "C11", "one card in hand"),
        ("queen_to_queens", "queen_to_queens", "crash", "C11", "question 2 of a game of 2, phase drawn"),
        ("large_limit", "stall_limit_1000", "crash", "C11", "stall_limit 1000: it exited"),
        ("seat_0", "seat_0_at_fault", "crash", "C11", "one at fault: it exited"),
        ("four_forfeited", "one_other_left", "crash", "C11", "four at fault: it exited"),
        ("house_recycles", "house_recycles", "crash", "C11", "one at fault"),
        ("little_time", "little_time", "crash", "C11", "cannot do little_time"),
        ("null_clock", "no_clock", "crash", "C8", "NoneType"),
        ("game_clock", "game_clock", "crash", "C11", "cannot do game_clock"),
        ("no_quit", "quit", None, "C11", "lives on"),
        ("no_eof", "end_of_stdin", None, "C11", "lives on"),
    ],
)
def test_the_first_cross_is_that_of_the_step_for_what_is_rare(
    found: Found, mode: str, name: str, verdict: str | None, clause: str | None, words: str
) -> None:
    *before, step = found(mode, enough=is_cross)
    assert (step.name, step.verdict, step.mark) == (name, verdict, Mark.FAILED), step.detail
    assert words in step.detail
    assert step.clause is not None and clause in (step.clause.name, None)
    assert step.evidence is not None and step.evidence.messages
    assert all(other.mark is Mark.PASSED for other in before), before


def test_a_bot_that_never_flushes_is_told_so(found: Found) -> None:
    *_, step = found("never_flushes", enough=is_cross, move_ms=1000)
    assert (step.name, step.verdict, step.clause and step.clause.name) == ("flushes", "timeout", "C3")
    assert "stdout was not flushed" in step.detail


def test_the_fourth_widow_is_a_question_of_its_own(found: Found) -> None:
    crosses = [
        step.name for step in found("fourth_widow", enough=lambda step: step.name == "recycled") if is_cross(step)
    ]
    assert crosses[-1] == "fourth_widow" and set(crosses) <= {"three_widows", "fourth_widow"}


def test_after_a_cross_the_other_steps_go_on_and_evidence_is_shown_once(found: Found) -> None:
    steps = found("three")
    crosses = [step for step in steps if is_cross(step)]
    assert crosses[0].name == "three_matches" and len(steps) > 40
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert crosses[0].evidence is not None and "as in step" not in crosses[0].detail
    assert all("as in step" in step.detail and step.evidence is None for step in crosses[1:])
    assert {step.name for step in steps if step.mark is Mark.PASSED} >= {"recycled", "house", "quit", "time"}


def test_a_cross_at_the_start_leaves_the_rest_untried(found: Found) -> None:
    *_, cross, rest = found("version")
    assert (cross.name, rest.mark, rest.detail) == ("ready", Mark.NOT_TRIED, "step 2 has to go well before")


@pytest.mark.parametrize(
    ("mode", "name", "clause", "words"),
    [
        ("leaves", "many_games", "C9", "it exits after the end of a game"),
        ("dice", "repeatable", "C14", "is sent the same answers"),
        ("grows", "memory", None, "it grew by"),
    ],
)
def test_what_is_no_fault_is_a_warning(found: Found, mode: str, name: str, clause: str | None, words: str) -> None:
    steps = found(mode)
    assert not [step for step in steps if is_cross(step)]
    warnings = {step.name: step for step in steps if step.mark is Mark.WARNING}
    assert words in warnings[name].detail
    assert getattr(warnings[name].clause, "name", None) == clause


def test_what_is_written_to_stderr_is_shown(found: Found) -> None:
    step = found("stderr")[-1]
    assert (step.name, step.mark) == ("stderr", Mark.PASSED)
    assert step.evidence is not None and "thinking about" in step.evidence.stderr
    assert step.figures["bytes"] > 10_000


def test_a_good_bot_has_ticks_alone(found: Found) -> None:
    steps = found("")
    assert {step.mark for step in steps if step.name != "time"} == {Mark.PASSED}
    figures = {step.name: step.figures for step in steps}
    assert 0 < figures["time"]["median_us"] <= figures["time"]["p99_us"] <= figures["time"]["worst_us"]
    assert figures["time"]["decisions"] > 1000 and figures["memory"]["peak_bytes"] > 1 << 20
    assert figures["stderr"] == {"bytes": 0}
    assert all(len(set(names)) == len(names) for names in [[step.name for step in steps]])
