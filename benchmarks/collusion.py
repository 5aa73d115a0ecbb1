"""How often `referee collusion` names honest pairs, what collusion it finds, and what it costs.

`python benchmarks/collusion.py` prints everything; `--only` one part, `--share 0.1` a tenth of the leagues.

- luck: made-up leagues of `tests/support/leagues.py` without side effects. Named at most as often as `--alpha` says?
- sides: the same with side effects of growing size, which no bound covers.
- rules: leagues of honest manners of play of `manners.py` under the real rules.
- power: made-up leagues and real rules with a pair that helps itself.
- threshold: what Bonferroni asks of the clearest pair, and what a wild bootstrap of the largest would ask.
- cost: time and memory of a large league.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations
from math import sqrt
from pathlib import Path
from random import Random

import numpy as np
from manners import HONEST, Careless, Manner, Memory, Partner, Shy, Sloppy, games

from referee.ratings.data.games import collect
from referee.ratings.maths.student import quantile
from referee.ratings.pairs.collusion import ALPHA, CollusionReport, suspicious
from referee.ratings.pairs.excess import ExcessSums, excesses, parts_of
from referee.ratings.pairs.meetings import meetings
from referee.record import GameResult

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
from leagues import League

HELPED = (0, 1)


def share(count: int, of: int) -> str:
    """A share with its Monte Carlo standard error."""
    part, least = count / of, 1 / (of + 1)
    return f"{part:.4f} ± {sqrt(max(part * (1 - part), least * (1 - least)) / of):.4f} of {of}"


def told(title: str, reports: Iterable[CollusionReport], pair: tuple[str, str] | None = None) -> None:
    """How often anybody was named, and how often the pair that helps itself."""
    wrong = right = total = 0
    excess, spread = [], []
    whom: Counter[str] = Counter()
    for report in reports:
        total += 1
        named = {tuple(bot.name for bot in one.bots) for one in report.named}
        right += pair in named
        wrong += bool(named - {pair})
        whom.update(" + ".join(one) for one in named - {pair})
        excess += [one.excess for one in report.pairs if tuple(bot.name for bot in one.bots) == pair]
        spread += [table.spread for table in report.tables if table.spread is not None]
    found = f"; found {share(right, total)}, mean excess {np.mean(excess):.3f}" if pair else ""
    often = ", ".join(f"{one} {times}" for one, times in whom.most_common(3))
    print(
        f"{title}: named wrongly {share(wrong, total)}{f' ({often}, …)' if often else ''}{found};"
        f" spread {np.mean(spread):.4f}",
        flush=True,
    )


def made_up(leagues: int, seed: int, *, alpha: float = ALPHA, **options: object) -> Iterable[CollusionReport]:
    """Reports of made-up leagues; `bots` says how many, with strengths of their own, unless `strengths` are given."""
    dice = np.random.default_rng(seed)
    bots = options.pop("bots")
    for _ in range(leagues):
        league = League(strengths=dice.normal(scale=0.5, size=bots).tolist(), **options)  # type: ignore[arg-type]
        yield suspicious(league.results(dice), alpha=alpha, margin=0.0)


SIZES = [
    ({"players": 3, "bots": 5, "deals": 10}, 4000),
    ({"players": 3, "bots": 6, "deals": 4}, 3000),
    ({"players": 3, "bots": 10, "deals": 4}, 800),
    ({"players": 4, "bots": 6, "deals": 10}, 2000),
    ({"players": 4, "bots": 8, "deals": 2}, 1000),
    ({"players": 4, "bots": 12, "deals": 2, "line_ups": 200}, 200),
    ({"players": 6, "bots": 8, "deals": 4}, 500),
]


def luck(scale: float) -> None:
    for number, (options, leagues) in enumerate(SIZES):
        for alpha in ALPHA, 0.05:
            reports = made_up(int(leagues * scale), number, alpha=alpha, **options)
            told(f"luck, alpha {alpha:g}, {options}", reports)


def sides(scale: float) -> None:
    for bots in 6, 10:
        for side in 0.05, 0.1, 0.2:
            options = {"players": 3, "bots": bots, "deals": 30, "side": side}
            told(f"sides {side}, {bots} bots", made_up(int(400 * scale * 6 / bots), 1, **options))


def real(leagues: int, players: int, bots: int, deals: int) -> Iterable[CollusionReport]:
    """Leagues of honest manners, drawn from all of them."""
    for number in range(leagues):
        names = sorted(Random(number).sample(sorted(HONEST), bots))
        line_ups = list(combinations(names, players))
        yield suspicious(games(HONEST, line_ups, range(deals), f"{players} {number}"))


def rules(scale: float) -> None:
    for players, bots, deals, leagues in (3, 6, 100, 100), (3, 8, 60, 50), (4, 7, 30, 50), (6, 9, 10, 20):
        reports = real(int(leagues * scale), players, bots, deals)
        told(f"rules, {players} players, {bots} of {len(HONEST)} manners, {deals} deals", reports)


ORDINARY: dict[str, type[Manner]] = {
    "greedy": Manner, "memory": Memory, "shy": Shy, "careless": Careless, "sloppy": Sloppy
}  # fmt: skip


def helped(leagues: int, players: int, deals: int) -> Iterable[CollusionReport]:
    """Five ordinary bots and two partners under the real rules."""
    bots = ORDINARY | {"ann": Partner, "ben": Partner}
    line_ups = list(combinations(sorted(bots), players))
    for number in range(leagues):
        yield suspicious(games(bots, line_ups, range(deals), f"helped {players} {number}"))


def power(scale: float) -> None:
    pair = tuple(f"b{bot:03}" for bot in HELPED)
    for help_ in 0.1, 0.2, 0.3, 0.5:
        for one_way in False, True:
            helps = {HELPED: (2 * help_, 0.0) if one_way else (help_, help_)}
            options = {"players": 3, "bots": 6, "deals": 50, "side": 0.05, "help": helps}
            told(f"power, help {helps[HELPED]}", made_up(int(100 * scale), 3, **options), pair)
    for players, deals in (3, 30), (3, 100), (3, 300), (4, 30), (4, 100):
        count = 7 * 5 * deals * players
        reports = helped(int(20 * scale), players, deals)
        told(f"power, partners under the rules, {players} players, {count} games", reports, ("ann", "ben"))


def threshold(_: float) -> None:
    """Signs of whole deals, by line-up: with many deals the sums over them are normal, so normal ones are drawn."""
    dice = np.random.default_rng(5)
    for players, bots, deals in (3, 6, 50), (4, 10, 10), (3, 14, 10):
        (table,) = collect(League(players=players, strengths=[0.0] * bots, deals=deals).results(dice))
        met = list(meetings(table))
        sums = ExcessSums(bots, met)
        upper = np.triu_indices(bots, 1)
        rows = []
        for meeting in met:
            for part in parts_of(sums, meeting):
                whole = np.zeros((bots, bots))
                whole[meeting.members] = part
                rows.append((whole + whole.T)[upper])
        parts = np.array(rows)
        errors = np.sqrt((parts**2).sum(axis=0))
        largest = [(dice.choice([-1.0, 1.0], size=(500, len(parts))) @ parts / errors).max(axis=1) for _ in range(100)]
        freedom = float(np.median(excesses(bots, met).freedom[upper]))
        wild = np.quantile(np.concatenate(largest), 1 - ALPHA)
        pairs = len(errors)
        normal, student = (quantile(ALPHA / pairs, degrees) for degrees in (float("inf"), freedom))
        print(
            f"threshold, {players} players, {pairs} pairs, {len(parts)} deals: wild bootstrap of the largest"
            f" {wild:.2f}, Bonferroni normal {normal:.2f}, t {student:.2f}"
        )


def memory(what: str) -> int:
    """KiB of this process, by the kernel's name for them."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(what))


def cost(scale: float) -> None:
    dice = np.random.default_rng(9)
    for bots, deals in (20, 13), (20, 125):
        league = League(players=4, strengths=[0.0] * bots, deals=int(deals * max(scale, 0.1)), line_ups=2000)
        results: list[GameResult] = league.results(dice)
        Path("/proc/self/clear_refs").write_text("5")  # begins the high water mark anew
        before = memory("VmRSS")
        began = time.process_time()
        report = suspicious(iter(results))
        spent = time.process_time() - began
        grown = (memory("VmHWM") - before) / 1024
        print(
            f"cost: {len(results)} games, {len(report.pairs)} pairs: {spent:.1f} s of a processor,"
            f" {spent * 1e5 / len(results):.1f} s for 100,000; at most {grown:.0f} MiB more",
            flush=True,
        )


PARTS: dict[str, Callable[[float], None]] = {
    part.__name__: part for part in (luck, sides, rules, power, threshold, cost)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--share", type=float, default=1.0)
    options = parser.parse_args()
    for name, part in PARTS.items():
        if options.only in (None, name):
            part(options.share)


if __name__ == "__main__":
    main()
