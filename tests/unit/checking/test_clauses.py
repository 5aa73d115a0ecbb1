"""The lines of the contract that a cross names stand in the contract, behind their anchors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import protocol
from referee.checking.report.clauses import CLAUSES, clause_of
from referee.checking.report.report import Clause
from referee.errors import BotFault, Verdict

README = (Path(protocol.__file__).parent / "README.md").read_text("utf-8")


def behind(anchor: str) -> str:
    """What stands behind an anchor, to the next one or the next heading, on one line."""
    places = {
        **{found[1]: found.end() for found in re.finditer(r'<a id="(.*?)"></a>', README)},
        **{slug(found[1]): found.end() for found in re.finditer(r"^#+ (.*)$", README, re.MULTILINE)},
    }
    rest = README[places[anchor] :]
    return " ".join(re.split(r"<a id=|^#", rest, maxsplit=1, flags=re.MULTILINE)[0].split())


def slug(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.name)
def test_a_clause_stands_in_the_contract_behind_its_anchor(clause: Clause) -> None:
    said = behind(clause.name.lower())
    if re.fullmatch(r"C\d+", clause.name):
        assert said.startswith(f"**{clause.name}** ")
    assert clause.text.split(":")[0] in said


def test_the_names_of_the_contracts_lines_are_in_order() -> None:
    names = re.findall(r'<a id="c(\d+)"></a>\*\*C(\d+)\*\* ', README)
    assert all(anchor == name for anchor, name in names)
    assert sorted(int(name) for name, _ in names) == list(range(1, len(names) + 1))


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_a_clause(verdict: Verdict) -> None:
    assert clause_of(BotFault(verdict, "")) in CLAUSES


@pytest.mark.parametrize(
    "detail",
    [
        """the answer '{"id":11}' has no `action`; an answer looks like {"id": 7, "action": "keep"}""",
        "`action` is {}, and must be a string, one of the question's `legal`",
    ],
)
def test_an_answer_without_an_action_broke_the_line_on_answers(detail: str) -> None:
    assert clause_of(BotFault(Verdict.PROTOCOL_ERROR, detail)).name == "C2"


def test_a_slow_bot_is_not_told_to_flush() -> None:
    fault = BotFault(Verdict.TIMEOUT, "no answer within 1000 ms: it is still computing: likely it is too slow")
    assert "flush" not in clause_of(fault).text
