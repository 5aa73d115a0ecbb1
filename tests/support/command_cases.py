"""Each command as it is used on the folder of `small_league`, where GAME stands for the id of a game."""

from __future__ import annotations

from dataclasses import dataclass

from referee.cli.exit_codes import ExitCode


@dataclass(frozen=True)
class Case:
    """A command that works: its words, its exit code, and what it has written when it is done."""

    words: str
    code: int | None = 0
    """None where it depends on the machine."""
    made: str = ""


TOURNAMENT = Case("tournament a.py b.py --deals 2 --jobs 1 --seed x --db new.db --out new", made="new/index.html")
CASES = {
    "new": Case("new python mine", made="mine/bot.toml"),
    "tournament": TOURNAMENT,
    "duel": Case("duel a.py b.py --max-deals 2 --jobs 1 --db duel.db", ExitCode.NO_VERDICT, made="duel.db"),
    "plan": Case("plan"),
    "match": Case("match a.py b.py --deals 1"),
    "check": Case("check a.py"),
    "build": Case("build a.py"),
    "doctor": Case("doctor", None),
    "standings": Case("standings referee.db"),
    "compare": Case("compare a b"),
    "collusion": Case("collusion referee.db"),
    "replay": Case("replay referee.db GAME"),
    "bundle": Case("bundle referee.db GAME --seat 0 -o bundle.zip", made="bundle.zip"),
    "replay-bot": Case("replay-bot referee.db GAME --seat 0 --bot a.py"),
    "export": Case("export referee.db"),
    "db info": Case("db info referee.db"),
    "db check": Case("db check referee.db"),
    "db backup": Case("db backup referee.db copy.db", made="copy.db"),
    "db merge": Case("db merge both.db referee.db", made="both.db"),
    "config show": Case("config show"),
    "config schema": Case("config schema"),
    "config example": Case("config example"),
    "completion": Case("completion bash"),
}
