"""The transcripts, read once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import protocol


@pytest.fixture(scope="session")
def transcripts() -> dict[str, list[dict[str, Any]]]:
    """By name, without the ending: the lines of each transcript."""
    folder = Path(protocol.__file__).parent / "transcripts"
    return {
        path.stem: [json.loads(line) for line in path.read_text("ascii").splitlines()]
        for path in sorted(folder.glob("*.jsonl"))
    }
