"""A seat for a program under test, and a workshop for bots that are to be built."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bots.workshops import Make, bots_in, builder_in
from seats import PROGRAMS, Seat, prepared

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import PlainLauncher
from referee.bots.process.limits import Limits, Reuse
from referee.bots.process.system import Reaper
from referee.bots.seat.player import BotPlayer
from referee.play import Clock, SystemClock


@pytest.fixture(scope="session")
def reaper() -> Reaper:
    """One for the whole process, as in a worker."""
    return Reaper()


@pytest.fixture
def seat(tmp_path: Path, reaper: Reaper) -> Iterator[Callable[..., Seat]]:
    """Make a seat for `programs/bad.py MODE`, or for another program with `argv`."""
    seats: list[Seat] = []

    def make(
        mode: str = "",
        *,
        argv: tuple[str, ...] = (),
        limits: Limits | None = None,
        reuse: Reuse = Reuse.MANY_GAMES,
        clock: Clock | None = None,
    ) -> Seat:
        bot = prepared(*(argv or (sys.executable, str(PROGRAMS / "bad.py"), mode)))
        player = BotPlayer(
            bot,
            launcher=PlainLauncher(tmp_path, reaper),
            clock=clock or SystemClock(),
            limits=limits or Limits(move_ms=300),
            reuse=reuse,
        )
        seats.append(Seat(player))
        return seats[-1]

    yield make
    for one in seats:
        one.player.kill()


@pytest.fixture
def bot(public_path: Path) -> Make:
    """See `bots_in`."""
    return bots_in(public_path)


@pytest.fixture
def build(public_path: Path, reaper: Reaper) -> Callable[..., Prepared]:
    """See `builder_in`."""
    return builder_in(public_path, reaper)
