"""Rounds to merge and to check: real games, due by the round's secret, played in memory by dice, each but once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from itertools import combinations, islice
from pathlib import Path
from random import Random
from typing import Literal

from records import Dice

from referee.bots.process.limits import Limits
from referee.cards import names
from referee.play import DealtGame, SystemClock, play_game
from referee.record import Bot, GameRecord, LineUp
from referee.rules import DEFAULT_RULES
from referee.store import Store, Stored, open_store
from referee.tournament.planning.league import League
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.derivation import Derivation
from referee.tournament.rounds.rounds import Entry, Round, RoundManifest, parts_of
from referee.tournament.rounds.schedule import WHOLE, Owing, Share, game_of
from referee.tournament.rounds.seating import Seating

ADA, BOB, CAT, DAN = (Bot(name, f"{number}{name[0]}" * 32) for number, name in enumerate(("ada", "bob", "cat", "dan")))
SECRET = bytes(range(16))


def a_round(
    bots: Sequence[Bot] = (ADA, BOB, CAT),
    *,
    sizes: Sequence[int] = (2,),
    first: int = 0,
    deals: int = 4,
    after: Round | None = None,
    secret: bytes = SECRET,
    max_faults: int | None = None,
    block_size: int = 50,
    form: Literal[1, 2] = 2,
) -> Round:
    """A round of all line-ups of some bots, behind another one of its season."""
    owings = [Owing(line_up, first, deals) for size in sizes for line_up in combinations(sorted(bots), size)]
    manifest = RoundManifest(
        format=form,
        season=1,
        round=1 if after is None else after.number + 1,
        previous=None if after is None else after.commitment,
        conditions=Conditions(DEFAULT_RULES, Limits()),
        max_faults=max_faults,
        block_size=block_size,
        bots=tuple(Entry(name=bot.name, hash=bot.hash, players=tuple(sizes)) for bot in sorted(bots)),
        parts=parts_of(tuple(sorted(bots)), owings),
    )
    return Round(text=manifest.to_json(), secret=secret)


@cache
def _game(
    secret: bytes,
    number: int,
    line_up: LineUp,
    deal: int,
    rotation: int,
    faulty: frozenset[Bot],
    way: str,
    form: int,
    seating: Seating | None,
) -> Stored:
    derivation = Derivation(form, {} if seating is None else {line_up: seating})
    spec = game_of(secret, line_up, deal, rotation, of_round=number, derivation=derivation)
    dice = Random(spec.game_id + way)
    charged = [bot in faulty and dice.random() < 0.5 for bot in spec.seats]
    players = [Dice(dice, fault=dice.randrange(3) if is_charged else None) for is_charged in charged]
    table = DealtGame(spec.game_id, DEFAULT_RULES, spec.deck, spec.seeds)
    steps, faults, outcome = play_game(table, players, clock=SystemClock())
    record = GameRecord(
        version=spec.version,
        round=number,
        game_id=spec.game_id,
        seats=spec.seats,
        deal=deal,
        rotation=rotation,
        rules=DEFAULT_RULES,
        key=spec.key.hex() if spec.key else None,
        deck=tuple(names(spec.deck)),
        seeds=spec.seeds,
        steps=steps,
        faults=faults,
        reason=outcome.reason,
        places=outcome.places,
        hand_sizes=outcome.hand_sizes,
        forfeited=outcome.forfeited,
        ms=7,
    )
    return Stored.of(record)


def game(
    one: Round, line_up: LineUp, deal: int, rotation: int, *, faulty: Collection[Bot] = (), way: str = ""
) -> Stored:
    """One game of a round, the same whenever it is asked for; in another `way` it may end otherwise."""
    form, seating = one.derivation.format, one.derivation.seatings.get(line_up)
    return _game(one.secret, one.number, line_up, deal, rotation, frozenset(faulty), way, form, seating)


def games(one: Round, *, share: Share = WHOLE, faulty: Collection[Bot] = (), way: str = "") -> list[Stored]:
    """The games of a share of a round."""
    return [
        game(one, block.line_up, deal, block.rotation, faulty=faulty, way=way)
        for block in one.schedule.owed({}, share=share)
        for deal in block.deals
    ]


def database(path: Path, *rounds: Round, bots: Collection[Bot] = ()) -> Store:
    """A claimed database with some rounds, all but the last of them closed, between bots that were saved."""
    store = open_store(path, create=True)
    store.claim()
    league = League(store)
    for one in rounds:
        if league.open is not None:
            league.close(league.open)
        league.add(one)
        store.save_bots({bot: {"language": "Python"} for bot in bots or one.bots})
    return store


def play(store: Store, *, share: Share = WHOLE, faulty: Collection[Bot] = (), at_once: int = 1) -> None:
    """Play a share of the open round as a tournament does: `at_once` blocks are in hand before a fault is heard of.

    The round is closed where nothing is owed any more.
    """
    league = League(store)
    one = league.open
    assert one is not None
    while True:
        withdrawals = league.withdrawals(one)
        owed = one.schedule.owed(store.played(one.number), share=share, unwanted=withdrawals.sets_aside)
        blocks = list(islice(owed, at_once))
        if not blocks:
            break
        for block in blocks:
            played = [game(one, block.line_up, deal, block.rotation, faulty=faulty) for deal in block.deals]
            store.add(played)
    if league.is_complete(one):
        league.close(one)
