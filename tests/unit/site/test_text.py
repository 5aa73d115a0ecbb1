"""Text of others: what is unseen goes, what is markup is escaped, and what is a formula is defused."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from referee.site.text import cell, markdown, plain


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("Python 3.11", "Python 3.11"),
        ("  two\n\nlines\tand\u2028more ", "two lines and more"),
        ("\x1b[31mred\x1b[0m\x07", "[31mred[0m"),
        ("evil\u202egnp.exe", "evilgnp.exe"),
        ("a\u200bd\u200cm\u200di\ufeffn\u00ad", "admin"),
        ("\u2066isolated\u2069", "isolated"),
        ("\U000e0041tagged", "tagged"),
        ("a\u3164\u2800b", "ab"),
        ("\ud800lone", "lone"),
        ("עברית русский 中文 é", "עברית русский 中文 é"),
        ("e\u0301", "é"),
        ("Z" + "\u0335" * 50, "Z\u0335\u0335"),
        ("", ""),
        ("\u200b \u200b", ""),
    ],
)
def test_only_what_can_be_seen_stays(given_text: str, shown: str) -> None:
    assert plain(given_text) == shown


def test_a_long_text_is_cut_with_an_ellipsis() -> None:
    assert plain("x" * 500, limit=10) == "x" * 9 + "…"
    assert plain("x" * 10, limit=10) == "x" * 10


@settings(deadline=None)
@given(st.text(), st.integers(1, 50))
def test_plain_text_is_one_short_line_and_stays_as_it_is(text: str, limit: int) -> None:
    once = plain(text, limit=limit)
    assert len(once) <= limit
    assert "\n" not in once
    assert once == once.strip()
    assert all(unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for char in once)
    assert once.encode().decode() == once
    assert plain(once, limit=limit) == once


HOSTILE = [
    "<script>alert(1)</script>",
    "[click](https://example.org)",
    "![image](https://example.org/x.png)",
    "a | b | c",
    "back\\|slash\\",
    "`code` and ``more`` `",
    "*bold* _soft_ ~~gone~~ **x**",
    "&lt;b&gt; &amp;",
    "# head",
    "- item",
    "+ item",
    "12. item",
    "> quote",
    "=====",
    "---",
    "<https://example.org>",
    "http://example.org www.example.org a@example.org",
]


def shown_as(source: str) -> str:
    """The text of a Markdown page as a reader sees it; markup, links and HTML in it fail."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(source)
    inlines = [token for token in tokens if token.type == "inline"]
    for token in tokens:
        assert token.type in {"inline", "bullet_list_open", "list_item_open", "paragraph_open"} or token.nesting < 1
        assert token.type not in {"html_block", "fence", "code_block", "hr"}
    assert len(inlines) == 1
    children = inlines[0].children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    return "".join(child.content for child in children)


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_shows_text_as_it_is(text: str) -> None:
    assert shown_as(f"- {markdown(text)}") == text


@settings(deadline=None)
@given(st.text(st.sampled_from("ab1 <>[]()!`*_~|\\&#-+=.:/;x@{}\"'"), min_size=1, max_size=30))
def test_markdown_never_becomes_markup(text: str) -> None:
    text = plain(text)
    assert not text or shown_as(f"- {markdown(text)}") == text


@pytest.mark.parametrize("text", [*HOSTILE, "a\\", "\\|", "|"])
def test_a_markdown_cell_stays_one_cell(text: str) -> None:
    page = f"| a | b |\n| --- | --- |\n| {markdown(text)} | end |\n"
    tokens = MarkdownIt("commonmark").enable("table").parse(page)
    cells = [token.content for token in tokens if token.type == "inline"]
    assert len(cells) == 4
    assert cells[3] == "end"


def test_markdown_leaves_no_address_for_eager_readers_to_link() -> None:
    escaped = markdown("http://a.example www.b.example WWW.c.example d@e.example")
    assert "http://" not in escaped
    assert "www." not in escaped.lower()
    assert "d@" not in escaped


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("x")', "-"])
def test_a_formula_is_defused(text: str) -> None:
    assert cell(text) == "'" + text


@pytest.mark.parametrize("text", ["", "greedy", "a=b", "Ann O'Nym", "3-2", "\u2212 1"])
def test_other_cells_stay_as_they_are(text: str) -> None:
    assert cell(text) == text
