"""A check ends in bounded time, however slow a bot is, and slowness within the limit is no fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from referee.checking.report import patience
from referee.checking.report.report import CheckStep, Mark


def marks(steps: list[CheckStep]) -> dict[str, Mark]:
    return {step.name: step.mark for step in steps}


def test_a_game_that_takes_too_long_is_ended_and_the_bot_passes(
    found: Callable[..., list[CheckStep]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "GAME", 0.0)
    monkeypatch.setattr(patience, "STEP", 0.0)
    steps = found("")
    assert Mark.FAILED not in marks(steps).values()
    assert marks(steps)["recycled"] is Mark.NOT_TRIED
    assert marks(steps)["most_cards"] is marks(steps)["selfplay_6"] is Mark.PASSED
    by_name = {step.name: step for step in steps}
    assert by_name["time"].figures["decisions"] < 400
    assert by_name["selfplay_2"].figures["games"] == 0
    assert by_name["selfplay_2"].detail == "0 whole games and a part of another: then 0 s were over"


def test_what_a_slow_bot_leaves_no_time_for_is_not_tried_and_all_else_is(
    found: Callable[..., list[CheckStep]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "CHECK", 0.0)
    told = marks(found(""))
    assert told.pop("many_games") is told.pop("quit") is told.pop("repeatable") is Mark.PASSED
    assert told.pop("most_cards") is told.pop("selfplay_2") is told.pop("selfplay_6") is Mark.NOT_TRIED


def test_a_bot_that_is_quick_is_given_all_its_games(found: Callable[..., list[CheckStep]]) -> None:
    steps = {step.name: step for step in found("")}
    assert [steps[f"selfplay_{players}"].figures["games"] for players in range(2, 7)] == [5] * 5
    assert Mark.NOT_TRIED not in marks(list(steps.values())).values()
