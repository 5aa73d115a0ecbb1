"""Ctrl-C and SIGTERM: once to stop when the games in hand are done, twice to stop at once."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType

import click

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stop_on_signals() -> Iterator[Callable[[], bool]]:
    """Inside, the first signal is only remembered: the function given says so. The second raises KeyboardInterrupt."""
    asked = said = False

    def heard(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        del number, frame
        if asked:
            raise KeyboardInterrupt
        asked = True

    def stop_wanted() -> bool:
        nonlocal said
        if asked and not said:  # said here, since a handler may come in the middle of another write
            said = True
            click.echo("stopping when the games in hand are over; once more to stop at once", err=True)
        return asked

    before = {number: signal.signal(number, heard) for number in _SIGNALS}
    try:
        yield stop_wanted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
