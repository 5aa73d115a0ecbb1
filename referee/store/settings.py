"""What a tournament was begun with, and in what two such settings differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


def differences(old: Mapping[str, JSON], new: Mapping[str, JSON]) -> list[str]:
    """One line for each setting that `old`, of the database, and `new`, of the command, do not share."""
    there, here = dict(_leaves(old)), dict(_leaves(new))
    return [_difference(key, there, here) for key in sorted({*there, *here}) if there.get(key) != here.get(key)]


def _leaves(settings: Mapping[str, JSON], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each setting by its dotted path, as JSON."""
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, json.dumps(value, sort_keys=True, ensure_ascii=False)


def _difference(key: str, there: Mapping[str, str], here: Mapping[str, str]) -> str:
    if key not in there:
        return f"{key}: {here[key]} now, not set in the database"
    if key not in here:
        return f"{key}: {there[key]} in the database, not set now"
    return f"{key}: {there[key]} in the database, {here[key]} now"
