"""Small, full and read-only disks, in a mount namespace that nobody else sees and that ends with its holder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from crashes.league import League

_PRIVATE = ("unshare", "--mount", "--propagation", "private")
_AS_ROOT_OF_ITS_OWN = ("unshare", "--user", "--map-root-user", "--mount", "--propagation", "private")


@dataclass(frozen=True)
class Mounts:
    """A namespace in which this process's user may mount; `pid` is that of the process that keeps it."""

    pid: int

    def do(self, *words: str) -> None:
        """Run a command in it that must succeed."""
        done = subprocess.run([*self._enter(), *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words} failed: {done.stderr}"

    def small(self, folder: Path, size: str, *, files: int = 1000) -> None:
        """Put a new disk at `folder`, which must be empty, with room for so many bytes (`64k`) and files."""
        self.do("mount", "-t", "tmpfs", "-o", f"size={size},nr_inodes={files}", "tmpfs", str(folder))

    def make_room(self, folder: Path) -> None:
        """A larger disk, with what was on the small one."""
        self.do("mount", "-o", "remount,size=64m,nr_inodes=10000", str(folder))

    def read_only(self, path: Path) -> None:
        """From now on nothing can be written below `path`, by root neither."""
        self.do("mount", "--bind", str(path), str(path))
        self.do("mount", "-o", "remount,bind,ro", str(path))

    def writable(self, path: Path) -> None:
        """As it was before."""
        self.do("umount", str(path))

    def seen(self, path: Path) -> Path:
        """Where something in it can be found from outside."""
        return Path(f"/proc/{self.pid}/root{path}")

    def begin(self, league: League, *words: str) -> subprocess.Popen[str]:
        """Start `referee` in it; without words, with those of the league."""
        return subprocess.Popen(
            [*self._enter(), "env", "-C", str(league.folder), sys.executable, "-m", "referee", *(words or league.words)],
            env=league.surroundings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def referee(self, league: League, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `referee` in it to its end."""
        run = self.begin(league, *words)
        out, said = run.communicate(timeout=300)
        return subprocess.CompletedProcess(run.args, run.returncode, out, said)

    def _enter(self) -> tuple[str, ...]:
        user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
        return ("nsenter", "--target", str(self.pid), *user, "--mount", "--")


@contextmanager
def mounts() -> Iterator[Mounts]:
    """A new namespace, gone at the end with all disks that were mounted in it."""
    unshare = _PRIVATE if os.geteuid() == 0 else _AS_ROOT_OF_ITS_OWN
    holder = subprocess.Popen(
        [*unshare, "sh", "-c", "echo ready && exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout and holder.stdin
        assert holder.stdout.readline() == b"ready\n", "no mount namespace can be made here"
        try:
            yield Mounts(holder.pid)
        finally:
            holder.stdin.close()


def fill(folder: Path) -> Path:
    """Take all room that is left, to the last byte, and return the file that has it."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(1 << 12)):
                pass
        except OSError:
            return ballast


def one_sentence(said: str) -> str:
    """The only line of stderr that is an error; there must be one, and no traceback."""
    assert "Traceback" not in said, said
    errors = [line for line in said.splitlines() if line.startswith("referee: ")]
    assert len(errors) == 1, f"not one sentence: {said!r}"
    return errors[0]
