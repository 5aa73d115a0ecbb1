"""Makes what a bot says safe to show."""

from __future__ import annotations

from unicodedata import bidirectional, category

_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_INVISIBLE = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that show nothing: the Hangul fillers and the blank Braille pattern."""


def readable(data: bytes | str, limit: int) -> str:
    """`data` as one line of at most `limit` characters that is safe in a terminal; cut, it ends with `…`.

    Escaped, as in `\\x1b`, `\\u202e` or `\\U000e0001`, are control characters, line ends, all that is invisible or of
    zero width, combining marks, right-to-left letters and everything else that changes the direction of its
    neighbours, and bytes that are not UTF-8. Backslashes stay as they are, so the text is for eyes, not for parsing.
    """
    if isinstance(data, bytes):
        data = data[: 4 * limit + 4].decode("utf-8", "backslashreplace")
    shown = "".join([_escaped(character) for character in data[: limit + 1]])
    return shown if len(shown) <= limit else shown[: max(limit - 1, 0)] + "…"[:limit]


def printable(text: str, kept: str = "") -> str:
    """`text` with an escape for each character that is not printable and not one of `kept`.

    The escapes are those of `readable` for control characters below a blank, and those of JSON for the others: a JSON
    document stays the same document.
    """
    if text.isprintable():
        return text
    return "".join([one if one.isprintable() or one in kept else _escape(one) for one in text])


def _escaped(character: str) -> str:
    if " " <= character <= "~" or _is_plain(character):
        return character
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape(character: str) -> str:
    if character < " ":
        return _escaped(character)
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join([f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2)])


def _is_plain(character: str) -> bool:
    return (
        character.isprintable()
        and category(character) not in ("Mn", "Me")
        and bidirectional(character) not in ("R", "AL", "AN")
        and character not in _INVISIBLE
    )
