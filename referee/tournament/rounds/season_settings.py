"""The settings of a season as they are asked for on a command line, and in which of them two seasons differ."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum

from referee.bots.process.amounts import size_in_words, time_in_words
from referee.bots.process.limits import Reuse
from referee.tournament.rounds.conditions import Conditions

Given = Mapping[str, str | None]
"""By option, as far as its value, the words after it: empty for a flag, None where the option is not given."""


def asked_by(conditions: Conditions) -> dict[str, str | None]:
    """The options by which these conditions are asked for, those too that need not be given."""
    limits, box = conditions.limits, conditions.box
    rules = {field.name: getattr(conditions.rules, field.name) for field in fields(conditions.rules)}
    return {
        **{f"--rule {name}=": str(value.value if isinstance(value, Enum) else value) for name, value in rules.items()},
        "--start-time ": time_in_words(limits.start_ms),
        "--move-time ": time_in_words(limits.move_ms),
        "--game-time ": time_in_words(limits.game_ms),
        "--pace ": time_in_words(conditions.pace_ms or None),
        "--fresh": "" if conditions.processes is Reuse.FRESH else None,
        "--sandbox ": conditions.isolation.value,
        "--memory ": size_in_words(box.memory),
        "--processes ": str(box.processes),
        "--file-size ": size_in_words(box.file_size),
        "--tmp-size ": size_in_words(box.tmp_size),
        "--stderr ": size_in_words(box.stderr),
        "open files: ": str(box.open_files),  # no option sets it; another version may have another number
    }


def seed_asked(seed: str | None) -> dict[str, str | None]:
    """The option of a seed."""
    return {"--seed ": None if seed is None else shlex.quote(seed)}


def differences(there: Given, here: Given) -> list[str]:
    """For each option that is not the same `there`, in a database, and `here`, what it was and what it is now.

    Both have the same options.
    """
    return [_difference(option, there[option], here[option]) for option in there if there[option] != here[option]]


def _difference(option: str, there: str | None, here: str | None) -> str:
    if there is None:
        return f"without {option.strip()}, not with {option + here if here else 'it'}"
    if here is None:
        return f"with {option}{there}".rstrip() + ", not without it"
    return f"{option}{there}, not {here}"
