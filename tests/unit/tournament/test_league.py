"""A database as a league: which round is open, under what secret, for whom, and when it is over."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from rounds import ADA, BOB, CAT, DAN, game, games

from referee.bots.process.limits import Limits
from referee.errors import DatabaseError, InputError
from referee.record import Bot
from referee.rules import DEFAULT_RULES, Rules, Scoring
from referee.store import Store, open_store
from referee.tournament.planning.league import League, Terms, missing, require_all, unwanted
from referee.tournament.planning.planning import Wanted
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.keys import secret_from_seed
from referee.tournament.rounds.rounds import Entry, Round
from referee.tournament.rounds.schedule import Block

NEW_ADA = Bot("ada", "ff" * 32)


def entries(*bots: Bot) -> list[Entry]:
    return [Entry(name=bot.name, hash=bot.hash, players=(2, 3)) for bot in bots]


def terms(
    *,
    deals: int = 2,
    players: Sequence[int] = (2,),
    rules: Rules = DEFAULT_RULES,
    move_ms: int | None = 1000,
    max_faults: int | None = None,
    seed: str | None = None,
) -> Terms:
    conditions = Conditions(rules, Limits(10_000, move_ms, None))
    return Terms(conditions, Wanted(tuple(players), deals), max_faults, seed)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "league.db", create=True) as opened:
        opened.claim()
        yield opened


def opened(league: League, *bots: Bot, **how: object) -> Round:
    one = league.open_next(entries(*bots), terms(**how))  # type: ignore[arg-type]
    assert one is not None
    return one


def completed(league: League, store: Store, one: Round, **how: object) -> Round:
    store.add(games(one, **how))  # type: ignore[arg-type]
    assert league.is_complete(one)
    return league.close(one)


def owed(league: League, *bots: Bot, **how: object) -> Round | None:
    return league.open_next(entries(*bots), terms(**how))  # type: ignore[arg-type]


# -- rounds one after another


def test_a_round_is_in_the_database_before_anybody_can_play_it(store: Store, tmp_path: Path) -> None:
    one = opened(League(store), ADA, BOB)
    with open_store(tmp_path / "league.db") as other:
        (kept,) = other.rounds()
        assert Round.of(kept) == one
        assert not kept.closed
        assert other.counts().games == 0
    assert kept.commitment == hashlib.sha256(bytes.fromhex(kept.secret) + kept.manifest.encode()).hexdigest()


def test_what_was_opened_goes_on_under_whoever_opens_the_database_next(store: Store) -> None:
    one = opened(League(store), ADA, BOB)
    again = League(store)
    assert again.open == one
    assert (again.season, again.rounds) == (1, [one])


def test_a_league_that_has_all_its_games_opens_no_round(store: Store) -> None:
    league = League(store)
    completed(league, store, opened(league, ADA, BOB))
    assert owed(league, ADA, BOB) is None
    assert owed(League(store), ADA, BOB) is None
    assert len(store.rounds()) == 1


def test_rounds_hold_on_to_one_another_by_their_commitments(store: Store) -> None:
    league = League(store)
    first = completed(league, store, opened(league, ADA, BOB))
    second = completed(league, store, opened(league, ADA, BOB, CAT))
    third = opened(League(store), ADA, BOB, CAT, deals=3)
    assert [one.manifest.previous for one in (first, second, third)] == [None, first.commitment, second.commitment]
    assert [one.number for one in (first, second, third)] == [1, 2, 3]
    assert second.schedule.count() == 2 * 2 * 2
    assert third.schedule.count() == 3 * 2 * 1


def test_a_changed_bot_plays_anew_and_a_reverted_one_does_not(store: Store) -> None:
    league = League(store)
    completed(league, store, opened(league, ADA, BOB, CAT))
    second = completed(league, store, opened(league, NEW_ADA, BOB, CAT))
    assert {owing.line_up for owing in second.manifest.owings()} == {(NEW_ADA, BOB), (NEW_ADA, CAT)}
    assert owed(league, ADA, BOB, CAT) is None
    assert owed(league, NEW_ADA, BOB, CAT) is None


def test_holes_of_a_round_that_was_closed_as_it_stood_are_played_under_new_deals(store: Store) -> None:
    league = League(store)
    one = opened(league, ADA, BOB, deals=3)
    there = games(one)
    store.add([game for game in there if (game.deal, game.rotation) != (1, 0)])
    assert not league.is_complete(one)
    league.close(one)
    second = opened(league, ADA, BOB, deals=3)
    assert [tuple(owing) for owing in second.manifest.owings()] == [((ADA, BOB), 3, 1)]


# -- secrets


def test_every_round_draws_a_secret_of_sixteen_bytes_of_its_own(store: Store, tmp_path: Path) -> None:
    league = League(store)
    first = completed(league, store, opened(league, ADA, BOB))
    second = opened(league, ADA, BOB, CAT)
    with open_store(tmp_path / "other.db", create=True) as other_store:
        other_store.claim()
        other = opened(League(other_store), ADA, BOB)
    assert other.text == first.text
    found = {first.secret, second.secret, other.secret}
    assert len(found) == 3
    assert all(len(secret) == 16 for secret in found)
    assert all(one.sealed and one.seed is None for one in (first, second, other))


def test_the_secret_is_drawn_from_the_system_when_the_bots_are_known_and_once_a_round(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is to enter is an argument of what draws it: a name or a content cannot be tried against a secret."""
    drawn: list[bytes] = []
    draw = secrets.token_bytes
    monkeypatch.setattr(secrets, "token_bytes", lambda size: drawn.append(draw(size)) or drawn[-1])
    league = League(store)
    assert drawn == []
    one = opened(league, ADA, BOB)
    assert drawn == [one.secret]
    league = League(store)
    assert league.open == one
    assert len(drawn) == 1


def test_a_round_from_a_seed_is_not_sealed_and_each_of_them_has_another_secret(store: Store) -> None:
    league = League(store)
    first = completed(league, store, opened(league, ADA, BOB, seed="tea"))
    second = completed(league, store, opened(league, ADA, BOB, CAT, seed="tea"))
    third = opened(league, ADA, BOB, CAT, deals=3)
    assert (first.secret, second.secret) == (secret_from_seed("tea", 1), secret_from_seed("tea", 2))
    assert first.secret != second.secret
    assert [(one.seed, one.sealed) for one in (first, second, third)] == [("tea", False), ("tea", False), (None, True)]
    assert [(one.seed, one.sealed) for one in League(store).rounds] == [("tea", False), ("tea", False), (None, True)]


def test_closing_is_kept(store: Store) -> None:
    league = League(store)
    one = league.close(opened(league, ADA, BOB))
    assert one.closed
    assert league.open is None
    assert League(store).rounds == [one]


# -- terms


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"rules": Rules(scoring=Scoring.WINNER)}, "--rule scoring=places, not winner"),
        ({"move_ms": 500}, "--move-time 1s, not 500ms"),
        ({"move_ms": None}, "--move-time 1s, not none"),
    ],
)
def test_other_conditions_are_refused_whether_a_round_is_open_or_not(
    store: Store, other: dict[str, object], says: str
) -> None:
    league = League(store)
    one = opened(league, ADA, BOB)
    for _ in range(2):
        with pytest.raises(DatabaseError) as caught:
            league.check(terms(**other))  # type: ignore[arg-type]
        assert says in str(caught.value)
        assert "--new-season" in str(caught.value)
        if league.open:
            completed(league, store, one)
    league.check(terms(deals=9, players=(2, 3), max_faults=3))


def test_another_seed_is_refused_while_a_round_is_open(store: Store) -> None:
    league = League(store)
    one = opened(league, ADA, BOB, seed="tea")
    league.check(terms(seed="tea"))
    league.check(terms())
    with pytest.raises(DatabaseError, match="was opened with the seed 'tea', and not with 'milk'"):
        league.check(terms(seed="milk"))
    completed(league, store, one)
    league.check(terms(seed="milk"))
    second = opened(league, ADA, BOB, CAT)
    with pytest.raises(DatabaseError, match=r"round 2 .* was opened without a seed, and not with 'tea'"):
        league.check(terms(seed="tea"))
    assert second.sealed


# -- seasons


def test_a_new_season_closes_the_open_round_and_begins_from_nothing_under_any_conditions(store: Store) -> None:
    league = League(store)
    first = opened(league, ADA, BOB)
    assert League(store).ended is None
    league = League(store, new_season=True)
    assert league.open is None
    assert league.ended == league.rounds[0]
    assert league.rounds[0] == msgspec.structs.replace(first, closed=True, unplayed=first.manifest.count())
    league.check(terms(move_ms=5))
    second = opened(league, ADA, BOB, move_ms=5)
    assert (second.number, second.manifest.season, second.manifest.previous) == (2, 2, first.commitment)
    assert [owing.first for owing in second.manifest.owings()] == [2]
    again = League(store)
    assert (again.season, again.of_season(), again.open) == (2, [second], second)


def test_a_new_season_of_an_empty_database_is_the_first(store: Store) -> None:
    assert opened(League(store, new_season=True), ADA, BOB).manifest.season == 1


def test_who_was_withdrawn_may_play_in_another_season(store: Store) -> None:
    league = League(store)
    one = opened(league, ADA, BOB, deals=8, max_faults=2)
    completed(league, store, one, faulty=[ADA])
    assert League(store).withdrawn() == {ADA: 1}
    following = League(store, new_season=True)
    assert following.withdrawn() == {}
    assert ADA in opened(following, ADA, BOB).bots


# -- withdrawal and absence


def test_who_was_withdrawn_plays_in_no_later_round_of_the_season_unless_he_is_changed(store: Store) -> None:
    league = League(store)
    completed(league, store, opened(league, ADA, BOB, CAT, deals=8, max_faults=2), faulty=[ADA])
    second = completed(league, store, opened(league, ADA, BOB, CAT, DAN))
    assert ADA not in second.bots
    assert {owing.line_up for owing in second.manifest.owings()} == {(BOB, DAN), (CAT, DAN)}
    third = opened(league, NEW_ADA, BOB, CAT, DAN, deals=1)
    assert {owing.line_up for owing in third.manifest.owings()} == {(NEW_ADA, BOB), (NEW_ADA, CAT), (NEW_ADA, DAN)}


def test_a_round_is_complete_when_all_but_what_a_withdrawal_sets_aside_is_there(store: Store) -> None:
    league = League(store)
    one = opened(league, ADA, BOB, CAT, deals=8, max_faults=2)
    while not league.is_complete(one):
        block = next(one.schedule.owed(store.played(1), unwanted=league.withdrawals(one).sets_aside))
        store.add([game(one, block.line_up, deal, block.rotation, faulty=[ADA]) for deal in block.deals])
    assert league.withdrawn() == {ADA: 1}
    assert store.counts().games < one.schedule.count()
    assert store.played(1)[BOB, CAT] == dict.fromkeys(range(2), range(8))


def test_a_bot_that_is_gone_is_missing_and_its_games_unwanted(store: Store) -> None:
    league = League(store)
    one = opened(league, ADA, BOB, CAT)
    nobody = league.withdrawals(one)
    assert missing(one, {BOB, CAT, NEW_ADA}, nobody) == [ADA]
    not_wanted = unwanted({BOB, CAT, NEW_ADA}, nobody)
    assert [not_wanted(Block(table, 0, (0,))) for table in ((ADA, BOB), (ADA, CAT), (BOB, CAT))] == [True, True, False]
    with pytest.raises(InputError, match=re.escape(f"not among those given: ada ({ADA.hash[:8]})")):
        require_all(one, {BOB, CAT}, nobody)
    require_all(one, {ADA, BOB, CAT}, nobody)


def test_games_after_a_withdrawal_are_unwanted(store: Store) -> None:
    league = League(store)
    one = opened(league, ADA, BOB, CAT, deals=8, max_faults=2)
    store.add(games(one, faulty=[ADA]))
    not_wanted = unwanted({ADA, BOB, CAT}, league.withdrawals(one))
    found = [(ADA in block.line_up, not_wanted(block)) for block in one.schedule.owed({})]
    # The block in which ada came to its second fault is begun, whichever of ada's it is in the order of the schedule.
    assert Counter(found) == {(True, True): 3, (True, False): 1, (False, False): 2}


def test_a_bot_that_is_withdrawn_is_not_missed(store: Store) -> None:
    league = League(store)
    one = opened(league, ADA, BOB, CAT, deals=8, max_faults=2)
    store.add(games(one, faulty=[ADA]))
    assert missing(one, {BOB, CAT}, league.withdrawals(one)) == []
    require_all(one, {BOB, CAT}, league.withdrawals(one))


# -- rounds of other machines


def test_a_round_of_another_machine_is_taken_once(store: Store, tmp_path: Path) -> None:
    with open_store(tmp_path / "other.db", create=True) as other:
        other.claim()
        one = opened(League(other), ADA, BOB)
    league = League(store)
    assert league.take(one) == one
    assert league.open == one
    assert league.take(one) == one
    assert League(store).take(one) == one
    assert len(store.rounds()) == 1


def test_a_round_of_another_machine_is_refused_where_another_is_in_its_place(store: Store, tmp_path: Path) -> None:
    with open_store(tmp_path / "other.db", create=True) as other:
        other.claim()
        one = opened(League(other), ADA, BOB)
    league = League(store)
    ours = opened(league, ADA, BOB)
    for _ in range(2):
        with pytest.raises(DatabaseError, match=r"has a round 1 of its own: .* with --db"):
            league.take(one)
        assert [Round.of(kept).commitment for kept in store.rounds()] == [ours.commitment]
        if league.open:
            league.close(ours)


def test_a_round_of_another_league_is_refused_even_where_its_place_is_free(store: Store, tmp_path: Path) -> None:
    """Its deals may have numbers under which others were played here, so that it would never be complete."""
    with open_store(tmp_path / "other.db", create=True) as other:
        other.claim()
        theirs = League(other)
        theirs.close(opened(theirs, CAT, DAN))
        one = opened(theirs, ADA, BOB)
    league = League(store)
    ours = completed(league, store, opened(league, ADA, BOB))
    assert set(ours.manifest.owings()) == set(one.manifest.owings())
    with pytest.raises(DatabaseError, match=r"round 2 was not opened after round 1 of .*: they are of two leagues"):
        league.take(one)
    assert len(store.rounds()) == 1


def test_the_next_round_of_the_same_league_is_taken_after_the_last_or_alone(store: Store, tmp_path: Path) -> None:
    with open_store(tmp_path / "other.db", create=True) as other:
        other.claim()
        theirs = League(other)
        first = opened(theirs, ADA, BOB)
        theirs.close(first)
        second = opened(theirs, ADA, BOB, CAT)
    league = League(store)
    league.close(league.take(first))
    assert league.take(second) == second == league.open
    with open_store(tmp_path / "alone.db", create=True) as alone:
        alone.claim()
        assert League(alone).take(second) == second


def test_no_round_is_opened_where_an_earlier_one_is_not_known(store: Store, tmp_path: Path) -> None:
    """Its deals could be those that a round on another machine has."""
    with open_store(tmp_path / "other.db", create=True) as other:
        other.claim()
        theirs = League(other)
        theirs.close(opened(theirs, ADA, BOB))
        second = opened(theirs, ADA, BOB, CAT)
    league = League(store)
    completed(league, store, league.take(second))
    with pytest.raises(DatabaseError, match=r"has no round 1, and a new round is opened where all of them are"):
        opened(league, ADA, BOB, CAT, DAN)
    assert len(store.rounds()) == 1


def test_a_closed_round_that_comes_once_more_is_known_to_be_closed(store: Store) -> None:
    """Its secret may be known: whoever knows it has every deck, so nothing of it may be played."""
    league = League(store)
    one = opened(league, ADA, BOB)
    closed = league.close(one)
    assert not one.closed
    assert league.take(one) == closed
    assert closed.closed
    assert league.open is None


def test_a_round_whose_bots_are_not_all_here_is_not_kept(store: Store, tmp_path: Path) -> None:
    """Kept, it would be dropped and closed by the next run with the bots that are here, and its secret told."""
    with open_store(tmp_path / "theirs.db", create=True) as other:
        other.claim()
        theirs = opened(League(other), ADA, BOB)
    league = League(store)
    with pytest.raises(InputError, match="these are not among those given: bob"):
        league.take(theirs, {ADA})
    assert (league.rounds, store.rounds()) == ([], ())
    assert league.take(theirs, {ADA, BOB}) == theirs == league.open


def test_what_a_round_lacks_when_it_is_closed_is_kept_with_it(store: Store) -> None:
    league = League(store)
    one = opened(league, ADA, BOB)
    store.add(games(one)[:1])
    assert league.close(one).unplayed == one.manifest.count() - 1 == 3
    assert [kept.unplayed for kept in store.rounds()] == [3]
    assert Round.of(store.rounds()[0]).unplayed == 3


def test_a_round_of_another_machine_is_refused_before_it_is_taken(store: Store, tmp_path: Path) -> None:
    with open_store(tmp_path / "theirs.db", create=True) as other:
        other.claim()
        theirs = opened(League(other), ADA, BOB)
    league = League(store)
    with pytest.raises(DatabaseError, match=r"--move-time 1s, not 5ms \(give them as before"):
        league.check(terms(move_ms=5), theirs)
    league.check(terms(), theirs)
    assert league.rounds == []
