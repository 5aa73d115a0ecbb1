"""Ctrl-C, SIGTERM and a terminal that goes away: a run ends tidily; a round first finishes the games in hand."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

import click

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_DEADLY = (signal.SIGTERM, signal.SIGHUP)
"""What would end a process at once, its bots and folders left behind."""


@contextlib.contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP raise KeyboardInterrupt as Ctrl-C does; not one that is ignored, as under nohup."""
    if threading.current_thread() is not threading.main_thread():  # only it may say what a signal does
        yield
        return
    before = {number: signal.getsignal(number) for number in _DEADLY}
    ours = [number for number, handler in before.items() if handler is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


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
