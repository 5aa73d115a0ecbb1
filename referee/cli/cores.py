"""Where games are played on this machine: the processors of each worker, and of its bots."""

from __future__ import annotations

from referee.bots import system
from referee.errors import InputError

Cores = tuple[frozenset[int] | None, frozenset[int] | None]
"""A worker's processors, and those of its bots where they are not its own."""


def cores_of(jobs: int | None, per_game: int | None = None) -> list[Cores]:
    """For each of `jobs` workers, None for as many as the processors allow; its bots get `per_game` of their own.

    Raises InputError where there are not so many processors.
    """
    cores = system.usable_cores()
    if per_game is None:
        return [(frozenset({cores[job % len(cores)]}), None) for job in range(jobs or len(cores))]
    most = len(cores) // per_game
    if (jobs or 1) > most:
        needed = per_game * (jobs or 1)
        raise InputError(f"--cores-per-bot {per_game} with so many jobs needs {needed} processors of {len(cores)}")
    shares = [frozenset(cores[job * per_game : (job + 1) * per_game]) for job in range(jobs or most)]
    return [(share, share) for share in shares]
