"""How long a bot takes from nothing to `ready`, and to its end, at each tier that this machine has.

`python benchmarks/starts.py` starts the C bot again and again, tiers in turn, and prints medians and 95th percentiles
in milliseconds; and of the tiers that have cgroups here the same without them, and the ratio of the two.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from referee.bots.building.workshop import Workshop
from referee.bots.cache.prepare import prepare
from referee.bots.process.launcher import Launcher
from referee.bots.process.limits import Limits
from referee.bots.process.system import Reaper
from referee.bots.sandbox.cgroups import home_or_none
from referee.bots.sandbox.launching import SandboxLauncher
from referee.bots.sandbox.probing import launcher_for, prove
from referee.bots.seat.player import BotPlayer
from referee.bots.source.manifest import read_bot
from referee.bots.tiers import Tier, TierUnavailable
from referee.play import SystemClock

WITHOUT = " without cgroups"
BOT = Path(__file__).parent / "scanner"


def provable() -> list[Tier]:
    """The tiers that this machine has."""
    found = []
    for tier in Tier:
        try:
            prove(tier)
        except TierUnavailable as why:
            print(f"tier {tier}: {why}")
        else:
            found.append(tier)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=100)
    options = parser.parse_args()
    bot, reaper, clock = prepare(read_bot(BOT), builder=Workshop(Tier.D)), Reaper(), SystemClock()
    begun: defaultdict[str, list[float]] = defaultdict(list)
    ended: defaultdict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        kinds = launchers(Path(folder), reaper)
        for _ in range(options.starts):
            for kind, launcher in kinds.items():
                player = BotPlayer(bot, launcher=launcher, clock=clock, limits=Limits())
                times = [time.perf_counter()]
                player.start()
                times.append(time.perf_counter())
                player.kill()
                times.append(time.perf_counter())
                begun[kind].append((times[1] - times[0]) * 1e3)
                ended[kind].append((times[2] - times[1]) * 1e3)
    for kind in kinds:
        print(f"tier {kind}: to ready {_words(begun[kind])}; to its end {_words(ended[kind])}")
    for kind in (kind for kind in kinds if f"{kind}{WITHOUT}" in kinds):
        both = [[a + b for a, b in zip(begun[one], ended[one], strict=True)] for one in (kind, f"{kind}{WITHOUT}")]
        print(f"tier {kind} over the same{WITHOUT}: {statistics.median(both[0]) / statistics.median(both[1]):.2f}")


def launchers(folder: Path, reaper: Reaper) -> dict[str, Launcher]:
    """What starts bots at each tier, in an order in which what is compared stands together."""
    found: dict[str, Launcher] = {}
    for tier in provable():
        found[tier.value] = launcher_for(tier, scratch=folder, reaper=reaper)
        if isinstance(found[tier.value], SandboxLauncher) and home_or_none() is not None:
            found[f"{tier}{WITHOUT}"] = SandboxLauncher(tier, reaper=reaper, grouped=False)
    return found


def _words(times: list[float]) -> str:
    return f"{statistics.median(times):.1f} ms (95%: {statistics.quantiles(times, n=20)[-1]:.1f})"


if __name__ == "__main__":
    main()
