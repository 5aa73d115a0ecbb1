"""The bare environment in which a bot is built and runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from referee.bots.programs import BOXED, BOXED_PATH


def bare_environment(scratch: Path) -> dict[str, str]:
    """All that a bot finds in its environment: nothing of the referee's but PATH; `scratch` is its own folder."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }


def boxed_path(runtime: Sequence[Path]) -> str:
    """PATH in a box: the folders beyond /usr that a bot may read come first, as `View` seeks programs."""
    return BOXED.with_runtime(runtime).path or BOXED_PATH
