"""Settings as a person asks for them: the command reads what is written, and each difference is named once."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import pytest

from referee.bots.process.limits import MIB, Box, Limits, Reuse
from referee.bots.tiers import Tier
from referee.cli.commands.tournament import command
from referee.rules import DEFAULT_RULES, DiscardRule, OddCard, Rules, Scoring
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.season_settings import asked_by, differences, seed_asked

USUAL = Conditions(DEFAULT_RULES, Limits())
OTHER = [
    (replace(USUAL, rules=Rules(scoring=Scoring.WINNER)), "--rule scoring=places, not winner"),
    (replace(USUAL, rules=Rules(stall_limit=7)), f"--rule stall_limit={DEFAULT_RULES.stall_limit}, not 7"),
    (replace(USUAL, limits=Limits(start_ms=None)), "--start-time 10s, not none"),
    (replace(USUAL, limits=Limits(move_ms=1500)), "--move-time 1s, not 1500ms"),
    (replace(USUAL, limits=Limits(game_ms=120_000)), "--game-time none, not 2m"),
    (replace(USUAL, pace_ms=20), "--pace none, not 20ms"),
    (replace(USUAL, processes=Reuse.FRESH), "without --fresh, not with it"),
    (replace(USUAL, isolation=Tier.A), "--sandbox D, not A"),
    (replace(USUAL, box=Box(memory=64 * MIB)), "--memory 512M, not 64M"),
    (replace(USUAL, box=Box(processes=8)), "--processes 64, not 8"),
    (replace(USUAL, box=Box(file_size=5000)), "--file-size 16M, not 5000B"),
    (replace(USUAL, box=Box(tmp_size=1 << 30)), "--tmp-size 32M, not 1G"),
    (replace(USUAL, box=Box(stderr=4096)), "--stderr 32K, not 4K"),
    (replace(USUAL, box=Box(open_files=32)), "open files: 64, not 32"),
]


@pytest.mark.parametrize(("other", "words"), OTHER, ids=[words for _, words in OTHER])
def test_each_setting_that_differs_is_named_alone_with_its_option(other: Conditions, words: str) -> None:
    assert differences(asked_by(USUAL), asked_by(other)) == [words]
    assert len(differences(asked_by(other), asked_by(USUAL))) == 1
    assert differences(asked_by(other), asked_by(replace(other))) == []


def test_all_settings_of_a_season_are_among_them() -> None:
    changed = Conditions(
        Rules(odd_card=other_than(OddCard, "odd_card"), scoring=other_than(Scoring, "scoring"),
              discard=other_than(DiscardRule, "discard"), stall_limit=9),
        Limits(1, 2, 3), 4, Reuse.FRESH, Tier.B,
        Box(memory=MIB, processes=9, file_size=MIB, tmp_size=MIB, open_files=9, stderr=8192),
    )  # fmt: skip
    assert len(differences(asked_by(USUAL), asked_by(changed))) == len(asked_by(USUAL))


def other_than(kind: Any, name: str) -> Any:
    return next(one for one in kind if one is not getattr(DEFAULT_RULES, name))


def test_the_command_reads_what_is_written_as_the_same_settings() -> None:
    for other, _ in [(USUAL, ""), *OTHER]:
        given = {option: value for option, value in asked_by(other).items() if option.startswith("--")}
        words = [word for option, value in given.items() if value is not None for word in shlex.split(option + value)]
        found = command.make_context("tournament", ["a-bot", *words]).params
        box = {name: found[name] for name in ("memory", "processes", "file_size", "tmp_size", "stderr")}
        assert (
            Conditions(
                found["rules"],
                Limits(found["start_ms"], found["move_ms"], found["game_ms"]),
                found["pace_ms"] or 0,
                found["fresh"],
                Tier(found["sandbox"]),
                Box(**box, open_files=other.box.open_files),
            )
            == other
        )


def test_a_seed_is_quoted_as_a_shell_wants_it() -> None:
    assert differences(seed_asked(None), seed_asked("my tea")) == ["without --seed, not with --seed 'my tea'"]
    assert differences(seed_asked("tea"), seed_asked("milk")) == ["--seed tea, not milk"]
    assert differences(seed_asked("tea"), seed_asked(None)) == ["with --seed tea, not without it"]
