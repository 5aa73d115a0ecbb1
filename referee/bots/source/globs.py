"""Many file name patterns matched at once, in time linear in the name, whatever the patterns are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

_LAST = 0x110000
_Ranges = list[tuple[int, int]]
"""Code points, as half-open ranges."""


class Globs:
    """Patterns as in `fnmatch`: `*` matches any characters, `?` one, `[ab]` and `[!a-f]` one of a set.

    The patterns are one automaton without backtracking. Bit i of a state is set if everything before the i-th
    one-character token has matched; a token after a `*` keeps its bit. A pattern's last bit means that it has matched.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        tokens: list[_Ranges] = []
        self.start = self._final = self._stays = 0
        self._owner: list[int] = []
        for number, pattern in enumerate(patterns):
            self.start |= 1 << len(tokens)
            for ranges in _tokens(pattern):
                if ranges is None:
                    self._stays |= 1 << len(tokens)
                else:
                    tokens.append(ranges)
            self._final |= 1 << len(tokens)
            tokens.append([])
            self._owner += [number] * (len(tokens) - len(self._owner))
        self._bounds, self._accepting = _table(tokens)

    def advance(self, state: int, text: str) -> int:
        """Return the state after `text`, from `state` before it; the first one is `start`."""
        for character in text if self.start else "":
            matching = self._accepting[bisect_right(self._bounds, ord(character)) - 1]
            state = ((state & matching) << 1) | (state & self._stays)
        return state

    def last_match(self, state: int) -> int:
        """Return the index of the last pattern that matches what led to `state`, -1 if none does."""
        matched = state & self._final
        return self._owner[matched.bit_length() - 1] if matched else -1


def _table(tokens: Sequence[_Ranges]) -> tuple[list[int], list[int]]:
    """Return the code points at which the set of accepting tokens changes, and the set from each one on, as bits."""
    changes: dict[int, int] = {0: 0}
    for number, ranges in enumerate(tokens):
        for bound in (bound for pair in ranges for bound in pair):
            changes[bound] = changes.get(bound, 0) ^ (1 << number)
    accepting, now = [], 0
    for bound in sorted(changes):
        now ^= changes[bound]
        accepting.append(now)
    return sorted(changes), accepting


def _tokens(pattern: str) -> Iterator[_Ranges | None]:
    """Yield the characters that each token accepts; None for `*`."""
    at = 0
    while at < len(pattern):
        character = pattern[at]
        end = _end_of_set(pattern, at) if character == "[" else -1
        if character == "*":
            yield None
        elif character == "?":
            yield [(0, _LAST)]
        elif end > 0:
            yield _set(pattern[at + 1 : end])
            at = end
        else:
            yield [(ord(character), ord(character) + 1)]
        at += 1


def _end_of_set(pattern: str, at: int) -> int:
    """Return where the set that begins at `at` is closed, -1 if nowhere: then its bracket is a plain character."""
    first = at + 2 if pattern.startswith("!", at + 1) else at + 1
    return pattern.find("]", first + 1)


def _set(inside: str) -> _Ranges:
    """Return what `a-f_` or `!a-f_` accepts; a range the wrong way round accepts nothing."""
    negated = inside.startswith("!")
    left = inside[1:] if negated else inside
    ranges: _Ranges = []
    while left:
        if len(left) > 2 and left[1] == "-":
            ranges.append((ord(left[0]), ord(left[2]) + 1))
            left = left[3:]
        else:
            ranges.append((ord(left[0]), ord(left[0]) + 1))
            left = left[1:]
    joined = _joined(ranges)
    return _others(joined) if negated else joined


def _joined(ranges: _Ranges) -> _Ranges:
    """Return the ranges in order, those that overlap or touch joined."""
    joined: _Ranges = []
    for low, high in sorted(pair for pair in ranges if pair[0] < pair[1]):
        if joined and low <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    return joined


def _others(ranges: _Ranges) -> _Ranges:
    bounds = [0, *(bound for pair in ranges for bound in pair), _LAST]
    return [(low, high) for low, high in zip(bounds[::2], bounds[1::2], strict=True) if low < high]
