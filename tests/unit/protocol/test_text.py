"""What a bot says, made safe to show."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.text import readable


@pytest.mark.parametrize("text", ["lay 6C", "", "naïve ♣ 牌 😀", 'don\'t \\ "quote"'])
def test_plain_text_is_left_alone(text: str) -> None:
    assert readable(text, 80) == text
    assert readable(text.encode(), 80) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\r\t", r"a\nb\r\t"),
        ("\x1b[2J\x07\x7f\0", r"\x1b[2J\x07\x7f\x00"),
        ("\x9b31m", r"\u009b31m"),
        ("a\u202eb\u2066c\u200f", r"a\u202eb\u2066c\u200f"),
        ("a\u200bb\u200dc\ufeff\u00ad\u2060", r"a\u200bb\u200dc\ufeff\u00ad\u2060"),
        ("\u2028\u2029\u00a0\u3000", r"\u2028\u2029\u00a0\u3000"),
        ("שלום", r"\u05e9\u05dc\u05d5\u05dd"),
        ("e\u0301\u20dd\ufe0f", r"e\u0301\u20dd\ufe0f"),
        ("\u3164\u2800\u115f", r"\u3164\u2800\u115f"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_could_harm_or_mislead_is_escaped(text: str, shown: str) -> None:
    assert readable(text, 80) == shown


def test_bytes_that_are_not_utf8_are_escaped() -> None:
    assert readable(b"ok \xff\xc3", 80) == r"ok \xff\xc3"


def test_a_cut_is_shown() -> None:
    assert readable("abcdef", 6) == "abcdef"
    assert readable("abcdefg", 6) == "abcde…"
    assert readable(b"abcdefg", 6) == "abcde…"
    assert readable("abc", 1) == "…"
    assert readable("abc", 0) == ""


def test_a_character_cut_through_by_the_limit_does_not_show_as_bad_bytes() -> None:
    assert readable("😀".encode() * 100, 4) == "😀😀😀…"


@settings(deadline=None)
@given(st.text() | st.binary(), st.integers(0, 90))
def test_everything_becomes_safe_and_short(said: str | bytes, limit: int) -> None:
    shown = readable(said, limit)
    assert len(shown) <= limit
    assert shown.isprintable()
    assert not {unicodedata.bidirectional(one) for one in shown} & {"R", "AL", "AN", "RLE", "RLO", "RLI", "FSI"}
