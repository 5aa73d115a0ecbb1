"""Text files that people write by hand, such as `bot.toml`, `.botignore` and tournament files."""

from __future__ import annotations

import codecs
import re
import tomllib
from typing import Any

from referee.errors import InputError

MOST_PARTS = 16
"""Parts of a dotted key: tomllib takes cubic time in their number."""

_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)  # UTF-32-LE begins as UTF-16-LE does
_TOKEN = re.compile(
    r'''
      """ (?: [^"\\] | \\. | "{1,2}(?!") )*+ (?: "{3,5} )?+     # A string that is not closed ends with the text,
    | \'\'\' (?: [^'] | '{1,2}(?!') )*+ (?: '{3,5} )?+          # so no part of the text is searched twice.
    | " (?: [^"\\\n] | \\. )*+ "?+
    | ' [^'\n]*+ '?+
    | \# [^\n]*+                                                # A string may be a part of a key, so "s" replaces it.
    ''',
    re.VERBOSE | re.DOTALL,
)
_BETWEEN_KEYS = re.compile(r"[\n,=\[\]{}]")


def text_of(data: bytes, name: str) -> str:
    """Return the text of a file that a person wrote: UTF-8, with or without a byte order mark, lines ended by LF.

    CRLF becomes LF. Raises InputError, which names the file `name`, for any other encoding.
    """
    if data.startswith(_WIDE) or (0 in data[:2] and len(data) > 1):
        raise InputError(f"{name} is saved as UTF-16 or UTF-32: save it as UTF-8")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name} is not valid UTF-8 (line {line}): save it as UTF-8") from None


def parse_toml(text: str) -> dict[str, Any]:
    """Return the table in `text`, in time linear in its length.

    Raises ValueError where it is not valid TOML, RecursionError where it is nested too deeply.
    """
    if any(part.count(".") >= MOST_PARTS for part in _BETWEEN_KEYS.split(_TOKEN.sub("s", text))):
        raise ValueError(f"a key has more than {MOST_PARTS} parts")
    return tomllib.loads(text)
