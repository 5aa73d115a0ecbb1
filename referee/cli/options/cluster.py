"""`--cluster`: on which machines games are played."""

from __future__ import annotations

from collections.abc import Sequence

import click

from referee.bots.process import system
from referee.tournament.cluster.address import check_cluster
from referee.tournament.engine.engine import Engine
from referee.tournament.engine.pool import Pool
from referee.tournament.engine.worker_messages import Job


def _checked(ctx: click.Context, param: click.Parameter, address: str | None) -> str | None:
    del param
    if address is not None and not ctx.resilient_parsing:
        check_cluster(address)
    return address


cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    callback=_checked,
    help="Play on the workers of the Dask scheduler at ADDRESS, or of local:N on N that are started here. "
    "--jobs and --cores-per-bot say nothing then.",
)
"""`cluster: str | None`"""


def engine(cluster: str | None, jobs: Sequence[Job]) -> Engine:
    """What plays the blocks: a cluster, told as the first of `jobs` says, or a pool of this machine, one for each."""
    if cluster is None:
        return Pool(jobs, reaper=system.Reaper())
    from referee.tournament.cluster.engine import Cluster  # it takes a while to import

    return Cluster(cluster, jobs[0])
