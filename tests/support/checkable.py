"""The programs of `tests/unit/checking` as bots in folders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

RARE = Path(__file__).parents[1] / "system" / "checking" / "programs" / "rare.py"


def folder_of(tmp_path: Path, mode: str, program: Path = RARE, **more: object) -> Path:
    """A program in a mode as a bot, named for the mode, with more lines in its `bot.toml`."""
    folder = tmp_path / (mode.replace("_", "-") or "good")
    folder.mkdir()
    shutil.copy(program, folder)
    keys = {"command": ["python3", program.name, mode], **more}
    (folder / "bot.toml").write_text("\n".join(f"{key} = {json.dumps(value)}" for key, value in keys.items()))
    return folder
