"""How far long work is, on stderr: one line that is written anew on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time

import click

from protocol.text import printable
from referee.cli.streams import unescaped

_EVERY = 10.0
_REDRAWN_EVERY = 0.25


class Progress:
    """A context around the work; leaving it tidies the terminal."""

    def __init__(self, *, quiet: bool, unit: str = "games") -> None:
        self._quiet = quiet
        self._unit = unit
        self._live = sys.stderr.isatty()
        self._width = 0
        self._said = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._rewrite("")

    def tell(self, what: str, done: int, total: int) -> None:
        """Say it, if the last word was some time ago."""
        now = time.monotonic()
        if self._quiet or now - self._said < (_REDRAWN_EVERY if self._live else _EVERY):
            return
        self._said = now
        line = f"{what}: {done:,} of {total:,} {self._unit}"
        if self._live:
            self._rewrite(line)
        else:
            click.echo(line, err=True)

    def _rewrite(self, line: str) -> None:
        if self._live and (line or self._width):
            line = printable(line)
            click.echo(f"\r{line.ljust(self._width)}\r{line}", nl=False, file=unescaped(sys.stderr))
            self._width = len(line)
