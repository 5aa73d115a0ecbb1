"""`--cluster`: on which machines games are played."""

from __future__ import annotations

import click

from referee.tournament.cluster.address import check_cluster


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
