"""Whether two processes that are told the same answer the same."""

from __future__ import annotations

from collections.abc import Iterator

from referee.checking.bot.transcript import Side, tell
from referee.checking.games.catalogue import POSITIONS
from referee.checking.games.games import ordinary, played
from referee.checking.report.clauses import REPEATED
from referee.checking.report.report import Evidence, Mark, Step
from referee.checking.steps.steps import Run
from referee.errors import BotFault

_GAMES = ("recycled", "three_matches")
_NAME, _TITLE = "repeatable", "answers the same to the same, with the same seed"


def repeatable(run: Run) -> Iterator[Step]:
    """Some games are played, and told to another process once more."""
    with run.trying.subject() as subject:
        bot = run.trying.bot
        players = min(bot.manifest.players)
        games = [position.games(players, 0) for position in POSITIONS if position.name in _GAMES]
        for game in [ordinary(bot), *games][: 1 if run.lonely else None]:
            course = played(subject, game)
            if course.fault is not None:
                yield run.step(_NAME, _TITLE, Mark.NOT_TRIED, "it was at fault in the games that were to be repeated")
                return
        side = subject.side
    yield _again(run, side)


def _again(run: Run, side: Side) -> Step:
    with run.trying.subject(hello=side.hello.line) as subject:
        found = tell(side, subject)
        figures = {"questions": side.questions}
        if found is None:
            return run.step(_NAME, _TITLE, detail=f"{side.questions} questions", figures=figures, clause=REPEATED)
        now = f"{found.now.verdict}: {found.now.detail}" if isinstance(found.now, BotFault) else found.now
        return run.step(
            _NAME,
            _TITLE,
            Mark.WARNING,
            f"a second process, told the same, goes another way: {now} instead of {found.put.action}. That is no "
            "fault; but a game that cannot be repeated is hard to look into",
            clause=REPEATED,
            evidence=Evidence(messages=subject.heard.last()),
            figures=figures,
        )
