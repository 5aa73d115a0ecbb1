"""Random games: they are real ones with rare positions, find what no other step does, and are shortened and repeatable."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from checkable import folder_of
from command_line import referee_command

from referee.actions import WIDOW
from referee.checking.catalogue import Game
from referee.checking.features import rare_in
from referee.checking.fuzz import fuzz
from referee.checking.manners import takes
from referee.checking.report import Mark, Step
from referee.checking.shrinking import Case, Failure, shrink
from referee.checking.side import Put, Side, as_transcript
from referee.checking.sitting import Sitting
from referee.checking.steps import Run
from referee.checking.trying import Trying
from referee.checking.walks import walk
from referee.errors import BotFault, Verdict
from referee.play import End, Reply, Start
from referee.rules import Question

TABLES = (2, 3, 4, 5, 6)
Breaks = Callable[[Question], bool]


class Mind:
    """A bot without a process, which crashes where `breaks` is true."""

    def __init__(self, breaks: Breaks = lambda question: False) -> None:
        self.breaks = breaks
        self.told = 0
        self.seen: Counter[str] = Counter()

    def begin(self, start: Start) -> None:
        self.told += 1

    def ask(self, question: Question) -> Reply:
        self.told += 1
        self.seen.update(rare_in(question))
        if self.breaks(question):
            raise BotFault(Verdict.CRASH, "broken")
        return Reply(takes(question), 1)

    def end(self, end: End) -> None:
        self.told += 1


def play(case: Case, mind: Mind, most: int = 10**9) -> Failure | None:
    dealt: list[Game] = []
    for game in case:
        sitting = Sitting(game.setting, mind, game_id="x", manner=game.manner, fate=game.fate)  # type: ignore[arg-type]
        course = sitting.play(until=lambda course: mind.told >= most)
        dealt.append(Game(course.setting, game.manner))
        if course.fault is not None:
            puts = tuple(Put(number, b"") for number in range(mind.told))
            return Failure(tuple(dealt), course.fault, Side(0, Put(0, b""), puts), "")
    return None


def test_rare_positions_are_common() -> None:
    mind, dice = Mind(), Random(1)
    for _ in range(500):
        play((walk(dice, TABLES),), mind)
    for rare in (
        "one card in hand", "three queens in hand", "four queens in hand", "two matches",
        "three matches", "three widows", "recycled", "one at fault", "two at fault", "one turn before the stall",
        "6 events", "discard all", "odd_card first", "scoring winner", "scoring loser", "stall_limit 1",
    ):  # fmt: skip
        assert mind.seen[rare] >= 5, rare


def test_the_same_seed_gives_the_same_games() -> None:
    one, other = Random(5), Random(5)
    assert [walk(one, TABLES) for _ in range(50)] == [walk(other, TABLES) for _ in range(50)]


def test_games_are_at_the_tables_that_the_bot_plays_at() -> None:
    dice = Random(2)
    assert {walk(dice, (3, 5)).setting.players for _ in range(60)} == {3, 5}


BREAKS: dict[str, tuple[Breaks, int]] = {
    "recycled": (lambda question: question.recycled, 3),
    "three widows": (lambda question: len(question.widows) == 3, 4),
    "fourth widow": (lambda question: len(question.widows) == 3 and question.legal[0] is WIDOW, 3),
    "one card": (lambda question: question.hand.bit_count() == 1, 8),
    "recycled with a seat at fault": (lambda question: question.recycled and bool(question.forfeited), 4),
    "eight discards": (lambda question: len(question.discards) >= 8, 3),
    "second lay": (lambda question: any(event.seat == question.seat for event in question.events), 3),
}
"""What breaks it, and with how many messages that can be shown."""


@pytest.mark.parametrize("kind", BREAKS)
def test_a_failure_is_shortened_to_few_messages(kind: str) -> None:
    breaks, shortest = BREAKS[kind]
    dice, case, failure = Random(3), (), None
    games: list[Game] = []
    while failure is None:
        games.append(walk(dice, TABLES))
        case = tuple(games)
        failure = play(case, Mind(breaks))
    best = shrink(failure, lambda variant, most: play(variant, Mind(breaks), most), dice, TABLES)
    again = play(best.case, Mind(breaks))
    assert again is not None and again.size == best.size
    assert len(best.case) == 1 and best.size[0] <= shortest


def test_games_that_are_needed_before_the_failure_stay() -> None:
    dice = Random(4)
    games = tuple(walk(dice, TABLES) for _ in range(9))

    def attempt(case: Case, most: int) -> Failure | None:
        """It fails in the third game of a process."""
        if len(case) < 3:
            return None
        puts = tuple(Put(number, b"") for number in range(len(case)))
        return Failure(case, BotFault(Verdict.CRASH, "broken"), Side(0, Put(0, b""), puts), "")

    failure = attempt(games, 100)
    assert failure is not None
    assert len(shrink(failure, attempt, dice, TABLES).case) == 3


def found(trying: Trying, games: int, seed: int) -> tuple[list[Step], list[Side]]:
    sides: list[Side] = []

    def save(side: Side, number: int) -> str:
        assert number == len(sides) + 1
        sides.append(side)
        return f"again {number}"

    return list(fuzz(Run(trying), games, seed, save)), sides


def test_a_good_bot_has_a_tick(trying: Callable[..., Trying]) -> None:
    steps, sides = found(trying(), 40, 1)
    assert [(step.name, step.mark, step.figures) for step in steps] == [("fuzz", Mark.TICK, {"games": 40})]
    assert not sides


def test_a_failure_is_told_with_its_cause_and_is_the_same_with_the_same_seed(trying: Callable[..., Trying]) -> None:
    steps, sides = found(trying("recycled"), 60, 7)
    [step] = steps
    assert (step.name, step.mark, step.verdict, step.repeat) == ("fuzz", Mark.CROSS, "crash", "again 1")
    assert "phase drawn, recycled: it exited with status 1" in step.detail and "shortened from" in step.detail
    assert step.clause is not None and step.clause.name == "C11"
    assert step.evidence is not None and '"recycled":true' in step.evidence.messages[-1].line
    assert len(sides[0].puts) == step.figures["messages"] <= 4
    again = found(trying("recycled"), 60, 7)
    assert without_ids(again[1][0]) == without_ids(sides[0])


def without_ids(side: Side) -> list[dict[str, object]]:
    lines = [json.loads(line)["line"] for line in as_transcript(side).splitlines()]
    return [{key: value for key, value in line.items() if key not in ("id", "game_id")} for line in lines]


def test_what_only_a_random_game_finds_is_written_to_a_file_that_shows_it_again(tmp_path: Path) -> None:
    bot, patient = folder_of(tmp_path, "deep"), ("--move-time", "20s", "--start-time", "60s")
    done = referee_command("check", str(bot), *patient, cwd=tmp_path, seconds=240)
    assert done.returncode == 0, done.stdout
    words = ("--fuzz", "400", "--seed", "2", "--json", *patient)
    done = referee_command("check", str(bot), *words, cwd=tmp_path, seconds=400)
    report = json.loads(done.stdout)
    crosses = [step for step in report["steps"] if step["mark"] == "cross"]
    assert (done.returncode, report["seed"], [step["name"] for step in crosses]) == (1, 2, ["fuzz"])
    assert crosses[0]["repeat"] == f"referee check {bot} --transcript deep-fuzz-1.jsonl"
    again = referee_command("check", str(bot), "--transcript", "deep-fuzz-1.jsonl", *patient, cwd=tmp_path)
    assert again.returncode == 1 and "RuntimeError: cannot do deep" in again.stdout
    good = folder_of(tmp_path, "")
    assert (
        referee_command("check", str(good), "--transcript", "deep-fuzz-1.jsonl", *patient, cwd=tmp_path).returncode == 0
    )


@pytest.mark.parametrize("words", [("--seed", "1"), ("--fuzz", "3", "--transcript", "x.jsonl"), ("--fuzz", "0")])
def test_options_that_do_not_go_together_are_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = referee_command("check", str(folder_of(tmp_path, "")), *words)
    assert done.returncode == 2 and "--fuzz" in done.stderr
