"""Checking that two processes that are sent the same answer the same."""

from __future__ import annotations

from collections.abc import Iterator

from referee.bots.seat.playback import first_difference
from referee.bots.seat.transcript import Transcript
from referee.checking.games.catalogue import POSITIONS
from referee.checking.games.games import ordinary, played
from referee.checking.report.clauses import REPEATED
from referee.checking.report.report import CheckStep, Evidence, Mark
from referee.checking.steps.steps import CheckRun
from referee.errors import BotFault

_GAMES = ("recycled", "three_matches")
_NAME, _TITLE = "repeatable", "answers the same to the same, with the same seed"


def repeatable(run: CheckRun) -> Iterator[CheckStep]:
    """Play some games, and play their transcript back to another process."""
    with run.harness.subject() as subject:
        bot = run.harness.bot
        players = min(bot.manifest.players)
        games = [position.games(players, 0) for position in POSITIONS if position.name in _GAMES]
        for game in [ordinary(bot), *games][: 1 if run.lonely else None]:
            course = played(subject, game)
            if course.fault is not None:
                yield run.step(_NAME, _TITLE, Mark.NOT_TRIED, "it was at fault in the games that were to be repeated")
                return
        transcript = subject.transcript
    yield _again(run, transcript)


def _again(run: CheckRun, transcript: Transcript) -> CheckStep:
    assert transcript.hello is not None
    with run.harness.subject(hello=transcript.hello.line) as subject:
        found, questions = first_difference(transcript, subject), len(transcript.questions)
        figures = {"questions": questions}
        if found is None:
            return run.step(_NAME, _TITLE, detail=f"{questions} questions", figures=figures, clause=REPEATED)
        now = "nothing"
        if found.now is not None:
            now = (
                f"{found.now.verdict}: {found.now.detail}" if isinstance(found.now, BotFault) else found.now.action.text
            )
        return run.step(
            _NAME,
            _TITLE,
            Mark.WARNING,
            f"a second process that is sent the same answers {now}, "
            f"not {found.sent.action if found.sent else 'ready'}. "
            "That is not a fault, but a game that cannot be repeated is hard to examine",
            clause=REPEATED,
            evidence=Evidence(messages=subject.traffic.last()),
            figures=figures,
        )
