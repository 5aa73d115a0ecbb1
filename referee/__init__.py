"""A tournament referee for programs that play Four Widows.

The names below are what programs script against; `docs/python-api.md` shows how. They are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from referee.version import __version__

if TYPE_CHECKING:
    from referee.actions import Action
    from referee.bots.process.limits import Limits
    from referee.contest.checking import check
    from referee.contest.contest import Contest, Settings, open_contest
    from referee.contest.duel import DuelResult, DuelSettings, duel
    from referee.contest.in_memory import PythonBot, python_bot
    from referee.contest.isolation import Isolation
    from referee.contest.listener import Listener
    from referee.contest.loading import Programs, load_bots
    from referee.contest.match import MatchGame, match, play_game
    from referee.contest.results import rate_records, read_records
    from referee.contest.rounds import Where
    from referee.contest.turns import Turn, turns_of
    from referee.errors import RefereeError
    from referee.record import GameRecord
    from referee.rules import Question, Rules

_HOMES = {
    "Action": "referee.actions",
    "Contest": "referee.contest.contest",
    "DuelResult": "referee.contest.duel",
    "DuelSettings": "referee.contest.duel",
    "GameRecord": "referee.record",
    "Isolation": "referee.contest.isolation",
    "Limits": "referee.bots.process.limits",
    "Listener": "referee.contest.listener",
    "MatchGame": "referee.contest.match",
    "Programs": "referee.contest.loading",
    "PythonBot": "referee.contest.in_memory",
    "Question": "referee.rules",
    "RefereeError": "referee.errors",
    "Rules": "referee.rules",
    "Settings": "referee.contest.contest",
    "Turn": "referee.contest.turns",
    "Where": "referee.contest.rounds",
    "check": "referee.contest.checking",
    "duel": "referee.contest.duel",
    "load_bots": "referee.contest.loading",
    "match": "referee.contest.match",
    "open_contest": "referee.contest.contest",
    "play_game": "referee.contest.match",
    "python_bot": "referee.contest.in_memory",
    "rate_records": "referee.contest.results",
    "read_records": "referee.contest.results",
    "turns_of": "referee.contest.turns",
}

__all__ = [
    "Action",
    "Contest",
    "DuelResult",
    "DuelSettings",
    "GameRecord",
    "Isolation",
    "Limits",
    "Listener",
    "MatchGame",
    "Programs",
    "PythonBot",
    "Question",
    "RefereeError",
    "Rules",
    "Settings",
    "Turn",
    "Where",
    "__version__",
    "check",
    "duel",
    "load_bots",
    "match",
    "open_contest",
    "play_game",
    "python_bot",
    "rate_records",
    "read_records",
    "turns_of",
]


def __getattr__(name: str) -> Any:
    """Import a name of the API when it is first used, so that `import referee` is fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'referee' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
