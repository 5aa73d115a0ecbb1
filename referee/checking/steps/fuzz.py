"""Random games; of each kind of failure the first one is kept, with its last game alone where that suffices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

import msgspec

from referee.bots.seat.transcript import Transcript
from referee.checking.bot.harness import at_fault
from referee.checking.games.catalogue import ArrangedGame
from referee.checking.games.features import where
from referee.checking.games.games import played
from referee.checking.games.sitting import CheckedGame
from referee.checking.games.walks import walk
from referee.checking.report.report import CheckStep, Mark, Message
from referee.checking.steps.steps import CheckRun, signature
from referee.errors import BotFault

LONGEST = 80
"""After how many questions a random game is brought to its end."""
KINDS = 3
"""After how many different failures it is enough."""

Case = tuple[ArrangedGame, ...]
"""Games that one process plays, one after the other."""


class Failure(NamedTuple):
    """A failure: the games as they were dealt, the fault of the last one, the bot's transcript, and the place."""

    case: Case
    fault: BotFault
    transcript: Transcript
    where: str


Save = Callable[[Transcript, int], str]
"""Keep the n-th failure, n from 1, and return the command that shows it again."""


def fuzz(run: CheckRun, games: int, seed: int, save: Save) -> Iterator[CheckStep]:
    """Play random games; yield a step for each kind of failure, or one if there is none."""
    dice = Random(seed)  # noqa: S311 - the same seed has to give the same games
    tables = sorted(run.harness.bot.manifest.players)
    kinds: set[str] = set()
    for failure, number in _failures(run, games, dice, tables):
        if signature(failure.fault) in kinds:
            continue
        kinds.add(signature(failure.fault))
        yield _told(run, _shortened(run, failure), number, save, len(kinds))
        if len(kinds) == KINDS:
            return
    if not kinds:
        yield run.step("fuzz", f"{games} random games", figures={"games": games})


def _failures(run: CheckRun, games: int, dice: Random, tables: list[int]) -> Iterator[tuple[Failure, int]]:
    """What went wrong, with the games that were played before by the same process, and the number of the game."""
    case: list[ArrangedGame] = []
    with run.harness.subject() as subject:
        for number in range(1, games + 1):
            case.append(walk(dice, tables))
            if run.lonely:
                subject.kill()
                del case[:-1]
            course = played(subject, case[-1], until=_is_long)
            case[-1] = ArrangedGame(course.setting, case[-1].manner)
            if course.fault is not None:
                yield Failure(tuple(case), course.fault, subject.transcript, where(course)), number
                case.clear()


def _is_long(course: CheckedGame) -> bool:
    return len(course.replies) > LONGEST


def _shortened(run: CheckRun, failure: Failure) -> Failure:
    """Return the last game alone if it fails in the same way in a new process, else the failure as it is."""
    [*before, last] = failure.case
    if not before:
        return failure
    with run.harness.subject() as subject:
        course = played(subject, last, until=_is_long)
        if course.fault is None or signature(course.fault) != signature(failure.fault):
            return failure
        return Failure((ArrangedGame(course.setting, last.manner),), course.fault, subject.transcript, where(course))


def _told(run: CheckRun, failure: Failure, number: int, save: Save, kind: int) -> CheckStep:
    fault: BotFault = failure.fault
    told = len(failure.transcript.lines)
    games = "" if len(failure.case) == 1 else f", only after {len(failure.case) - 1} other games in the same process"
    detail = f"game {number}{games}: {failure.where}: {fault.detail}"
    name = "fuzz" if kind == 1 else f"fuzz_{kind}"
    step = run.step(name, "random games", Mark.FAILED, figures={"game": number, "messages": told})
    messages = tuple(Message("bot", sent.line.decode().rstrip("\n")) for sent in failure.transcript.lines[-6:])
    return msgspec.structs.replace(
        at_fault(step, fault, messages, detail=detail), repeat=save(failure.transcript, kind)
    )
