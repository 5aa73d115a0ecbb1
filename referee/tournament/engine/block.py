"""Playing a block: some games of one line-up in one rotation, by one set of processes, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Launcher
from referee.bots.process.pondering import PonderingMonitor
from referee.bots.process.process import Tap
from referee.bots.sandbox.probing import as_recorded
from referee.bots.seat.conversation import QUIT_GRACE
from referee.bots.seat.player import BotPlayer
from referee.cards import names
from referee.errors import VoidGame
from referee.play import Clock, DealtGame, Player, play_game
from referee.record import Bot, GameRecord
from referee.tournament.engine.table_players import ForfeitedPlayer, Moves, Moving, ObservedPlayer, Told
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.schedule import REPLAYS, GameSpec

_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Void:
    """An attempt at a game that came to nothing, and why."""

    game: GameSpec
    reason: str


@dataclass(frozen=True, slots=True)
class Parked:
    """A game all of whose attempts were void, the reason of the last one, and how far it came."""

    game: GameSpec
    reason: str
    moves: Moves = ()


@dataclass(frozen=True, slots=True)
class BlockListener:
    """Who is told what while a block is played: of void attempts, and, where that is wanted, of each move."""

    void: Callable[[Void], None] = lambda _: None
    moved: Told | None = None


def play_block(
    games: Iterable[GameSpec],
    *,
    bots: Mapping[Bot, Prepared],
    conditions: Conditions,
    launcher: Launcher,
    clock: Clock,
    taps: Callable[[GameSpec], Sequence[Tap]] | None = None,
    known_ponderers: set[str] | None = None,
    absent: Mapping[Bot, str] | None = None,
    replays: int = REPLAYS,
    ears: BlockListener | None = None,
) -> Generator[GameRecord | Parked, None, None]:
    """Play `games`, which are between the same bots, yielding each as soon as it is over.

    Closing the iterator ends the bots' processes. `taps` gives a listener for each seat before a game.
    `known_ponderers` is that of `PonderingMonitor`, `absent` and `replays` are those of `Block`.
    """
    absent, ears = absent or {}, ears or BlockListener()
    players: dict[Bot, list[BotPlayer]] = {}
    monitor = PonderingMonitor(clock, known_ponderers)
    try:
        for game in games:
            if not players:
                for bot in game.seats:
                    players.setdefault(bot, []).append(player_of(bots[bot], conditions, launcher, clock, monitor))
            table = _seated(players, game.seats)
            if taps is not None:
                for player, tap in zip(table, taps(game), strict=True):
                    player.listen(tap)
            yield _Playing(game, table, absent, conditions, clock, ears).until_valid(replays)
    finally:
        stop([player for copies in players.values() for player in copies], clock)


def _seated(players: Mapping[Bot, Sequence[BotPlayer]], seats: Sequence[Bot]) -> list[BotPlayer]:
    """The players by seat: from deal to deal the circle changes, and with it who sits where."""
    waiting = {bot: iter(copies) for bot, copies in players.items()}
    return [next(waiting[bot]) for bot in seats]


def player_of(
    bot: Prepared, conditions: Conditions, launcher: Launcher, clock: Clock, monitor: PonderingMonitor | None = None
) -> BotPlayer:
    """A bot as it sits at a table under these conditions; without `monitor` it is the only one."""
    return BotPlayer(
        bot, launcher=launcher, clock=clock, limits=conditions.limits, reuse=conditions.processes, monitor=monitor
    )


@dataclass(frozen=True, slots=True)
class _Playing:
    """A game, who is there to play it, and how."""

    game: GameSpec
    bots: list[BotPlayer]
    absent: Mapping[Bot, str]
    conditions: Conditions
    clock: Clock
    ears: BlockListener

    def until_valid(self, replays: int) -> GameRecord | Parked:
        """The game, or that its attempts, `replays` of them after the first, were all void.

        Whose doing a void attempt was is charged with the game, as if absent, and that attempt is not counted.
        """
        reason, moving, culprits = "", Moving(), dict[int, str]()
        attempt = 0
        while attempt <= replays:
            try:
                # Whoever listens costs every decision a little: in the usual case nobody does.
                table = self._table(moving if attempt else None, culprits)
                return _with_idle(play_once(self.game, table, self.conditions, self.clock), self.bots)
            except VoidGame as void:
                reason = str(void)
                for player in self.bots:
                    player.kill()
                if void.culprit is None or void.culprit in culprits:
                    self.ears.void(Void(self.game, reason))
                    attempt += 1
                else:
                    culprits[void.culprit] = reason
        return Parked(self.game, reason, moving.moves())

    def _table(self, moving: Moving | None, culprits: Mapping[int, str]) -> list[Player]:
        table: list[Player] = []
        for seat, (bot, player) in enumerate(zip(self.game.seats, self.bots, strict=True)):
            charge = culprits.get(seat, self.absent.get(bot))
            one: Player = player if charge is None else ForfeitedPlayer(charge)
            for told in (self.ears.moved, None if moving is None else moving.told):
                one = one if told is None else ObservedPlayer(one, seat, told)
            table.append(one)
        return table


def play_once(game: GameSpec, table: Sequence[Player], conditions: Conditions, clock: Clock) -> GameRecord:
    """Play a game. Raises VoidGame, and then the players have to be ended."""
    began = clock.now()
    rules = conditions.rules
    played = play_game(
        DealtGame(game.game_id, rules, game.deck, game.seeds), table, clock=clock, pace=conditions.pace_ms * _MS
    )
    return GameRecord(
        version=game.version,
        round=game.round,
        isolation=as_recorded(conditions.isolation),
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


def _with_idle(record: GameRecord, bots: Sequence[BotPlayer]) -> GameRecord:
    """Return the record with what each bot's processes did while others were asked."""
    found = [bot.take_pondering() for bot in bots]
    idle = tuple([one.cpu_ms for one in found])
    held = tuple([seat for seat, one in enumerate(found) if one.suspended])
    return msgspec.structs.replace(record, idle_cpu_ms=idle, held=held)


def stop(table: Sequence[BotPlayer], clock: Clock) -> None:
    """Let the processes of some players quit side by side, and end them."""
    for player in table:
        player.say_quit()
    by = clock.now() + QUIT_GRACE
    for player in table:
        player.stop(by=by)
