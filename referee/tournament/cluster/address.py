"""What `--cluster` may say, known without Dask."""

from __future__ import annotations

import importlib.util
import re

from referee.errors import InputError

LOCAL = "local:"


def local_count(address: str) -> int:
    """N of `local:N`. Raises InputError."""
    found = re.fullmatch(rf"{LOCAL}([1-9]\d{{0,3}})", address)
    if found is None:
        raise InputError(f"--cluster {address} starts no workers: write {LOCAL}4 for four of them")
    return int(found[1])


def check_cluster(address: str) -> None:
    """Raise InputError where nothing can come of an address: Dask is not there, or `local:` is no number of workers."""
    if importlib.util.find_spec("distributed") is None:
        raise InputError(
            "--cluster needs Dask, which is not installed: in the referee's clone, pip install -e '.[cluster]'"
        )
    if address.startswith(LOCAL):
        local_count(address)
