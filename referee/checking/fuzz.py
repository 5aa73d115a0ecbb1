"""Random games, and from the first failure of each kind a short way to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import msgspec

from referee.checking import patience
from referee.checking.catalogue import Game
from referee.checking.features import where
from referee.checking.games import played
from referee.checking.report import Mark, Message, Step
from referee.checking.shrinking import Case, Failure, shrink
from referee.checking.side import Side
from referee.checking.sitting import Course
from referee.checking.steps import Run, signature
from referee.checking.trying import at_fault
from referee.checking.walks import walk
from referee.errors import BotFault

LONGEST = 80
"""After how many questions a random game is brought to its end."""
KINDS = 3
"""After how many different failures it is enough."""

Save = Callable[[Side, int], str]
"""Keep the n-th failure, n from 1, and return the command that shows it again."""


def fuzz(run: Run, games: int, seed: int, save: Save) -> Iterator[Step]:
    """Play so many random games; a step for each kind of failure, or one where there is none."""
    dice = Random(seed)  # noqa: S311 - the same seed has to give the same games
    tables = sorted(run.trying.bot.manifest.players)
    kinds: set[str] = set()
    for failure, number in _failures(run, games, dice, tables):
        if signature(failure.fault) in kinds:
            continue
        kinds.add(signature(failure.fault))
        yield _told(run, _shrunk(run, failure, dice, tables), len(failure.side.puts), number, save, len(kinds))
        if len(kinds) == KINDS:
            return
    if not kinds:
        yield run.step("fuzz", f"{games} random games", figures={"games": games})


def _failures(run: Run, games: int, dice: Random, tables: list[int]) -> Iterator[tuple[Failure, int]]:
    """What went wrong, with the games that were played before by the same process, and the number of the game."""
    case: list[Game] = []
    with run.trying.subject() as subject:
        for number in range(1, games + 1):
            case.append(walk(dice, tables))
            if run.lonely:
                subject.kill()
                del case[:-1]
            course = played(subject, case[-1], until=_is_long)
            case[-1] = Game(course.setting, case[-1].manner)
            if course.fault is not None:
                yield Failure(tuple(case), course.fault, subject.side, where(course)), number
                case.clear()


def _is_long(course: Course) -> bool:
    return len(course.replies) > LONGEST


def _shrunk(run: Run, failure: Failure, dice: Random, tables: list[int]) -> Failure:
    kind = signature(failure.fault)
    waiting = run.trying.diary.waiting
    enough = waiting.seconds + patience.SHORTENING

    def attempt(case: Case, most: int) -> Failure | None:
        found = play_case(run, case, most) if waiting.seconds < enough else None
        return found if found is not None and signature(found.fault) == kind else None

    return shrink(failure, attempt, dice, tables)


def play_case(run: Run, case: Case, most: int) -> Failure | None:
    """Play some games in a new process, until it was told `most` messages."""
    dealt: list[Game] = []
    with run.trying.subject() as subject:
        for game in case:
            left = most - len(subject.side.puts)
            course = played(subject, game, until=partial(_is_told, left))
            dealt.append(Game(course.setting, game.manner))
            if course.fault is not None:
                return Failure(tuple(dealt), course.fault, subject.side, where(course))
    return None


def _is_told(most: int, course: Course) -> bool:
    return len(course.replies) >= most


def _told(run: Run, failure: Failure, before: int, number: int, save: Save, kind: int) -> Step:
    fault: BotFault = failure.fault
    told = len(failure.side.puts)
    games = "" if len(failure.case) == 1 else f", {len(failure.case)} games in one process"
    detail = f"game {number}; shortened from {before} messages to {told}{games}: {failure.where}: {fault.detail}"
    name = "fuzz" if kind == 1 else f"fuzz_{kind}"
    step = run.step(name, "random games", Mark.CROSS, figures={"game": number, "messages": told})
    messages = tuple(Message("bot", put.line.decode().rstrip("\n")) for put in failure.side.puts[-6:])
    return msgspec.structs.replace(at_fault(step, fault, messages, detail=detail), repeat=save(failure.side, kind))
