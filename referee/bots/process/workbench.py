"""What a build gets of the machine: limits of its own, and what its box has beyond a bot's."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from referee.bots.process.limits import MIB, Box

GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildLimits:
    """How much a build may take.

    `seconds` are for all of its steps; `size` is how many bytes its folder may hold, `output` how many of what it
    prints are kept from the beginning, and as many from the end. `box` are the limits of `Box` for its processes.
    """

    seconds: float = 300.0
    size: int = 2 * GIB
    output: int = 128 * 1024
    box: Box = field(
        default_factory=lambda: Box(
            memory=2 * GIB, processes=256, file_size=GIB, tmp_size=GIB, open_files=1024, stderr=4096
        )
    )


DEFAULT_BUILD = BuildLimits()


@dataclass(frozen=True, slots=True)
class Workbench:
    """What the box of a build has beyond that of a bot.

    Its folder can be written to, and holds `size` bytes where the tier can bound it; `network` is whether it has the
    machine's; `environment` comes on top of the bare one; `certificates` are what may be read besides.
    """

    size: int
    network: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    certificates: tuple[Path, ...] = ()


LEAST_FREE = 1024 * MIB
"""How much of the disk a build that no box bounds leaves free, at least, unless there was less than twice of it."""
