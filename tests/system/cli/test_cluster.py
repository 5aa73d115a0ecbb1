"""`--cluster` as a user types it: the leaderboard of one machine, whatever is killed meanwhile, and nothing left."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from clusters import machines, page_blocks, parent, wait_for_end
from command_line import environment, referee_command
from processes import REFEREE, descendants, wait_until

BOTS = Path(__file__).parents[2] / "system" / "bots" / "programs" / "plain"
WORDS = ["tournament", *(str(BOTS / f"{name}.py") for name in ("first", "last", "middle")), "--seed", "s", "-q"]
DEALS = 12
SOME = 8
"""Games after which something happens."""
GAMES = 3 * 2 * DEALS


def words(*more: str, deals: int = DEALS) -> list[str]:
    return [*WORDS, "--deals", str(deals), *more]


def standings(folder: Path) -> bytes:
    return (folder / "leaderboards" / "standings.json").read_bytes()


def games(folder: Path) -> int:
    """Games in the database, as another process sees it."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'referee.db'}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    done = referee_command(*words("--jobs", "2"), cwd=folder)
    assert done.returncode == 0, done.stderr
    return standings(folder)


def begin(folder: Path, *more: str) -> subprocess.Popen[str]:
    """A referee in a process group of its own, as at a terminal."""
    return subprocess.Popen(
        [*REFEREE, *words(*more)],
        cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0,
    )  # fmt: skip


def dask_workers(referee: int) -> list[int]:
    """The Dask workers of a referee that play now: whose child is a worker process of ours."""
    family = descendants(referee)
    found = []
    for pid in family:
        try:
            if b"referee.tournament.engine.worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(parent(pid))
        except OSError:
            continue
    return sorted(found)


def test_the_standings_are_the_same_to_the_byte_when_a_worker_is_killed_in_the_middle(
    tmp_path: Path, undisturbed: bytes
) -> None:
    with begin(tmp_path, "--cluster", "local:2") as referee:
        wait_until(lambda: games(tmp_path) >= SOME)
        family = descendants(referee.pid)
        os.kill(dask_workers(referee.pid)[0], signal.SIGKILL)
        family |= descendants(referee.pid)
        out, err = referee.communicate(timeout=120)
    # The game that was cut off, if there was one, is told of and no more.
    assert re.fullmatch(r"(1 attempt at a game came to nothing and did not count: 1 with \w+, 1 with \w+\n)?", err)
    assert referee.returncode == 0
    assert "leaderboard: leaderboards/index.html" in out
    assert games(tmp_path) == GAMES
    assert standings(tmp_path) == undisturbed
    wait_for_end(family)


def test_a_referee_that_is_killed_leaves_no_process_and_the_same_games_go_on_without_a_cluster(
    tmp_path: Path, undisturbed: bytes
) -> None:
    with begin(tmp_path, "--cluster", "local:2") as referee:
        wait_until(lambda: games(tmp_path) >= SOME)
        family = descendants(referee.pid)
        referee.kill()
    wait_for_end(family)
    assert len(family) >= 7, "the referee, the workers' parent, two workers, two processes of ours, bots"
    assert SOME <= games(tmp_path) < GAMES
    done = referee_command(*words("--jobs", "2"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert standings(tmp_path) == undisturbed


def test_ctrl_c_at_the_terminal_ends_the_games_in_hand_and_says_how_to_go_on(tmp_path: Path) -> None:
    with begin(tmp_path, "--cluster", "local:2") as referee:
        wait_until(lambda: games(tmp_path) >= SOME)
        family = descendants(referee.pid)
        os.killpg(referee.pid, signal.SIGINT)
        _, err = referee.communicate(timeout=60)
    assert referee.returncode == 130
    lines = err.splitlines()
    assert lines[0] == "stopping when the games in hand are over; once more to stop at once"
    assert lines[1].startswith(
        f"stopped; {games(tmp_path)} games of this run are kept. To go on: REFEREE_TOURNAMENT_SANDBOX=D referee tournament "
    )
    assert len(lines) == 2
    wait_for_end(family)


def test_a_scheduler_that_goes_away_is_one_sentence_and_the_same_command_goes_on(
    tmp_path: Path, undisturbed: bytes
) -> None:
    with machines(tmp_path, workers=2) as cluster:
        with begin(tmp_path, "--cluster", cluster.address) as referee:
            wait_until(lambda: games(tmp_path) >= SOME)
            cluster.scheduler.kill()
            _, err = referee.communicate(timeout=60)
        assert referee.returncode == 1
        assert err == (
            f"referee: the scheduler at {cluster.address} is gone: what was played is kept, and the same command goes on\n"
        )
    assert SOME <= games(tmp_path) < GAMES
    done = referee_command(*words("--jobs", "2"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert standings(tmp_path) == undisturbed


def test_the_connections_of_the_page_are_closed_to_whoever_has_no_certificate(tmp_path: Path) -> None:
    shell, config = (block for kind in ("sh", "text") for block in page_blocks(kind) if "dask-tls" in block)
    keys = tmp_path / "dask-tls"
    subprocess.run(["sh", "-ec", shell.replace("/home/me/dask-tls", str(keys))], check=True, capture_output=True)
    (tmp_path / "tls.yaml").write_text(config.replace("/home/me/dask-tls", str(keys)))
    extra = {"DASK_CONFIG": str(tmp_path / "tls.yaml")}
    with machines(tmp_path, workers=1, protocol="tls", extra=extra) as cluster:
        assert cluster.address.startswith("tls://")
        done = referee_command(*words("--cluster", cluster.address, deals=1), env=extra, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert games(tmp_path) == 6
        (tmp_path / "stranger").mkdir()
        refused = referee_command(*words("--cluster", cluster.address, deals=1), cwd=tmp_path / "stranger")
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"referee: --cluster {cluster.address}: no Dask scheduler answers there (")
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("address", "missing", "said"),
    [
        (
            "local:2",
            True,
            "--cluster needs Dask, which is not installed: in the referee's clone, pip install -e '.[cluster]'",
        ),
        ("local:many", False, "--cluster local:many starts no workers: write local:4 for four of them"),
    ],
)
def test_a_cluster_that_cannot_be_is_refused_before_anything_is_made(
    tmp_path: Path, address: str, missing: bool, said: str
) -> None:
    env: Mapping[str, str] = {}
    if missing:
        (tmp_path / "path").mkdir()
        (tmp_path / "path" / "sitecustomize.py").write_text("import sys\nsys.modules['distributed'] = None\n")
        env = {"PYTHONPATH": f"{tmp_path / 'path'}:{environment()['PYTHONPATH']}"}
    done = referee_command(*words("--cluster", address), env=env, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"referee: {said}\n")
    assert not list(tmp_path.glob("*.db"))
