"""The tests' own means to stop and continue a referee."""

from __future__ import annotations

import subprocess
from pathlib import Path

from processes import children, state, wait_until

from crashes.freezing import Frozen
from crashes.league import kill_all

STARTS_ONE = """
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

int main(void) {
    if (vfork() == 0) {
        raise(SIGSTOP);
        execl("/bin/true", "true", (char *)0);
        _exit(1);
    }
    return 0;
}
"""


def test_a_worker_that_was_stopped_as_it_started_a_bot_goes_on(tmp_path: Path) -> None:
    (tmp_path / "starts.c").write_text(STARTS_ONE)
    subprocess.run(["cc", "-o", "starts", "starts.c"], cwd=tmp_path, check=True)
    with subprocess.Popen([tmp_path / "starts"]) as worker:
        wait_until(lambda: any(state(child) == "T" for child in children(worker.pid)))
        started = frozenset(children(worker.pid))
        try:
            Frozen(frozenset({worker.pid}) | started, started).go_on()
            assert worker.wait(timeout=60) == 0
        finally:
            kill_all(started)
