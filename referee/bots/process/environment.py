"""The bare environment in which a bot is built and runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from referee.bots.process.limits import MIB, Box
from referee.bots.source.programs import BOXED, BOXED_PATH


def bare_environment(scratch: Path) -> dict[str, str]:
    """All that a bot finds in its environment: nothing of the referee's but PATH; `scratch` is its own folder."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }


def told_memory(box: Box) -> dict[str, str]:
    """Return variables for Java, Node and Go, which otherwise take the memory of the machine as their limit.

    Java's initial heap alone is a 64th of the machine's. What a bot says in its own command holds before it.
    """
    most = box.memory // MIB
    return {
        "JDK_JAVA_OPTIONS": f"-XX:MaxRAM={most}m -XX:MaxRAMPercentage=50",
        "NODE_OPTIONS": f"--max-old-space-size={max(1, most * 3 // 4)}",
        "GOMEMLIMIT": f"{max(1, most * 3 // 4)}MiB",
    }


def boxed_path(runtime: Sequence[Path]) -> str:
    """PATH in a box: the folders beyond /usr that a bot may read come first, as `View` seeks programs."""
    return BOXED.with_runtime(runtime).path or BOXED_PATH
