"""From paths to bots that can be started."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from referee.bots.cache.build import Builder, BuildTask
from referee.bots.cache.prepare import Prepared, prepare
from referee.bots.cache.scratch import sweep
from referee.bots.process.limits import DEFAULT_BOX, Box
from referee.bots.source.manifest import BotSpec, find_bots
from referee.bots.source.programs import HOST, HostView
from referee.bots.tiers import Tier
from referee.contest.isolation import Isolation, Settled
from referee.contest.listener import Listener
from referee.errors import BotsRefused, InputError


@dataclass(slots=True)
class ReportingBuilder:
    """A builder that reports when it begins; `seconds` is how long its last build took."""

    real: Builder
    listener: Listener
    seconds: float | None = None

    def build(self, task: BuildTask) -> None:
        """See `Builder`."""
        self.listener.building(task.bot.identity.name)
        began = time.monotonic()
        self.real.build(task)
        self.seconds = round(time.monotonic() - began, 3)


@dataclass(frozen=True, slots=True)
class Programs:
    """Bots that are programs, prepared for a tier, and the limits of each."""

    bots: tuple[Prepared, ...]
    tier: Tier
    box: Box = DEFAULT_BOX


def ready_bots(
    paths: Sequence[Path],
    *,
    skip_refused: bool = False,
    view: HostView = HOST,
    builder: Builder | None = None,
    listener: Listener | None = None,
) -> list[Prepared]:
    """Return the bots at `paths`, in that order, copied and built; for `view` and `builder` see `prepare`.

    What killed runs left behind is removed first. Raises BotsRefused with every reason at once, unless `skip_refused`:
    then the listener hears the reasons, and the other bots are returned.
    """
    listener = listener or Listener()
    sweep()
    found = find_bots(paths, view)
    refused: dict[str, str] = {str(path): reason for path, reason in found.refused.items()}
    ready: list[Prepared] = []
    if builder is not None:
        builder = ReportingBuilder(builder, listener)
    for bot in found.bots:
        try:
            ready.append(prepare(bot, view=view, builder=builder))
        except BotsRefused as error:
            refused.update(error.reasons)
    if refused and not skip_refused:
        raise BotsRefused(refused)
    for path, reason in found.passed_over.items():
        listener.passed_over(path, reason)
    for name, reason in refused.items():
        listener.refused(name, reason)
    return ready


def load_bots(
    *paths: str | Path,
    isolation: Isolation | Settled | None = None,
    skip_refused: bool = False,
    listener: Listener | None = None,
) -> Programs:
    """Return the bots at some paths, such as `bots/*`, prepared for the best isolation tier of this machine.

    With `skip_refused` bots that cannot play are left out. Raises InputError if a bot cannot play, or if the tier that
    `isolation` asks for cannot be had.
    """
    settled = isolation if isinstance(isolation, Settled) else (isolation or Isolation()).settle()
    found = ready_bots(
        list(_matching(paths)),
        skip_refused=skip_refused,
        view=settled.view,
        builder=settled.builder(),
        listener=listener,
    )
    return Programs(tuple(found), settled.tier, settled.box)


def _matching(paths: Iterable[str | Path]) -> Iterable[Path]:
    for path in paths:
        if isinstance(path, Path) or not has_magic(path) or Path(path).exists():
            yield Path(path)
            continue
        found = sorted(glob(path))  # noqa: PTH207 - pathlib's would match hidden files
        if not found:
            raise InputError(f"nothing matches {path!r}")
        yield from map(Path, found)


def check_plays(bots: Sequence[BotSpec], players: int) -> None:
    """Raise InputError if a bot cannot sit at a table of `players`."""
    for bot in bots:
        if players not in bot.players:
            plays = ", ".join(map(str, sorted(bot.players)))
            raise InputError(f"{bot.identity.name} plays at tables of {plays} (see its bot.toml), not of {players}")
