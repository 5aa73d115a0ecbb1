"""What every bot did, counted in one pass over the games: scores, places, faults."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from referee.ratings.data.columns import Columns, Flags, Integers, columns, members, rated
from referee.ratings.data.games import Games
from referee.ratings.scores.means import Mean, MeanSums


@dataclass(frozen=True, slots=True)
class BotTally:
    """What one bot did at one table size.

    `score` and, by seat, `seats` are means over its rated games; `wins` (first place alone) and `places` (how often
    1st, 2nd, …) count those too. `faults` are the games, rated or not, in which it was at fault, and `unrated` those
    that count for nothing else.
    """

    score: Mean
    seats: tuple[Mean, ...]
    unrated: int
    wins: int
    faults: int
    places: tuple[int, ...]


class _Counts:
    """The sums behind the tallies of all bots."""

    def __init__(self, bots: int, players: int) -> None:
        self.players = players
        self.games = self.rated = self.deals = 0
        possible = 2 * (players - 1)
        self.scores, self.seats = MeanSums(bots, possible), MeanSums(bots * players, possible)
        self.unrated, self.wins, self.faults = (np.zeros(bots, np.int64) for _ in range(3))
        self.places = np.zeros((bots, players), np.int64)

    def add(self, batch: Columns, line_ups: Integers) -> None:
        """Count some whole deals."""
        counts = rated(batch, line_ups)
        self.games += len(counts)
        self.rated += int(counts.sum())
        self.deals += int(batch.deal[-1]) + 1
        seated = line_ups[batch.line_up[:, None], batch.positions]
        self._add_once(self.faults, seated, batch.faulty)
        self._add_once(self.unrated, seated, np.broadcast_to(~counts[:, None], seated.shape))
        batch, seated = batch.only(counts), seated[counts]
        np.add.at(self.places, (seated, batch.places - 1), 1)
        alone = (batch.places == 1).sum(axis=1, keepdims=True) == 1
        np.add.at(self.wins, seated[(batch.places == 1) & alone], 1)
        self._add_deals(batch, line_ups)

    def of(self, bot: int) -> BotTally:
        """What one bot did."""
        return BotTally(
            score=self.scores.mean(bot),
            seats=tuple(self.seats.mean(bot * self.players + seat) for seat in range(self.players)),
            unrated=int(self.unrated[bot]),
            wins=int(self.wins[bot]),
            faults=int(self.faults[bot]),
            places=tuple(self.places[bot].tolist()),
        )

    @staticmethod
    def _add_once(of_bots: Integers, seated: Integers, chosen: Flags) -> None:
        """Count a game for those of its bots that are chosen, once for a bot in two chosen seats."""
        bots = np.where(chosen, seated, -1)
        bots.sort(axis=1)
        new = bots >= 0
        new[:, 1:] &= bots[:, 1:] != bots[:, :-1]
        np.add.at(of_bots, bots[new], 1)

    def _add_deals(self, batch: Columns, line_ups: Integers) -> None:
        """Sums of half points by deal, member and seat."""
        if not len(batch.deal):
            return
        players = self.players
        shape = (int(batch.deal[-1]) + 1, players, players)
        at = (batch.deal[:, None], batch.positions, np.arange(players))
        points, games = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        np.add.at(points, at, batch.half_points())
        np.add.at(games, at, 1)
        of_deal = np.zeros(shape[0], np.int64)
        of_deal[batch.deal] = batch.line_up
        bots = np.broadcast_to(line_ups[of_deal][:, :, None], shape)
        played = games > 0
        self.seats.add((bots * players + np.arange(players))[played], points[played], games[played])
        whole = games.sum(axis=2)
        played = whole > 0
        self.scores.add(bots[:, :, 0][played], points.sum(axis=2)[played], whole[played])


@dataclass(frozen=True, slots=True)
class Tallies:
    """All that played: `games`, those of them that are `unrated`, the `deals` of both, and what every bot did."""

    games: int
    unrated: int
    deals: int
    bots: tuple[BotTally, ...]


def tally(games: Games) -> Tallies:
    """What every bot did, in the order of `games.bots`."""
    counts, line_ups = _Counts(len(games.bots), games.players), members(games)
    for batch in columns(games):
        counts.add(batch, line_ups)
    bots = tuple(counts.of(bot) for bot in range(len(games.bots)))
    return Tallies(counts.games, counts.games - counts.rated, counts.deals, bots)
