"""Playing a block: some games of one line-up in one rotation, by one set of processes, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from referee.bots.launcher import Launcher
from referee.bots.player import QUIT_GRACE, BotPlayer
from referee.bots.prepare import Prepared
from referee.bots.process import Tap
from referee.cards import names
from referee.errors import VoidGame
from referee.play import Clock, Game, play_game
from referee.record import Bot, GameRecord
from referee.tournament.conditions import Conditions
from referee.tournament.schedule import GameSpec

_MS = 1_000_000
REPLAYS = 2
"""How often a void game is played again before it is parked."""


@dataclass(frozen=True, slots=True)
class Parked:
    """A game that could not be played for the machine's own reasons, and the last of them; it stays owed."""

    game: GameSpec
    reason: str


def play_block(
    games: Iterable[GameSpec],
    *,
    bots: Mapping[Bot, Prepared],
    conditions: Conditions,
    launcher: Launcher,
    clock: Clock,
    taps: Callable[[GameSpec], Sequence[Tap]] | None = None,
) -> Generator[GameRecord | Parked, None, None]:
    """Play `games`, which are between the same bots, yielding each as soon as it is over.

    Closing the iterator ends the bots' processes. `taps` gives a listener for each seat before a game.
    """
    players: dict[Bot, list[BotPlayer]] = {}
    try:
        for game in games:
            if not players:
                for bot in game.seats:
                    players.setdefault(bot, []).append(_player(bots[bot], conditions, launcher, clock))
            table = _seated(players, game.seats)
            if taps is not None:
                for player, tap in zip(table, taps(game), strict=True):
                    player.listen(tap)
            yield _play_until_valid(game, table, conditions, clock)
    finally:
        _stop([player for copies in players.values() for player in copies], clock)


def _seated(players: Mapping[Bot, Sequence[BotPlayer]], seats: Sequence[Bot]) -> list[BotPlayer]:
    """The players by seat: from deal to deal the circle changes, and with it who sits where."""
    waiting = {bot: iter(copies) for bot, copies in players.items()}
    return [next(waiting[bot]) for bot in seats]


def _player(bot: Prepared, conditions: Conditions, launcher: Launcher, clock: Clock) -> BotPlayer:
    return BotPlayer(bot, launcher=launcher, clock=clock, limits=conditions.limits, reuse=conditions.processes)


def _play_until_valid(
    game: GameSpec, table: list[BotPlayer], conditions: Conditions, clock: Clock
) -> GameRecord | Parked:
    reason = ""
    for _ in range(1 + REPLAYS):
        try:
            return _play(game, table, conditions, clock)
        except VoidGame as void:
            reason = str(void)
            for player in table:
                player.kill()
    return Parked(game, reason)


def _play(game: GameSpec, table: list[BotPlayer], conditions: Conditions, clock: Clock) -> GameRecord:
    began = clock.now()
    rules = conditions.rules
    played = play_game(
        Game(game.game_id, rules, game.deck, game.seeds), table, clock=clock, pace=conditions.pace_ms * _MS
    )
    return GameRecord(
        round=game.round,
        isolation=conditions.isolation.value,
        game_id=game.game_id,
        seats=game.seats,
        deal=game.deal,
        rotation=game.rotation,
        rules=rules,
        key=None if game.key is None else game.key.hex(),
        deck=tuple(names(game.deck)),
        seeds=game.seeds,
        steps=played.steps,
        faults=played.faults,
        reason=played.outcome.reason,
        places=played.outcome.places,
        hand_sizes=played.outcome.hand_sizes,
        forfeited=played.outcome.forfeited,
        ms=(clock.now() - began) // _MS,
    )


def _stop(table: list[BotPlayer], clock: Clock) -> None:
    for player in table:
        player.say_quit()
    by = clock.now() + QUIT_GRACE
    for player in table:
        player.stop(by=by)
