"""Results in, standings out: pure functions of the set of games, whatever the order in which they were played."""

from referee.ratings.standings import Row, Standings, Table, rate

__all__ = ["Row", "Standings", "Table", "rate"]
