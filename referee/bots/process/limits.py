"""What a bot gets from its referee: time, memory, files, and how long its process lives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a bot may take, in ms, None for no limit: to say ready, for a decision, for its decisions of a game."""

    start_ms: int | None = 10_000
    move_ms: int | None = 1_000
    game_ms: int | None = None


MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """What a bot may take of the machine, in bytes where nothing else is said.

    `memory` is what one process may allocate; `processes` how many a bot may have at once, threads included;
    `file_size` the largest file that it may write; `tmp_size` all that it may keep in /tmp; `open_files` how many
    descriptors a process may have; `stderr` how much of its stderr is kept from the beginning, and as much from the
    end. Of these `processes` and `tmp_size` hold in the tiers A and B only.
    """

    memory: int = 512 * MIB
    processes: int = 64
    file_size: int = 16 * MIB
    tmp_size: int = 32 * MIB
    open_files: int = 64
    stderr: int = 32 * 1024

    @property
    def memory_in_all(self) -> int:
        """What all processes and files of a bot may take together, in bytes.

        It leaves room for the kernel's own pages (page tables, stacks, sockets) and for bubblewrap, so that a single
        process meets its own limit first.
        """
        return self.memory + self.tmp_size + SHM_SIZE + _OVERHEAD


_OVERHEAD = 16 * MIB
DEFAULT_BOX = Box()
SHM_SIZE = 8 * MIB
"""All that a bot may keep in /dev/shm, in the tiers A and B."""


class Reuse(StrEnum):
    """True if one process plays many games, or each game gets a new one."""

    MANY_GAMES = "many_games"
    FRESH = "fresh"
