"""What the next round owes, in leagues that bots come to, change in and leave, with rounds closed in the middle."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.bots.process.limits import Limits
from referee.record import Bot, LineUp
from referee.rules import DEFAULT_RULES
from referee.tournament.planning import planning
from referee.tournament.planning.planning import SameAuthor, Wanted
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.rounds import Entry, Round, RoundManifest, parts_of
from referee.tournament.rounds.schedule import Owing, Schedule

CONDITIONS = Conditions(DEFAULT_RULES, Limits())
NAMES = "abcdef"
AUTHORS = {"a": "x", "b": "x", "c": "y", "d": "", "e": "", "f": "x"}

Version = Mapping[str, int]
"""Which version of each bot there is, by name."""


def entry(name: str, version: int = 0, players: Sequence[int] = (2, 3, 4)) -> Entry:
    return Entry(name=name, hash=f"{name}{version}" * 32, players=tuple(players), author=AUTHORS[name])


@dataclass
class League:
    """A database in memory: rounds and games, played in all rotations unless a round is closed with holes."""

    rounds: list[Round] = field(default_factory=list)
    games: set[tuple[LineUp, int, int]] = field(default_factory=set)
    season: int = 1

    def played(self) -> dict[LineUp, dict[int, frozenset[int]]]:
        found: dict[LineUp, dict[int, frozenset[int]]] = {}
        for line_up, rotation, deal in self.games:
            rotations = found.setdefault(line_up, {})
            rotations[rotation] = rotations.get(rotation, frozenset()) | {deal}
        return found

    def owings(self, wanted: Wanted, entries: Sequence[Entry], salt: bytes = b"salt") -> list[Owing]:
        return planning.owings(wanted, entries, rounds=self.rounds, season=self.season, played=self.played(), salt=salt)

    def open(self, wanted: Wanted, entries: Sequence[Entry], salt: bytes = b"salt") -> Round | None:
        owed = self.owings(wanted, entries, salt)
        if not owed:
            return None
        bots = tuple(one.bot for one in entries)
        manifest = RoundManifest(
            season=self.season,
            round=len(self.rounds) + 1,
            previous=None,
            conditions=CONDITIONS,
            max_faults=None,
            block_size=planning.block_size(owed),
            bots=tuple(entries),
            parts=parts_of(bots, owed),
        )
        self.rounds.append(Round(text=manifest.to_json(), secret=bytes(16)))
        return self.rounds[-1]

    def play(self, one: Round, *, holes: float = 0.0, dice: random.Random | None = None) -> None:
        dice = dice or random.Random(0)
        for block in one.schedule.owed({}):
            for deal in block.deals:
                if dice.random() >= holes:
                    assert (block.line_up, block.rotation, deal) not in self.games
                    self.games.add((block.line_up, block.rotation, deal))

    def complete(self, line_up: LineUp) -> int:
        """Deals of this season that were played in all rotations, one by one."""
        ours = {
            deal
            for one in self.rounds
            if one.manifest.season == self.season
            for owing in one.manifest.owings()
            if owing.line_up == line_up
            for deal in range(owing.first, owing.first + owing.deals)
        }
        return sum(all((line_up, rotation, deal) in self.games for rotation in range(len(line_up))) for deal in ours)

    def claims(self) -> list[tuple[LineUp, int]]:
        return [
            (owing.line_up, deal)
            for one in self.rounds
            for owing in one.manifest.owings()
            for deal in range(owing.first, owing.first + owing.deals)
        ]


def allowed(wanted: Wanted, entries: Sequence[Entry], size: int) -> set[LineUp]:
    """Every line-up of this size that may be formed."""
    able = sorted((one for one in entries if size in one.players), key=lambda one: one.bot)
    found = set()
    for table in combinations(able, size):
        named = [one.author for one in table if one.author]
        if size == 2 or wanted.same_author is SameAuthor.TOGETHER or len(named) == len(set(named)):
            found.add(tuple(one.bot for one in table))
    return found


@dataclass(frozen=True)
class Step:
    """What an organiser asks for next, and what becomes of the round: a share of it is left out when it is closed."""

    bots: Mapping[str, int]
    narrow: frozenset[str]
    wanted: Wanted
    holes: float
    new_season: bool


steps = st.builds(
    Step,
    bots=st.dictionaries(st.sampled_from(NAMES), st.integers(0, 1), min_size=1),
    narrow=st.frozensets(st.sampled_from(NAMES), max_size=2),
    wanted=st.builds(
        Wanted,
        players=st.sampled_from([(2,), (3,), (2, 3), (2, 4)]),
        deals=st.integers(1, 5),
        limit=st.sampled_from([1, 3, 6, 10, 2000]),
        same_author=st.sampled_from(SameAuthor),
    ),
    holes=st.sampled_from([0.0, 0.0, 0.2, 0.7, 1.0]),
    new_season=st.sampled_from([False, False, False, True]),
)


def entries_of(step: Step) -> list[Entry]:
    return sorted(
        (entry(name, version, (2,) if name in step.narrow else (2, 3, 4)) for name, version in step.bots.items()),
        key=lambda one: one.bot,
    )


def check_owings(league: League, step: Step, owed: Sequence[Owing]) -> None:
    """What is owed is what is wanted less what is complete, under deal numbers that nobody had."""
    entries, wanted = entries_of(step), step.wanted
    assert all(count == 1 for count in Counter(owing.line_up for owing in owed).values())
    possible = set().union(*(allowed(wanted, entries, size) for size in wanted.players))
    used = set(league.claims())
    for owing in owed:
        assert owing.line_up in possible
        assert owing.deals == wanted.deals - league.complete(owing.line_up) > 0
        taken = [deal for line_up, deal in used if line_up == owing.line_up]
        assert owing.first == max(taken, default=-1) + 1
    asked = {owing.line_up for owing in owed}
    formed = {
        owing.line_up
        for one in league.rounds
        if one.manifest.season == league.season
        for owing in one.manifest.owings()
    }
    for line_up in formed & possible:
        assert line_up in asked or league.complete(line_up) >= wanted.deals
    for size in wanted.players:
        every = allowed(wanted, entries, size)
        if len(every) <= wanted.limit:
            assert all(line_up in asked or league.complete(line_up) >= wanted.deals for line_up in every)
        elif not formed:
            assert sum(len(line_up) == size for line_up in asked) == wanted.limit


@settings(deadline=None, max_examples=250)
@given(st.lists(steps, min_size=1, max_size=6), st.integers(0, 10_000))
def test_a_league_comes_to_what_is_wanted_and_owes_nothing_then(league_steps: list[Step], seed: int) -> None:
    dice = random.Random(seed)
    league = League()
    for number, step in enumerate(league_steps):
        if step.new_season and league.rounds:
            league.season = league.rounds[-1].manifest.season + 1
        entries = entries_of(step)
        owed = league.owings(step.wanted, entries, b"%d" % number)
        check_owings(league, step, owed)
        one = league.open(step.wanted, entries, b"%d" % number)
        assert (one is None) is (not owed)
        if one is not None:
            league.play(one, holes=step.holes, dice=dice)
    last = league_steps[-1]
    entries = entries_of(last)
    again = league.open(last.wanted, entries, b"again")
    if again is not None:
        assert last.holes > 0, "a round that was played to the end left something owed"
        league.play(again)
    assert league.owings(last.wanted, entries, b"and again") == []
    claims = league.claims()
    assert len(set(claims)) == len(claims)
    check_owings(league, last, [])


@settings(deadline=None, max_examples=60)
@given(st.lists(steps, min_size=1, max_size=4), st.integers(0, 10_000))
def test_another_season_begins_from_nothing_and_uses_no_deal_again(league_steps: list[Step], seed: int) -> None:
    dice = random.Random(seed)
    league = League()
    for step in league_steps:
        one = league.open(step.wanted, entries_of(step))
        if one is not None:
            league.play(one, holes=step.holes, dice=dice)
    last = league_steps[-1]
    before = set(league.claims())
    fresh = League().owings(last.wanted, entries_of(last))
    league.season += 1
    owed = league.owings(last.wanted, entries_of(last))
    assert [(owing.line_up, owing.deals) for owing in owed] == [(owing.line_up, owing.deals) for owing in fresh]
    assert (
        not {(owing.line_up, deal) for owing in owed for deal in range(owing.first, owing.first + owing.deals)} & before
    )


def names(owed: Sequence[Owing]) -> dict[str, tuple[int, int]]:
    return {"".join(bot.name for bot in owing.line_up): (owing.first, owing.deals) for owing in owed}


def began(deals: int = 3, bots: str = "ab") -> League:
    league = League()
    one = league.open(Wanted((2,), deals), [entry(name) for name in bots])
    assert one is not None
    league.play(one)
    return league


def test_a_first_round_owes_every_line_up_from_deal_0_on() -> None:
    found = League().owings(Wanted((2, 3), 4), [entry(name) for name in "abc"])
    assert names(found) == dict.fromkeys(("ab", "ac", "bc", "abc"), (0, 4))


def test_a_new_bot_owes_its_own_line_ups_and_more_deals_owe_the_difference() -> None:
    league = began()
    assert names(league.owings(Wanted((2,), 3), [entry(name) for name in "abc"])) == {"ac": (0, 3), "bc": (0, 3)}
    assert names(league.owings(Wanted((2,), 5), [entry(name) for name in "ab"])) == {"ab": (3, 2)}
    assert league.owings(Wanted((2,), 2), [entry(name) for name in "ab"]) == []


def test_a_changed_bot_owes_everything_and_one_that_changes_back_owes_nothing() -> None:
    league = began()
    assert names(league.owings(Wanted((2,), 3), [entry("a", 1), entry("b")])) == {"ab": (0, 3)}
    one = league.open(Wanted((2,), 3), [entry("a", 1), entry("b")])
    assert one is not None
    league.play(one)
    assert league.owings(Wanted((2,), 3), [entry("a", 1), entry("b")]) == []
    assert league.owings(Wanted((2,), 3), [entry("a"), entry("b")]) == []


def test_a_deal_that_lacks_a_rotation_does_not_count_and_is_replaced_by_a_new_one() -> None:
    league = began()
    table = (entry("a").bot, entry("b").bot)
    league.games.remove((table, 1, 1))
    assert names(league.owings(Wanted((2,), 3), [entry("a"), entry("b")])) == {"ab": (3, 1)}
    league.games -= {(table, 1, deal) for deal in range(3)}
    assert names(league.owings(Wanted((2,), 3), [entry("a"), entry("b")])) == {"ab": (3, 3)}


def test_games_that_no_round_of_the_season_claims_do_not_count() -> None:
    league = began()
    table = (entry("a").bot, entry("b").bot)
    league.games |= {(table, rotation, 9) for rotation in range(2)}
    assert names(league.owings(Wanted((2,), 4), [entry("a"), entry("b")])) == {"ab": (3, 1)}
    league.season = 2
    assert names(league.owings(Wanted((2,), 2), [entry("a"), entry("b")])) == {"ab": (3, 2)}


@given(st.integers(1, 12))
def test_apart_at_three_seats_no_table_has_two_bots_of_one_author(limit: int) -> None:
    entries = [entry(name) for name in NAMES]
    wanted = Wanted((2, 3), 1, limit=limit, same_author=SameAuthor.APART)
    owed = League().owings(wanted, entries)
    by_bot = {one.bot: one.author for one in entries}
    for owing in owed:
        named = [by_bot[bot] for bot in owing.line_up if by_bot[bot]]
        assert len(owing.line_up) == 2 or len(set(named)) == len(named)
    # x, x, x, y and two without an author: of three seats at most one is an x.
    assert len(owed) == min(limit, comb(6, 2)) + min(limit, 3 * comb(3, 2) + comb(3, 3))


def test_tables_formed_before_authors_were_kept_apart_play_no_more() -> None:
    league = League()
    entries = [entry(name) for name in "abc"]
    one = league.open(Wanted((3,), 2), entries)
    assert one is not None
    league.play(one)
    assert names(league.owings(Wanted((3,), 4), entries)) == {"abc": (2, 2)}
    assert league.owings(Wanted((3,), 4, same_author=SameAuthor.APART), entries) == []


def test_a_bot_that_stops_playing_at_a_size_leaves_its_tables() -> None:
    league = League()
    one = league.open(Wanted((3,), 2), [entry(name) for name in "abcd"])
    assert one is not None
    league.play(one)
    fewer = [entry("a", players=(2,)), *(entry(name) for name in "bcd")]
    assert names(league.owings(Wanted((3,), 4), fewer)) == {"bcd": (2, 2)}


def test_a_smaller_limit_takes_nobody_out_and_brings_every_table_to_its_deals() -> None:
    league = began(deals=2, bots="abcd")
    found = league.owings(Wanted((2,), 3, limit=1), [entry(name) for name in "abcd"])
    assert names(found) == dict.fromkeys(("ab", "ac", "ad", "bc", "bd", "cd"), (2, 1))


@given(st.lists(st.tuples(st.integers(2, 6), st.integers(1, 300)), min_size=1, max_size=9))
def test_blocks_are_of_ten_to_a_hundred_games_and_a_round_of_sixty_four_where_those_allow(
    tables: list[tuple[int, int]],
) -> None:
    bots = [Bot(str(number), "0" * 64) for number in range(20)]
    owed = [Owing(tuple(bots[at : at + size]), 0, deals) for at, (size, deals) in enumerate(tables)]
    size = planning.block_size(owed)
    games = sum(players * deals for players, deals in tables)
    assert 10 <= size <= 100
    assert size == 10 or sum(1 for _ in Schedule(owed, block_size=size).owed({})) >= 64
    assert size == 100 or (size + 1) * 64 > games
