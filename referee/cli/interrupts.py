"""Ctrl-C, SIGTERM and a terminal that goes away: a run ends tidily; a round first finishes the games in progress."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from math import inf
from types import FrameType
from typing import Any

import click

INTERRUPTED = 130
_SAME = 1.0
"""Seconds. A second interruption within this time is the same one, which came from the guard and directly."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_interrupted_at = -inf
Handler = Callable[[int, FrameType | None], Any]


@contextlib.contextmanager
def _handled(handler: Handler) -> Iterator[None]:
    """Inside, `handler` gets the signals, except those that are ignored, as SIGHUP is under nohup."""
    if threading.current_thread() is not threading.main_thread():  # only that thread can set a handler
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    ours = {number: old for number, old in before.items() if old is not signal.SIG_IGN}
    try:
        for number in ours:
            signal.signal(number, handler)
        yield
    finally:
        for number, old in ours.items():
            signal.signal(number, old)


def interrupted_by_signals() -> contextlib.AbstractContextManager[None]:
    """Inside, each of the signals raises KeyboardInterrupt."""
    return _handled(_interrupt)


def quit_on_signals() -> contextlib.AbstractContextManager[None]:
    """Inside, each of the signals ends this process without a word; for times at which there is nothing to tidy up."""
    return _handled(quit_at_once)


def quit_at_once(*_: object) -> None:
    """End this process as interrupted."""
    os._exit(INTERRUPTED)


def _interrupt(*_: object) -> None:
    global _interrupted_at
    before, _interrupted_at = _interrupted_at, time.monotonic()
    if _interrupted_at - before > _SAME:
        raise KeyboardInterrupt


@contextlib.contextmanager
def interrupts_not_ignored() -> Iterator[None]:
    """Inside, a KeyboardInterrupt that is raised in a destructor or a callback is raised again after it.

    Python would print its traceback and go on.
    """

    def hook(found: sys.UnraisableHookArgs) -> None:
        global _interrupted_at
        if found.exc_type is KeyboardInterrupt:
            _interrupted_at = -inf
            signal.raise_signal(signal.SIGINT)
        else:
            before(found)

    before, sys.unraisablehook = sys.unraisablehook, hook
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextlib.contextmanager
def stop_on_signals() -> Iterator[Callable[[], bool]]:
    """Yield a function that is true after the first signal; the second one raises KeyboardInterrupt.

    A terminal that goes away never counts as the second: a shell and the system may both report it.
    """
    asked = said = False

    def heard(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        del frame
        if asked and number != signal.SIGHUP:
            raise KeyboardInterrupt
        asked = True

    def stop_wanted() -> bool:
        nonlocal said
        if asked and not said:  # said here, since a handler may come in the middle of another write
            said = True
            click.echo("stopping when the games in hand are over; once more to stop at once", err=True)
        return asked

    with _handled(heard):
        yield stop_wanted
