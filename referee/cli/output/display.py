"""How a run is shown on stderr: redrawn in place on a terminal, in a line now and then elsewhere, or not at all."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.segment import Segment
from rich.text import Text

from protocol.text import printable
from referee.cli.streams import unescaped

PLAIN_EVERY = 10.0
"""Seconds between two lines where stderr is no terminal."""
REDRAW_EVERY = 0.25


class SafeConsole(Console):
    """A rich console whose texts are escaped, so that all that a terminal obeys is its own."""

    def __init__(self, *, stderr: bool = False, **options: Any) -> None:
        super().__init__(file=unescaped(sys.stderr if stderr else sys.stdout), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """See `Console`."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(printable(segment.text, "\n"), segment.style)


class Display:
    """Shows notes and nothing else; a context, which ends with the run."""

    def note(self, text: str) -> None:
        """Say something that stays."""
        click.echo(text, err=True)

    def tick(self, line: Callable[[], str], picture: Callable[[], RenderableType]) -> None:
        """Show how the run stands, as a line or as a picture, if that is due."""

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Lines(Display):
    """A line every few seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said = clock()

    def tick(self, line: Callable[[], str], picture: Callable[[], RenderableType]) -> None:
        """See `Display`."""
        del picture
        now = self._clock()
        if now - self._said >= PLAIN_EVERY:
            self._said = now
            self.note(line())


class Redrawn(Display):
    """A picture that is redrawn in place, below the notes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._console = SafeConsole(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._drawn = -math.inf

    def note(self, text: str) -> None:
        """See `Display`."""
        self._console.print(Text(printable(text)))

    def tick(self, line: Callable[[], str], picture: Callable[[], RenderableType]) -> None:
        """See `Display`."""
        del line
        now = self._clock()
        if now - self._drawn >= REDRAW_EVERY:
            self._drawn = now
            self._live.update(picture(), refresh=True)

    def __enter__(self) -> Redrawn:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()


def display(*, quiet: bool) -> Display:
    """What suits this stderr."""
    if quiet:
        return Display()
    return Redrawn() if SafeConsole(stderr=True).is_terminal else Lines()
