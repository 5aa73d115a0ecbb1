"""TrueSkill: on one game equal to the package, over many a function of the set; finite where the package raises."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_ratings_loads_neither_the_package_nor_numpy() -> None:
    program = "import referee.ratings, sys; sys.exit('trueskill' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
