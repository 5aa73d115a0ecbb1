"""How a run is shown, on a clock of the test's own."""

from __future__ import annotations

import re

import pytest

from referee.cli.output.display import PLAIN_EVERY, REDRAW_EVERY, Display, Lines, Redrawn


def shown(display: Display, capsys: pytest.CaptureFixture[str], clock: list[float], times: list[float]) -> list[str]:
    """What stderr has after each of these times."""
    found = []
    for now in times:
        clock[0] = now
        display.tick(lambda: "a line", lambda: "a picture")
        found.append(capsys.readouterr().err)
    return found


def test_quiet_runs_show_notes_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with Display() as display:
        assert shown(display, capsys, [0.0], [0.0, 1e9]) == ["", ""]
        display.note("[bold] is no markup")
    assert capsys.readouterr().err == "[bold] is no markup\n"


def test_a_line_is_said_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    clock = [100.0]
    with Lines(lambda: clock[0]) as display:
        times = [100 + PLAIN_EVERY * part for part in (0.0, 0.5, 1.0, 1.5, 2.5)]
        assert shown(display, capsys, clock, times) == ["", "", "a line\n", "", "a line\n"]


def test_a_picture_is_redrawn_below_the_notes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    clock = [0.0]
    with Redrawn(lambda: clock[0]) as display:
        capsys.readouterr()
        times = [REDRAW_EVERY * part for part in (0.0, 0.5, 1.0)]
        assert ["a picture" in told for told in shown(display, capsys, clock, times)] == [True, False, True]
        display.note("[bold] is no markup")
        told = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
        assert told.index("[bold] is no markup") < told.index("a picture")
