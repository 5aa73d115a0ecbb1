"""SECURITY.md promises nothing without a test: what it names exists."""

from __future__ import annotations

import re

import pytest
from bots.hostile import catalogue
from command_line import ROOT

PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
PROMISES, _, CLOSED = PAGE.partition("## Found by attack and closed")
ROWS = [line for line in PAGE.splitlines() if line.count("|") == 8 and not re.match(r"\| asset|\|---", line)]
TESTS = {
    name for path in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)", path.read_text())
}


def test_every_promise_names_what_shows_it() -> None:
    assert len(ROWS) > 20
    for row in ROWS:
        *marks, shown = [cell.strip() for cell in row.split("|")[3:8]]
        assert set(marks) <= {"✓", "–"}, row
        assert "`" in shown or shown.startswith("the same"), row


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:tests|benchmarks)/[\w/.]+)`", PAGE))))
def test_a_file_that_is_named_is_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(test_\w+)`", PAGE))))
def test_a_test_that_is_named_is_there(name: str) -> None:
    assert name in TESTS


@pytest.mark.parametrize("clause", sorted(set(re.findall(r'"([^"]+)"', PROMISES))))
def test_a_clause_of_the_catalogue_that_is_quoted_is_one(clause: str) -> None:
    assert clause in {entry.clause for entry in catalogue.CATALOGUE}


@pytest.mark.parametrize("name", sorted(set(re.findall(r'"([^"]+)"', CLOSED))))
def test_an_entry_of_the_catalogue_that_is_quoted_is_one(name: str) -> None:
    assert name in {entry.name for entry in catalogue.CATALOGUE}


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((docs/[^)#]+)(?:#[^)]*)?\)", PAGE))))
def test_a_page_that_is_linked_is_there(link: str) -> None:
    assert (ROOT / link).exists()
