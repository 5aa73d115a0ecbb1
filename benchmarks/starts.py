"""How long a bot takes from nothing to `ready`, and to its end, at each tier that this machine has.

`python benchmarks/starts.py` starts the C bot again and again, tiers in turn, and prints medians and 95th percentiles
in milliseconds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from referee.bots.limits import Limits
from referee.bots.manifest import read_bot
from referee.bots.player import BotPlayer
from referee.bots.prepare import prepare
from referee.bots.sandbox.building import Workshop
from referee.bots.sandbox.probing import launcher_for, prove
from referee.bots.sandbox.tiers import Tier, Unproven
from referee.bots.system import Reaper
from referee.play import SystemClock

BOT = Path(__file__).parents[1] / "example_bots" / "greedy-c"


def provable() -> list[Tier]:
    """The tiers that this machine has."""
    found = []
    for tier in Tier:
        try:
            prove(tier)
        except Unproven as why:
            print(f"tier {tier}: {why}")
        else:
            found.append(tier)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=100)
    options = parser.parse_args()
    bot, reaper, clock = prepare(read_bot(BOT), builder=Workshop(Tier.D)), Reaper(), SystemClock()
    tiers = provable()
    begun: dict[Tier, list[float]] = {tier: [] for tier in tiers}
    ended: dict[Tier, list[float]] = {tier: [] for tier in tiers}
    with tempfile.TemporaryDirectory() as folder:
        launchers = {tier: launcher_for(tier, scratch=Path(folder), reaper=reaper) for tier in tiers}
        for _ in range(options.starts):
            for tier, launcher in launchers.items():
                player = BotPlayer(bot, launcher=launcher, clock=clock, limits=Limits())
                times = [time.perf_counter()]
                player.start()
                times.append(time.perf_counter())
                player.kill()
                times.append(time.perf_counter())
                begun[tier].append((times[1] - times[0]) * 1e3)
                ended[tier].append((times[2] - times[1]) * 1e3)
    for tier in tiers:
        print(f"tier {tier}: to ready {_words(begun[tier])}; to its end {_words(ended[tier])}")


def _words(times: list[float]) -> str:
    return f"{statistics.median(times):.1f} ms (95%: {statistics.quantiles(times, n=20)[-1]:.1f})"


if __name__ == "__main__":
    main()
