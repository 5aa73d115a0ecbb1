from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from records import ANNA, BERT, CARL, START, played

from referee.cards import NAMES, cards_of
from referee.cli.commands.replay import Turn, show_game, turns_of
from referee.cli.main import cli
from referee.errors import Verdict
from referee.record import Bot, Fault, GameRecord, Idling, Step, replay
from referee.rules import DiscardRule, DrawFate, Ending, OddCard, Rules, Scoring
from referee.store import Stored, open_store

VECTORS = Path(__file__).parents[2] / "vectors" / "games.jsonl.gz"
CARD = re.compile(r"\b[6-9TJQKA][CDHS]\b")


def test_who_worked_in_others_time_is_told_to_all_eyes_and_to_its_own() -> None:
    record = msgspec.structs.replace(played(), idle_cpu_ms=(12, 0), held=(0,))
    used = "used 12 ms of a processor while others were asked and was stopped between its questions"
    for seat, times in ((None, 1), (0, 1), (1, 0)):
        with redirect_stdout(io.StringIO()) as shown:
            show_game(record, names=["anna", "bert"], seat=seat)
        assert shown.getvalue().count(used) == shown.getvalue().count("others were asked") == times
    assert Idling(0, True).words == "was stopped between its questions"
    assert Idling(0, False).words == ""


@cache
def vectors() -> list[tuple[dict[str, Any], GameRecord]]:
    """Games of an independent implementation, and each as a record of ours."""
    with gzip.open(VECTORS, "rt", encoding="ascii") as lines:
        return [(game, recorded(number, game)) for number, game in enumerate(map(json.loads, lines))]


def recorded(number: int, game: dict[str, Any]) -> GameRecord:
    steps = [Step(asked["question"]["seat"], asked["action"], 1000) for asked in game["asked"]]
    faults = [Fault(step.seat, at, Verdict.CRASH, "gone", {}) for at, step in enumerate(steps) if step.action is None]
    absent = [seat for seat in game["end"]["forfeited"] if seat not in {fault.seat for fault in faults}]
    rules, end = game["rules"], game["end"]
    return GameRecord(
        game_id=f"vector{number}",
        seats=tuple(Bot(f"bot{seat}", f"{seat}" * 64) for seat in range(game["players"])),
        deal=0,
        rotation=0,
        rules=Rules(
            OddCard(rules["odd_card"]), Scoring(rules["scoring"]), DiscardRule(rules["discard"]), rules["stall_limit"]
        ),
        key=None,
        deck=tuple(game["deck"]),
        steps=tuple(steps),
        faults=(*(Fault(seat, None, Verdict.START_FAILED, "no start", {}) for seat in absent), *faults),
        reason=Ending(end["reason"]),
        places=tuple(end["places"]),
        hand_sizes=tuple(end["hand_sizes"]),
        forfeited=tuple(end["forfeited"]),
        ms=1,
    )


def saved(path: Path, record: GameRecord) -> str:
    """A database of one game."""
    with open_store(path, create=True) as store:
        store.claim()
        store.add([Stored.of(record)])
    return str(path)


def shown(record: GameRecord, seat: int | None = None) -> str:
    """What is shown of a game."""
    with redirect_stdout(io.StringIO()) as text:
        show_game(record, names=[bot.name for bot in record.seats], seat=seat)
    return text.getvalue()


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """The seat and the lines of each turn shown."""
    middle = text.split("\n\n", 1)[1].rsplit("\n\nthe end", 1)[0]
    for block in re.split(r"^(?= *\d+  \d )", middle, flags=re.MULTILINE):
        if block.strip():
            yield int(block.split()[1]), block


def test_turns_are_those_of_an_independent_implementation() -> None:
    for game, record in vectors():
        turns = list(turns_of(record))
        assert [step for turn in turns for step in turn.steps] == list(record.steps)
        for turn in turns:
            if turn.steps:
                question = game["asked"][turn.first_step]["question"]
                assert question["phase"] == "lay"
                assert (question["seat"], question["hand"]) == (
                    turn.seat,
                    [NAMES[card] for card in cards_of(turn.hand)],
                )
        events = [turn.event for turn in turns if turn.event]
        *_, last = replay(record)
        assert events == last.position.events


def test_broken_off_turn_is_the_last_one() -> None:
    broken = [turn for _, record in vectors() for turn in turns_of(record) if turn.event is None]
    assert broken
    assert all(turn.steps[-1].action is None for turn in broken)


def test_seat_is_shown_no_card_that_it_could_not_see() -> None:
    for _, record in vectors():
        turns = list(turns_of(record))
        for seat in range(len(record.seats)):
            text = shown(record, seat)
            assert " ".join(record.deck) not in text
            for turn, (mover, block) in zip(turns, blocks(text), strict=True):
                assert mover == turn.seat
                if mover != seat:
                    assert CARD.findall(block) == open_cards(turn)


def open_cards(turn: Turn) -> list[str]:
    event = turn.event
    if event is None or event.result is DrawFate.KEPT:
        return []
    assert event.drew is not None
    return [NAMES[card] for card in (event.drew, *event.discarded)]


def test_seat_is_shown_all_that_it_saw_itself() -> None:
    for _, record in vectors()[:20]:
        everything = list(blocks(shown(record)))
        for seat in range(len(record.seats)):
            own = [block for mover, block in blocks(shown(record, seat)) if mover == seat]
            assert own == [block for mover, block in everything if mover == seat]


def test_game_is_shown_turn_by_turn() -> None:
    record = played([ANNA, BERT], deal=4)
    text = shown(record)
    head, *_ = text.split("\n\n")
    assert head == (
        f"game {record.game_id}: 2 players, deal 4, rotation 0\n"
        "rules: odd_card talon, scoring places, discard any, stall_limit 200\n"
        f"deck: {' '.join(record.deck)}\n"
        "seat 0: anna a1a1a1a1\n"
        "seat 1: bert b2b2b2b2"
    )
    first = next(turns_of(record))
    hand, deed = next(blocks(text))[1].splitlines()
    assert hand == f"   1  0 anna  {' '.join(NAMES[card] for card in cards_of(first.hand))}"
    assert first.event
    assert first.event.laid is not None
    assert first.event.drew is not None
    assert deed.strip().startswith(f"lays {NAMES[first.event.laid]}, draws {NAMES[first.event.drew]}")
    assert deed.endswith(f"{' + '.join(f'{step.us / 1000:.1f}' for step in first.steps)} ms")
    assert len(list(blocks(text))) == len(list(turns_of(record)))


def test_a_delay_is_taken_after_each_turn_and_changes_nothing_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    record = played([ANNA, BERT], deal=4)
    taken: list[float] = []
    monkeypatch.setattr("referee.cli.commands.replay.time.sleep", taken.append)
    with redirect_stdout(io.StringIO()) as text:
        show_game(record, names=["anna", "bert"], delay=0.5)
    assert taken == [0.5] * len(list(turns_of(record)))
    assert text.getvalue() == shown(record)


def test_end_names_places_and_cards_left() -> None:
    record = played([ANNA, BERT, CARL], faults={1: 3})
    end = shown(record).split("\nthe end: ")[1].splitlines()
    assert end[0] == record.reason.value
    rows = [re.fullmatch(r" +(\d) (\w+) +(\d+) cards? left(, at fault)?", line) for line in end[1:]]
    assert [row and row[2] for row in rows][-1] == "bert"
    for row in rows:
        assert row
        seat = ["anna", "bert", "carl"].index(row[2])
        assert (int(row[1]), int(row[3])) == (record.places[seat], record.hand_sizes[seat])
        assert bool(row[4]) == (seat in record.forfeited)


def test_fault_is_shown_with_its_detail_and_the_house_plays_on() -> None:
    text = shown(played([ANNA, BERT, CARL], faults={1: 3}))
    assert "bert is at fault: timeout\n" in text
    assert "no answer within 1000 ms\n" in text
    assert "the house lays" in text


def test_fault_before_the_first_question_is_shown_with_its_evidence() -> None:
    text = shown(played([ANNA, BERT], faults={0: START}))
    assert "anna is at fault: start_failed\n       it said nothing but hello\n       exit_status: 3\n" in text
    assert "       stderr: no\n       stderr: luck\n" in text
    assert "the end: forfeit\n" in text


def test_marks_of_a_traceback_stand_below_what_they_mean() -> None:
    record = played([ANNA, BERT], faults={0: START})
    fault = msgspec.structs.replace(record.faults[0], evidence={"stderr": '  print(m["plan"])\n        ~^^^^^^^^'})
    text = shown(msgspec.structs.replace(record, faults=(fault,)))
    assert '       stderr:   print(m["plan"])\n       stderr:         ~^^^^^^^^\n' in text


def test_fault_of_another_seat_is_shown_without_its_detail() -> None:
    text = shown(played([ANNA, BERT, CARL], faults={1: 3}, notes={1: "my cards"}), seat=0)
    assert "bert is at fault: timeout\n" in text
    assert "no answer within" not in text
    assert "my cards" not in text


def test_notes_cannot_reach_into_the_terminal() -> None:
    text = shown(played([ANNA, BERT], notes={0: "\x1b[2J\u202e\r\nhi é"}))
    assert "note: [2J hi é\n" in text
    assert not {"\x1b", "\r", "\u202e"} & set(text)


def test_command_shows_the_game_that_its_id_begins(tmp_path: Path) -> None:
    record = played([ANNA, BERT, CARL])
    path = saved(tmp_path / "a.db", record)
    for words in ([path, record.game_id], ["--db", path, record.game_id[:3]]):
        assert CliRunner().invoke(cli, ["replay", *words]).stdout == shown(record)
        assert CliRunner().invoke(cli, ["replay", *words, "--step"]).stdout == shown(record)
        assert CliRunner().invoke(cli, ["replay", *words, "--seat", "2"]).stdout == shown(record, 2)


def test_seats_games_and_words_that_are_not_there_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.db", played(game_id="abc"))
    done = CliRunner().invoke(cli, ["replay", path, "abc", "--seat", "2"])
    assert (done.exit_code, done.stderr) == (2, "referee: game abc has no seat 2: they are 0 to 1\n")
    done = CliRunner().invoke(cli, ["replay", path, "x"])
    assert done.exit_code == 2
    assert done.stderr.startswith("referee: there is no game 'x' in")
    for words in ([path, "abc", "abc"], [path, "abc", "--db", path], []):
        assert CliRunner().invoke(cli, ["replay", *words]).exit_code == 2


def test_record_that_breaks_the_rules_is_said_to(tmp_path: Path) -> None:
    forged = played(game_id="abc").to_json().replace(b'"action":"lay ', b'"action":"bay ', 1)
    path = saved(tmp_path / "a.db", GameRecord.from_json(forged))
    done = CliRunner().invoke(cli, ["replay", path, "abc"])
    assert done.exit_code == 1
    assert done.stderr.startswith("referee: game abc: step 0 has no action 'bay ")
