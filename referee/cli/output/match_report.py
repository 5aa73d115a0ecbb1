"""What `referee match` says: words for people, or one JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import click
import msgspec
from rich.markup import escape
from rich.table import Table

from referee.bots.process.limits import Limits
from referee.bots.source.manifest import BotSpec
from referee.cli.commands.replay import show_game
from referee.cli.output.display import SafeConsole
from referee.cli.output.words import in_json
from referee.ratings.scores.scores import half_points
from referee.record import GameRecord, Idling, rules_as_dict
from referee.rules import Rules
from referee.version import __version__


@dataclass(slots=True)
class _Total:
    """One bot's games; several copies of a bot at the table are told apart by a number."""

    name: str
    bot: BotSpec
    games: int = 0
    score: float = 0.0
    places: list[int] = field(default_factory=list)
    faults: int = 0
    decisions: int = 0
    slowest_us: int = 0
    spent_us: int = 0
    idle_cpu_ms: int = 0
    held: int = 0
    """In how many games."""

    @property
    def out_of_turn(self) -> str:
        """What it did while others were asked, as a sentence; empty where there is nothing to say."""
        words = Idling(self.idle_cpu_ms, self.held > 0).words
        often = f" in {self.held} of {self.games} games" if self.held else ""
        return f"{self.name} {words}{often}" if words else ""


class MatchReport:
    """Takes the games in as they end."""

    def __init__(self, table: Sequence[BotSpec], *, as_json: bool, show: bool, delay: float = 0) -> None:
        """With `show`, print each game, and wait `delay` seconds after each of its turns."""
        self._names = told_apart([bot.identity.name for bot in table])
        self._totals = [
            _Total(name, bot, places=[0] * len(table)) for name, bot in zip(self._names, table, strict=True)
        ]
        self._as_json = as_json
        self._show = show
        self._delay = delay
        self._games: list[dict[str, Any]] = []
        self.games = 0
        """How many were counted."""

    def add(self, record: GameRecord, seating: Sequence[int]) -> None:
        """Count a game; `seating` says which bot of the table sat at each seat."""
        self.games += 1
        for seat, place in enumerate(seating):
            self._count(self._totals[place], record, seat)
        seats = [self._names[place] for place in seating]
        if self._as_json:
            self._games.append(as_document(record, seats))
            return
        if self._show:
            show_game(record, names=seats, delay=self._delay)
        for fault in record.faults:
            click.echo(f"game {record.game_id}: {seats[fault.seat]}: {fault.verdict}: {fault.detail}", err=True)

    def _count(self, total: _Total, record: GameRecord, seat: int) -> None:
        players = len(record.places)
        total.games += 1
        total.places[record.places[seat] - 1] += 1
        total.score += half_points(record.places)[seat] / (2 * (players - 1))
        total.faults += seat in record.forfeited
        if (idling := record.idling(seat)) is not None:
            total.idle_cpu_ms += idling.cpu_ms
            total.held += idling.held
        for step in record.steps:
            if step.seat == seat:
                total.decisions += 1
                total.spent_us += step.us
                total.slowest_us = max(total.slowest_us, step.us)

    def finish(self, rules: Rules, limits: Limits, seed: str | None, seconds: float) -> None:
        """Print the totals."""
        if self._as_json:
            self._print_json(rules, limits, seed, seconds)
        else:
            self._print_table(seconds)

    def _print_json(self, rules: Rules, limits: Limits, seed: str | None, seconds: float) -> None:
        document = {
            "referee": __version__,
            "rules": rules_as_dict(rules),
            "limits": asdict(limits),
            "seed": seed,
            "games": self._games,
            "bots": [
                {
                    "name": total.name,
                    "hash": total.bot.identity.hash,
                    "games": total.games,
                    "score": round(total.score / total.games, 6) if total.games else None,
                    "places": total.places,
                    "faults": total.faults,
                    "decisions": total.decisions,
                    "mean_us": round(total.spent_us / total.decisions) if total.decisions else None,
                    "slowest_us": total.slowest_us,
                    "idle_cpu_ms": total.idle_cpu_ms,
                    "held": total.held,
                }
                for total in self._totals
            ],
            "decisions": sum(total.decisions for total in self._totals),
            "seconds": round(seconds, 3),
        }
        click.echo(in_json(document))

    def _print_table(self, seconds: float) -> None:
        table = Table("bot", *(f"{place}." for place in range(1, len(self._totals) + 1)))
        for heading in ("games", "score", "faults", "mean", "slowest"):
            table.add_column(heading, justify="right")
        for total in self._totals:
            table.add_row(
                escape(total.name),
                *map(str, total.places),
                str(total.games),
                f"{total.score / total.games:.3f}" if total.games else "",
                str(total.faults),
                _time(total.spent_us / total.decisions) if total.decisions else "",
                _time(total.slowest_us),
            )
        console = SafeConsole()
        console.print(table)
        for sentence in filter(None, (total.out_of_turn for total in self._totals)):
            console.print(sentence, highlight=False, markup=False, soft_wrap=True)
        decisions = sum(total.decisions for total in self._totals)
        console.print(f"{decisions} decisions in {seconds:.1f} s", highlight=False)


def told_apart(names: Sequence[str]) -> list[str]:
    """The names at a table; copies of a bot are numbered."""
    return [
        f"{name}#{names[: place + 1].count(name)}" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]


def as_document(record: GameRecord, seats: Sequence[str]) -> dict[str, Any]:
    """A game as `--json` prints it: the record, with the names at the table for its seats."""
    document: dict[str, Any] = msgspec.to_builtins(record)
    document["bots"] = document["seats"]
    document["seats"] = list(seats)
    return document


def _time(us: float) -> str:
    return f"{us:.0f} µs" if us < 1000 else f"{us / 1000:.1f} ms"
