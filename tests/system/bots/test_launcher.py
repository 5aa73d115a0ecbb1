"""Whose fault it is that a process cannot be made; and how one is ended."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from seats import PROGRAMS, prepared

from referee.bots.cache.prepare import Prepared
from referee.bots.process import launcher
from referee.bots.process.launcher import Child, PlainLauncher
from referee.bots.process.limits import Limits
from referee.bots.process.process import BotProcess
from referee.bots.process.system import Reaper
from referee.bots.seat.player import BotPlayer
from referee.errors import BotFault, Verdict, VoidGame
from referee.play import SystemClock


def start(bot: Prepared, scratch: Path) -> None:
    player = BotPlayer(bot, launcher=PlainLauncher(scratch), clock=SystemClock(), limits=Limits())
    try:
        player.start()
    finally:
        player.kill()


@pytest.fixture(params=["with the tool", "without it"])
def _tied(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if request.param == "without it":
        monkeypatch.setattr(launcher, "_tied_to_parent", tuple)
    return


def test_a_run_folder_that_is_gone_is_not_the_bots_fault(tmp_path: Path) -> None:
    with pytest.raises(VoidGame, match="no process could be made for subject: No such file"):
        start(prepared(sys.executable, str(PROGRAMS / "who.py")), tmp_path / "gone")


@pytest.mark.usefixtures("_tied")
def test_a_copy_that_is_gone_is_not_the_bots_fault(tmp_path: Path) -> None:
    with pytest.raises(VoidGame, match="no process could be made"):
        start(prepared(sys.executable, "bot.py", folder=tmp_path / "gone"), tmp_path)
    with pytest.raises(VoidGame, match="its copy is no longer whole"):
        start(prepared("./bot", folder=tmp_path), tmp_path)


@pytest.mark.usefixtures("_tied")
def test_a_missing_interpreter_is_a_failed_start_in_words(tmp_path: Path) -> None:
    (tmp_path / "bot").write_text("#!/no/such/interpreter\n")
    (tmp_path / "bot").chmod(0o755)
    with pytest.raises(BotFault, match=r"could not be started: No such file.*the interpreter named") as caught:
        start(prepared("./bot", folder=tmp_path), tmp_path)
    assert caught.value.verdict is Verdict.START_FAILED


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.EIO])
def test_an_execution_that_the_machine_refused_is_void(number: int) -> None:
    assert isinstance(launcher.cannot_start(prepared("./bot"), number), VoidGame)


def test_a_tool_that_lacks_the_option_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "setpriv"
    tool.write_text("#!/bin/sh\necho unrecognized option >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    launcher._tied_to_parent.cache_clear()
    try:
        start(prepared(sys.executable, str(PROGRAMS / "who.py")), tmp_path)
    finally:
        launcher._tied_to_parent.cache_clear()


def launch(mode: str, scratch: Path, reaper: Reaper) -> tuple[Child, BotProcess]:
    bot = prepared(sys.executable, str(PROGRAMS / "bad.py"), mode)
    child = PlainLauncher(scratch, reaper).launch(bot)
    return child, BotProcess(child, SystemClock())


def test_a_process_keeps_its_number_until_its_group_was_ended(tmp_path: Path, reaper: Reaper) -> None:
    child, process = launch("exits_before_ready", tmp_path, reaper)
    assert process.settle(5_000_000_000) == child.status() == 3
    assert Path(f"/proc/{child.pid}").exists()
    assert child.end() == child.end() == 3
    assert not Path(f"/proc/{child.pid}").exists()


def test_a_bot_that_is_traced_by_its_helper_is_ended_and_reaped(tmp_path: Path, reaper: Reaper) -> None:
    child, process = launch("is_traced", tmp_path, reaper)
    process.exchange(b"{}\n", time.monotonic_ns() + 5_000_000_000)
    process.send(b'{"id": 1}\n')
    while b"traced: b'0" not in process.stderr.text().encode():
        process._turn(5000)
    began = time.monotonic()
    child.end()
    assert not Path(f"/proc/{child.pid}").exists()
    assert time.monotonic() - began < 1
