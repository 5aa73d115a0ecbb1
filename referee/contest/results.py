"""Ratings of a set of records, from wherever they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from referee.errors import InputError, RefereeError
from referee.ratings.standings import Standings, rate
from referee.record import GameRecord


def rate_records(records: Iterable[GameRecord]) -> Standings:
    """Return the standings of a set of games, in whatever order they come.

    All games count. Interval widths come from whole deals, so each deal should be there in all of its rotations.
    """
    return rate(record.result for record in records)


def read_records(path: str | Path) -> Iterator[GameRecord]:
    """Yield the records in a file that `referee export` wrote, one per line.

    Raises InputError if the file cannot be read, or if a line is not a record.
    """
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, 1):
                yield _record(line, f"{path}, line {number}")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _record(line: bytes, where: str) -> GameRecord:
    try:
        return GameRecord.from_json(line)
    except RefereeError as error:
        raise InputError(f"{where}: {error}") from None
