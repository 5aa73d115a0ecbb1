"""Times and sizes as people write them, so that the options which read them read the same again."""

from __future__ import annotations

from fractions import Fraction

SIZES = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
"""Units of memory and disk, in bytes."""
TIMES = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
"""Units of time, in ms."""


def size_in_words(size: int) -> str:
    """Bytes in the largest unit that they are a whole number of, such as `512M`."""
    unit = next(unit for unit in ("G", "M", "K", "B") if size % SIZES[unit] == 0)
    return f"{size // SIZES[unit]}{unit}"


def time_in_words(ms: int | None) -> str:
    """Milliseconds in the largest unit that fits, such as `1.5s`, with nine digits before and behind the point at most.

    None, which means no limit, is `none`. Raises ValueError if that many digits are not enough.
    """
    if ms is None:
        return "none"
    counts = {unit: Fraction(ms, size) for unit, size in reversed(TIMES.items())}
    short = {unit: count for unit, count in counts.items() if count < 10**9}
    for unit, count in short.items():
        if count.denominator == 1:
            return f"{count}{unit}"
    for unit, count in short.items():
        whole, rest = divmod(count * 10**9, 10**9)
        if rest.denominator == 1:
            return f"{whole}.{int(rest):09}".rstrip("0") + unit
    raise ValueError(f"{ms} ms cannot be written as a time")
