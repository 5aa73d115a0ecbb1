from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import referee

ROOT = Path(referee.__file__).parents[1]


def test_two_processes_may_make_the_same_database(tmp_path: Path) -> None:
    program = "import sys; from referee.store import open_store; open_store(sys.argv[1], create=True).counts()"
    argv = [sys.executable, "-c", program, str(tmp_path / "a.db")]
    makers = [subprocess.Popen(argv, env={**os.environ, "PYTHONPATH": str(ROOT)}) for _ in range(4)]
    assert [maker.wait() for maker in makers] == [0, 0, 0, 0]
