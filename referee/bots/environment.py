"""The bare environment in which a bot is built and runs."""

from __future__ import annotations

import os
from pathlib import Path


def bare_environment(scratch: Path) -> dict[str, str]:
    """All that a bot finds in its environment: nothing of the referee's but PATH; `scratch` is its own folder."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }
