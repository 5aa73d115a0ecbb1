"""What follows from games that come to nothing: trials, in what order, and whom what they show has charged."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from workers import line_up, plain

from referee.errors import RefereeError
from referee.record import Bot
from referee.tournament.engine.block import Parked
from referee.tournament.engine.inquiry import Charged, Inquiry, Play, Ruling, StaysOwed
from referee.tournament.engine.losses import LostGame
from referee.tournament.engine.trials import Showing, Tried
from referee.tournament.engine.worker_messages import Finished
from referee.tournament.rounds.schedule import Block, Trial, game_of

FIRST, LAST, MIDDLE = (plain(name).manifest.identity for name in ("first", "last", "middle"))
PAIR = line_up(plain("first"), plain("last"))
MOVES = (("a",), ("b", "c"))


def parked(deal: int = 0, rotation: int = 0) -> Finished:
    """A game of the pair was void each time."""
    one = Parked(game_of(b"s" * 16, PAIR, deal, rotation), "no memory", MOVES)
    return Finished((), (one,), done=True)


def answer(inquiry: Inquiry, block: Block, showing: Showing) -> list[Ruling]:
    """What follows when the trial of a block shows this."""
    assert block.trial is not None
    tried = Tried(block.trial, showing, 5, "it was late")
    return list(inquiry.hear(Finished((), (), done=True, tried=(tried,))))


def trial(rulings: Iterable[Ruling]) -> Block:
    """The trial that is the only thing asked for."""
    (ruling,) = rulings
    assert isinstance(ruling, Play)
    assert ruling.block.trial is not None
    return ruling.block


def tried(inquiry: Inquiry, *guilty: Bot, rulings: Iterable[Ruling]) -> tuple[list[Bot | None], list[Ruling]]:
    """Hold trials as long as some are asked for: of whom they are, and what follows in the end."""
    order: list[Bot | None] = []
    while True:
        came = list(rulings)
        asked = [one.block for one in came if isinstance(one, Play) and one.block.trial is not None]
        if not asked:
            return order, came
        (block,) = asked
        assert block.trial is not None
        order.append(block.trial.bot)
        rulings = answer(inquiry, block, Showing.VOID if block.trial.bot in guilty else Showing.PLAYED)


def test_ours_are_tried_first_and_then_each_bot_by_the_moves_that_were_heard() -> None:
    inquiry = Inquiry()
    ours = trial(inquiry.hear(parked()))
    assert ours == Block(PAIR, 0, (0,), trial=Trial(1))
    first = trial(answer(inquiry, ours, Showing.PLAYED))
    assert first == Block(PAIR, 0, (0,), trial=Trial(2, FIRST, MOVES))
    last = trial(answer(inquiry, first, Showing.PLAYED))
    assert last == Block(PAIR, 0, (0,), trial=Trial(3, LAST, MOVES))


def test_where_nothing_is_shown_the_game_stays_owed_and_nobody_is_charged() -> None:
    inquiry = Inquiry()
    case = parked()
    order, rulings = tried(inquiry, rulings=inquiry.hear(case))
    assert order == [None, FIRST, LAST]
    assert rulings == [StaysOwed(case.parked[0])]
    assert inquiry.mark(Block(PAIR, 0, (1,))) == Block(PAIR, 0, (1,))


def test_where_ours_come_to_nothing_the_run_ends_and_nobody_is_charged() -> None:
    inquiry = Inquiry()
    with pytest.raises(RefereeError, match="programs of the referee's own \\(it was late\\)"):
        answer(inquiry, trial(inquiry.hear(parked())), Showing.VOID)


def test_where_ours_come_to_nothing_after_the_trial_the_bot_is_not_charged() -> None:
    inquiry = Inquiry()
    first = trial(answer(inquiry, trial(inquiry.hear(parked())), Showing.PLAYED))
    last = trial(answer(inquiry, first, Showing.VOID))
    again = trial(answer(inquiry, last, Showing.PLAYED))
    assert again.trial == Trial(4)
    with pytest.raises(RefereeError):
        answer(inquiry, again, Showing.VOID)


def test_who_is_found_out_is_absent_from_the_game_and_not_tried_again() -> None:
    inquiry = Inquiry()
    order, (charged, played) = tried(inquiry, LAST, rulings=inquiry.hear(parked()))
    assert order == [None, FIRST, LAST, None]
    assert isinstance(charged, Charged)
    assert charged.bot == LAST
    assert isinstance(played, Play)
    ((bot, detail),) = played.block.absent
    assert bot == LAST
    assert detail.startswith("games with it come to nothing, and alone among stand-ins of the referee's it made 5 ")
    assert detail.endswith("the last time, no memory")
    assert played.block.replays == 2

    assert inquiry.mark(Block(PAIR, 0, (1,))).replays == 0
    assert inquiry.mark(Block((FIRST, MIDDLE), 0, (1,))).replays == 2
    order, (played,) = tried(inquiry, rulings=inquiry.hear(parked(deal=1)))
    assert order == [None]
    assert isinstance(played, Play)
    assert [bot for bot, _ in played.block.absent] == [LAST]


def test_where_it_comes_to_nothing_without_the_first_culprit_too_the_others_are_tried() -> None:
    inquiry = Inquiry()
    tried(inquiry, LAST, rulings=inquiry.hear(parked()))
    order, rulings = tried(inquiry, FIRST, rulings=inquiry.hear(parked()))
    assert order == [None, FIRST, None]
    played = rulings[-1]
    assert isinstance(played, Play)
    assert [bot for bot, _ in played.block.absent] == [LAST, FIRST]


@pytest.mark.parametrize(("ours", "guilty"), [(False, [LAST]), (True, [])])
def test_a_trial_that_costs_its_workers_shows_something_unless_they_ended_by_an_error_of_ours(
    ours: bool, guilty: list[Bot]
) -> None:
    inquiry = Inquiry()
    first = trial(answer(inquiry, trial(inquiry.hear(parked())), Showing.PLAYED))
    last = trial(answer(inquiry, first, Showing.PLAYED))
    lost = LostGame(PAIR, 0, 0, "it was killed by SIGKILL", 3, last.trial, (), ours)
    _, rulings = tried(inquiry, rulings=inquiry.hear(lost))
    assert [one.bot for one in rulings if isinstance(one, Charged)] == guilty


def test_cases_that_come_meanwhile_wait_for_a_game_of_ours_of_their_own() -> None:
    inquiry = Inquiry()
    ours = trial(inquiry.hear(parked()))
    assert list(inquiry.hear(parked(deal=1))) == []
    order, rulings = tried(inquiry, rulings=answer(inquiry, ours, Showing.PLAYED))
    assert order == [FIRST, LAST, None, FIRST, LAST]
    assert isinstance(rulings[-1], StaysOwed)


def test_what_is_open_when_a_run_ends_stays_owed_and_a_late_answer_is_not_heard() -> None:
    inquiry = Inquiry()
    ours = trial(inquiry.hear(parked()))
    list(inquiry.hear(parked(deal=1)))
    assert [one.game.deal for one in inquiry.give_up() if isinstance(one, Parked)] == [0, 1]
    assert answer(inquiry, ours, Showing.VOID) == []
    assert trial(inquiry.hear(parked(deal=2))).deals == (2,)
