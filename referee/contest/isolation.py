"""How bots are kept apart: the tier that is asked for, and the best that this machine has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from referee.bots.process import system
from referee.bots.process.limits import DEFAULT_BOX, Box
from referee.bots.process.workbench import DEFAULT_BUILD, BuildLimits
from referee.bots.source.programs import BOXED_PATH, HOST, HostView
from referee.bots.tiers import Tier, TierUnavailable

if TYPE_CHECKING:
    from referee.bots.cache.build import Builder
    from referee.tournament.rounds.rounds import Round


@dataclass(frozen=True, slots=True)
class Isolation:
    """How bots are to be kept apart.

    `tier` None is the best that this machine proves. `box` are the limits of each bot, `allowed` the folders beyond
    /usr that bots may read if they ask for them.
    """

    tier: Tier | None = None
    box: Box = DEFAULT_BOX
    allowed: tuple[Path, ...] = ()

    def settle(self, begun: Tier | None = None) -> Settled:
        """Return the tier to use. Raises InputError if it cannot be had.

        `begun` is the tier of the season so far, which holds if none is asked for.
        """
        from referee.bots.sandbox.probing import best, require, require_limits

        wanted = self.tier or begun
        system.raise_open_files()
        if wanted is not Tier.D:
            require_limits(self.box)
        if wanted is None:
            tier, missed = best()
            return Settled(tier, self, missed)
        require(wanted)
        return Settled(wanted, self)


@dataclass(frozen=True, slots=True)
class Settled:
    """A tier that this machine has, for what was asked; `missed` are better ones that it lacks, with the reasons."""

    tier: Tier
    asked: Isolation
    missed: Mapping[Tier, TierUnavailable] = field(default_factory=dict)

    @property
    def box(self) -> Box:
        """The limits of each bot."""
        return self.asked.box

    @property
    def view(self) -> HostView:
        """What bots see of this machine."""
        return HostView(BOXED_PATH, self.asked.allowed) if self.tier.is_boxed else HOST

    def builder(
        self, limits: BuildLimits = DEFAULT_BUILD, *, fetch: bool = False, passed: tuple[str, ...] = ()
    ) -> Builder:
        """Return what builds bots for this tier, in a box of it; without network unless `fetch`.

        `passed` are names of environment variables that builds with the network get besides the usual ones.
        At tiers C and D this process becomes the one that ends daemons that leave their build.
        """
        from referee.bots.building.workshop import Workshop

        reaper = system.Reaper() if self.tier in (Tier.C, Tier.D) else None
        return Workshop(self.tier, limits, fetch, reaper, passed)


def begun_tier(db: Path, carried: Round | None = None) -> Tier | None:
    """Return the tier of the season that is being played in a database, or of a round `carried` from another one."""
    from referee.store import is_begun, open_store
    from referee.tournament.planning.league import League

    if carried is not None:
        return carried.manifest.conditions.isolation
    if not is_begun(db):
        return None
    with open_store(db) as store:
        season = League(store).of_season()
        return season[0].manifest.conditions.isolation if season else None
