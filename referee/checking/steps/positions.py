"""A step for each position of the catalogue: games that reach it, and a question after them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from referee.checking.bot.bot_under_test import BotUnderTest
from referee.checking.games.catalogue import ArrangedGame, Position
from referee.checking.games.features import where
from referee.checking.games.games import ordinary, played
from referee.checking.games.rare_positions import EVERY
from referee.checking.games.sitting import CheckedGame
from referee.checking.report import patience
from referee.checking.report.clauses import MANY_GAMES
from referee.checking.report.report import CheckStep, Mark
from referee.checking.steps.basics import has_left
from referee.checking.steps.steps import CheckRun


def positions(run: CheckRun) -> Iterator[CheckStep]:
    """All positions, by one process as long as it is well."""
    with ExitStack() as stack:
        subject = stack.enter_context(run.harness.subject())
        for position in EVERY:
            yield _position(run, position, subject)


def _position(run: CheckRun, position: Position, subject: BotUnderTest) -> CheckStep:
    able = [players for players in position.players if players in run.harness.bot.manifest.players]
    if not able:
        tables = ", ".join(map(str, position.players))
        return run.step(position.name, position.title, Mark.NOT_TRIED, f"it does not play at tables of {tables}")
    waiting = run.harness.history.waiting
    if waiting.is_over:
        return run.step(position.name, position.title, Mark.NOT_TRIED, patience.why_not(waiting))
    tries, most = 0, waiting.seconds + patience.STEP
    for players in able[:2]:
        for attempt in range(position.tries):
            if tries and waiting.seconds > most:
                break
            tries += 1
            step, shown = _try(run, position, subject, position.games(players, attempt))
            if step is not None:
                return step
            if shown:
                return run.step(position.name, position.title, figures={"players": players, "games": tries})
    games = f"{tries} game{'' if tries == 1 else 's'}"
    return run.step(position.name, position.title, Mark.NOT_TRIED, f"its own play did not lead there in {games}")


def _try(run: CheckRun, position: Position, subject: BotUnderTest, game: ArrangedGame) -> tuple[CheckStep | None, bool]:
    """Play a game; return a failed step if the bot was at fault, and True if the position was reached."""
    if run.lonely:
        subject.kill()
    before = subject.games
    course = played(subject, game, until=position.shown)
    fault = course.fault
    if fault is None:
        return _after(run, position, subject, course), position.shown(course)
    if before:
        again = played(subject, game, until=position.shown)
        if again.fault is None:
            run.lonely = True
            place = "only where games were played before in the same process"
            return run.failed(position.name, position.title, fault, subject, where=place, clause=MANY_GAMES), False
        course, fault = again, again.fault
    return run.failed(position.name, position.title, fault, subject, where=where(course)), False


def _after(run: CheckRun, position: Position, subject: BotUnderTest, course: CheckedGame) -> CheckStep | None:
    """Return a failed step if the bot fails at the end of a game, or at the first question of the next one."""
    if run.lonely:
        return None
    fault = played(subject, ordinary(run.harness.bot), until=_answered).fault
    if fault is None or has_left(fault):
        return None
    ending = "over" if course.outcome is None else course.outcome.reason.value
    place = f"after the end of the game ({ending})"
    return run.failed(position.name, position.title, fault, subject, where=place)


def _answered(course: CheckedGame) -> bool:
    return bool(course.replies)
