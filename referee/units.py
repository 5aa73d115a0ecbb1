"""Numbers with their nouns."""

from __future__ import annotations


def many(count: int, what: str) -> str:
    """Return a number of things, such as `1 game` or `12 games`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def thousands(count: int, what: str) -> str:
    """Return the same with commas in long numbers, such as `12,000 games`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
