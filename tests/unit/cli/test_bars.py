"""Intervals as text: everything on one axis, in its place, in characters that the terminal has."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.cli.output.bars import ASCII, UNICODE, Bars, Charset, charset_of
from referee.site.axis import Axis

SCORES = st.floats(0, 1)


def test_an_interval_is_drawn_to_scale_with_the_middle_marked() -> None:
    bars = Bars(Axis(0.0, 1.0), 20)
    assert bars.head() == "0.00            1.00"
    assert bars.draw(0.7, 0.6, 0.85, UNICODE) == "          ┊ ├─●──┤  "
    assert bars.draw(0.7, 0.6, 0.85, ASCII) == "          : |-o--|  "
    assert bars.draw(0.5, 0.4, 0.6, UNICODE) == "        ├─●─┤       "
    assert bars.draw(0.3, None, None, UNICODE) == "      ●   ┊         "
    assert bars.draw(0.31, 0.30, 0.32, UNICODE) == "      ●   ┊         "
    assert bars.draw(1.0, 0.9, 1.0, UNICODE) == "          ┊       ├●"


def test_an_axis_ends_at_round_numbers_around_all_that_is_known() -> None:
    assert Axis.around([0.31, 0.45, None, 0.58]) == Axis(0.3, 0.6)
    assert Axis.around([0.3, 0.6]) == Axis(0.3, 0.6)
    assert Axis.around([1.0, 1.0]) == Axis(1.0, 1.05)
    assert Axis.around([None]) == Axis(0.0, 1.0)


@given(st.lists(st.tuples(SCORES, SCORES, SCORES).map(sorted), min_size=1), st.sampled_from([UNICODE, ASCII]))
def test_drawings_are_as_wide_as_their_axis_and_keep_their_order(rows: list[list[float]], charset: Charset) -> None:
    bars = Bars(Axis.around(end for row in rows for end in row), 22)
    drawn = [bars.draw(value, low, high, charset) for low, value, high in rows]
    assert {len(line) for line in drawn} == {22}
    assert {line.count(charset.value) for line in drawn} == {1}
    places = sorted((value, line.index(charset.value)) for (_, value, _), line in zip(rows, drawn, strict=True))
    assert [at for _, at in places] == sorted(at for _, at in places)


@pytest.mark.parametrize(
    ("encoding", "variables", "expected"),
    [
        ("utf-8", {}, UNICODE),
        ("utf-8", {"LANG": "en_US.UTF-8"}, UNICODE),
        ("utf-8", {"LANG": "en_US.UTF-8", "LC_ALL": "C"}, ASCII),
        ("utf-8", {"LC_CTYPE": "POSIX", "LANG": "de_DE.UTF-8"}, ASCII),
        ("utf-8", {"LANG": "de_DE"}, ASCII),
        ("latin-1", {"LANG": "en_US.UTF-8"}, ASCII),
        ("ascii", {}, ASCII),
    ],
)
def test_plain_characters_are_for_terminals_that_have_no_others(
    encoding: str, variables: dict[str, str], expected: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert charset_of(io.TextIOWrapper(io.BytesIO(), encoding=encoding)) == expected


def test_words_for_plain_terminals_are_plain() -> None:
    assert ASCII.words("−3 ± 2, 1–4 × …") == "-3 +/- 2, 1-4 x ..."
    assert UNICODE.words("−3 ± 2") == "−3 ± 2"
