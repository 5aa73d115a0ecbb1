"""What pages name of the repository is there: files, folders, tests; and numbers that follow from others do."""

from __future__ import annotations

import re
from functools import cache
from math import comb

import pytest
from command_line import ROOT
from pages import PAGES, spans

ROOMS = "referee|protocol|tests|docs|scripts|benchmarks|example_bots"


@cache
def names_of_tests() -> frozenset[str]:
    return frozenset(
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    )


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_are_there(page: str) -> None:
    for span in spans(page):
        if re.fullmatch(rf"({ROOMS})/[\w./-]+", span) and not re.search("[A-Z]{4}", span):
            assert (ROOT / span).exists(), f"{page} names {span}"
        elif re.fullmatch(r"test_\w+", span):
            assert span in names_of_tests(), f"{page} names {span}"


def test_the_numbers_of_the_class_follow_from_each_other() -> None:
    page = PAGES["running-a-contest.md"]
    rows = re.findall(
        r"^\| \.(\d+) \| (\d+) \| ([\d,]+) \| (\d+) \| (\d+) minutes \| (\d+) hours? \|", page, re.MULTILINE
    )
    assert [row[0] for row in rows] == ["1", "05", "03", "02"]
    for _, deals, games, disk, minutes, hours in rows:
        count = comb(60, 2) * int(deals) * 2
        assert games == f"{count:,}"
        assert abs(count * 950 / 1e6 - int(disk)) <= 1
        assert abs(count * 0.012 / 4 / 60 - int(minutes)) <= 1
        assert abs(count * 0.3 / 4 / 3600 - int(hours)) <= 1
    assert f"{comb(60, 4):,} line-ups" in page and f"{comb(60, 2):,} pairs" in page
