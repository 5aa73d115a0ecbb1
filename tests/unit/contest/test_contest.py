"""Contests between Python functions: rounds, commitments, withdrawals, pages and duels, without any process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pytest

import referee
from referee.contest.in_memory import Choose, PythonBot
from referee.contest.listener import Announcement
from referee.contest.rounds import Where
from referee.errors import BotFault, InputError, Verdict
from referee.record import Bot, replay
from referee.rules import Question
from referee.store import Stored
from referee.tournament.rounds.rounds import Round
from referee.tournament.rounds.schedule import Share


def first(question: Question) -> str:
    return question.legal[0].text


def last(question: Question) -> referee.Action:
    return question.legal[-1]


def illegal(question: Question) -> str:
    return "lay nothing"


def raising(question: Question) -> str:
    raise KeyError("lost")


def bots(**functions: Choose) -> list[PythonBot]:
    return [referee.python_bot(name, choose) for name, choose in functions.items()]


TWO = bots(first=first, last=last)


class Hearing(referee.Listener):
    def __init__(self) -> None:
        self.announced: list[Announcement] = []
        self.games: list[Stored] = []
        self.closed_rounds: list[Round] = []
        self.out: list[tuple[Bot, int]] = []
        self.playing = 0
        self.remarks: list[str] = []

    def announce(self, announcement: Announcement) -> None:
        self.announced.append(announcement)

    def begin(self, games: int) -> None:
        self.playing += 1

    def end(self) -> None:
        self.playing -= 1

    def played(self, games: Sequence[Stored]) -> None:
        assert self.playing == 1
        self.games += games

    def closed(self, one: Round) -> None:
        self.closed_rounds.append(one)

    def withdrawn(self, bot: Bot, faults: int) -> None:
        self.out.append((bot, faults))

    def remark(self, text: str) -> None:
        self.remarks.append(text)


def test_a_league_plays_each_deal_in_each_rotation_and_owes_nothing_then(tmp_path: Path) -> None:
    listener = Hearing()
    settings = referee.Settings(players=(2, 3), deals=4)
    three = bots(first=first, last=last, middle=lambda question: question.legal[len(question.legal) // 2])
    with referee.open_contest(tmp_path / "a.db", bots=three, settings=settings, listener=listener) as contest:
        tally = contest.play()
        assert (tally.played, tally.stopped, tally.unplayed) == (3 * 2 * 4 + 3 * 4, False, 0)
        assert [len(listener.announced), len(listener.closed_rounds), listener.playing] == [1, 1, 0]
        assert listener.announced[0].owed == len(listener.games) == tally.played
        records = list(contest.records())
        contest.play()
        assert len(listener.announced) == 1, "nothing is owed"
    assert len({(record.seats, record.deal, record.rotation) for record in records}) == len(records)
    for record in records:
        assert list(replay(record))[-1].position.outcome is not None


def test_the_same_seed_and_functions_give_the_same_games(tmp_path: Path) -> None:
    def games(name: str) -> list[bytes]:
        settings = referee.Settings(deals=5, seed="same")
        with referee.open_contest(tmp_path / name, bots=TWO, settings=settings) as contest:
            contest.play()
            return [record.to_timeless_json() for record in contest.records()]

    assert games("one.db") == games("two.db") != []


def test_a_commitment_is_published_before_the_first_game_and_its_secret_after_the_last(tmp_path: Path) -> None:
    out, seen = tmp_path / "public", []

    class Looking(referee.Listener):
        def begin(self, games: int) -> None:
            seen.append(json.loads((out / "rounds.json").read_text())["rounds"][-1])

    settings = referee.Settings(deals=2)
    with referee.open_contest(
        tmp_path / "a.db", bots=TWO, settings=settings, publish_to=out, listener=Looking()
    ) as contest:
        contest.play()
        contest.publish()
    after = json.loads((out / "rounds.json").read_text())["rounds"][-1]
    (before,) = seen
    assert (before["secret"], before["commitment"]) == (None, after["commitment"])
    assert len(bytes.fromhex(after["secret"])) == 16
    assert json.loads((out / "standings.json").read_text())["tables"]


@pytest.mark.parametrize(
    ("choose", "verdict"), [(illegal, Verdict.ILLEGAL_ACTION), (raising, Verdict.CRASH)], ids=["illegal", "raising"]
)
def test_a_function_that_breaks_the_rules_is_at_fault_and_the_house_plays_on(choose: Choose, verdict: Verdict) -> None:
    record = referee.play_game(bots(bad=choose, first=first, last=last), seed="s")
    assert [(fault.seat, fault.verdict) for fault in record.faults] == [(0, verdict)]
    assert record.forfeited == (0,)
    assert record.places[0] == 3
    assert {step.seat for step in record.steps} == {0, 1, 2}


def test_too_many_faults_withdraw_a_function_and_its_games_rate_nobody(tmp_path: Path) -> None:
    listener = Hearing()
    entrants = bots(bad=illegal, first=first, last=last)
    settings = referee.Settings(deals=3, max_faults=2)
    with referee.open_contest(tmp_path / "a.db", bots=entrants, settings=settings, listener=listener) as contest:
        contest.play()
        standings = contest.standings()
    assert listener.out == [(entrants[0].manifest.identity, 2)]
    assert {row.bot.name for row in standings.tables[0].rows} == {"first", "last"}


def test_a_stopped_round_goes_on_where_it_stopped(tmp_path: Path) -> None:
    settings, asked = referee.Settings(deals=6, seed="s"), count(1)
    with referee.open_contest(tmp_path / "a.db", bots=TWO, settings=settings) as contest:
        tally = contest.play(stop_wanted=lambda: next(asked) >= 3)  # asked once after each game
        assert (tally.stopped, tally.played, contest.owed()) == (True, 3, 9)
    with referee.open_contest(tmp_path / "a.db", bots=TWO, settings=settings) as contest:
        contest.play()
        stopped = [record.to_timeless_json() for record in contest.records()]
    with referee.open_contest(tmp_path / "b.db", bots=TWO, settings=settings) as contest:
        contest.play()
        assert [record.to_timeless_json() for record in contest.records()] == stopped


def test_shares_of_a_planned_round_together_are_the_round(tmp_path: Path) -> None:
    settings = referee.Settings(deals=60)
    plan = tmp_path / "round.json"
    with referee.open_contest(tmp_path / "whole.db", bots=TWO, settings=settings) as contest:
        assert not contest.plan(plan).was_open
        assert contest.plan(plan).was_open
    found = set()
    for index in (1, 2):
        carried = referee.contest.contest.read_round(plan)
        with referee.open_contest(tmp_path / f"{index}.db", bots=TWO, settings=settings, carried=carried) as contest:
            contest.play_share(Share(index, 2))
            mine = {(record.deal, record.rotation) for record in contest.records()}
        assert mine
        assert found.isdisjoint(mine)
        found |= mine
    assert found == {(deal, rotation) for deal in range(60) for rotation in range(2)}


def test_settings_of_a_season_cannot_change_and_the_differences_are_named(tmp_path: Path) -> None:
    with referee.open_contest(tmp_path / "a.db", bots=TWO, settings=referee.Settings(deals=1)) as contest:
        contest.play()
    slow = referee.Settings(deals=1, pace_ms=5)
    with referee.open_contest(tmp_path / "a.db", bots=TWO, settings=slow) as contest, pytest.raises(InputError) as told:
        contest.play()
    assert "--pace" in str(told.value)


def test_a_new_version_plays_anew_and_the_old_one_leaves_the_table(tmp_path: Path) -> None:
    settings = referee.Settings(deals=2)
    with referee.open_contest(tmp_path / "a.db", bots=TWO, settings=settings) as contest:
        contest.play()
    changed = [TWO[0], referee.python_bot("last", first, version="2")]
    with referee.open_contest(tmp_path / "a.db", bots=changed, settings=settings) as contest:
        assert contest.play().played == 4
        rows = contest.standings().tables[0].rows
        assert {row.bot for row in rows} == {bot.manifest.identity for bot in changed}
        assert {row.games for row in contest.standings(all_versions=True).tables[0].rows} == {4, 8}


def test_tables_that_cannot_be_filled_are_refused_before_a_database_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        referee.open_contest(tmp_path / "a.db", bots=TWO, settings=referee.Settings(players=(3,)))
    assert list(tmp_path.iterdir()) == []


def test_functions_need_no_processors_and_ignore_jobs(tmp_path: Path) -> None:
    with referee.open_contest(tmp_path / "a.db", bots=TWO, settings=referee.Settings(deals=1)) as contest:
        assert contest.play(where=Where(jobs=1)).played == 2


def test_a_duel_between_functions_finds_the_better_one(tmp_path: Path) -> None:
    strong, weak = referee.python_bot("strong", first), referee.python_bot("weak", last)
    settings = referee.DuelSettings(max_deals=300, seed="s")
    one = referee.duel(strong, weak, settings, db=tmp_path / "duel.db")
    other = referee.duel(weak, strong, settings)
    assert (one.standing.verdict, other.standing.verdict) == ("better", "not better")
    again = referee.duel(strong, weak, settings, db=tmp_path / "duel.db")
    assert (again.tally.played, again.standing.test.deals) == (0, one.standing.test.deals)
    assert not again.interrupted


def test_a_match_seats_bots_in_every_rotation(tmp_path: Path) -> None:
    games = list(referee.match(TWO, deals=3, seed="s"))
    assert len(games) == 6
    for game in games:
        named = [TWO[place].manifest.identity for place in game.seating]
        assert tuple(named) == game.record.seats
    assert {tuple(game.seating) for game in games} == {(0, 1), (1, 0)}


def test_ratings_of_records_are_those_of_the_contest_that_they_come_from(tmp_path: Path) -> None:
    with referee.open_contest(tmp_path / "a.db", bots=TWO, settings=referee.Settings(deals=4)) as contest:
        contest.play()
        file = tmp_path / "games.jsonl"
        file.write_bytes(b"".join(record.to_json() + b"\n" for record in contest.records()))
        assert referee.rate_records(referee.read_records(file)) == contest.standings()
    file.write_bytes(file.read_bytes() + b"{}\n")
    with pytest.raises(InputError, match="line 9"):
        list(referee.read_records(file))


def test_a_function_is_known_by_its_name_and_version() -> None:
    hashes = {
        (name, version): referee.python_bot(name, first, version=version).manifest.identity.hash
        for name in "ab"
        for version in "12"
    }
    assert len(set(hashes.values())) == 4
    assert hashes["a", "1"] == hashlib.sha256(b"python function a 1").hexdigest()


def test_what_the_page_of_the_api_names_exists() -> None:
    for name in referee.__all__:
        assert getattr(referee, name) is not None
    with pytest.raises(AttributeError):
        referee.nothing  # noqa: B018
    assert issubclass(BotFault, referee.RefereeError)
