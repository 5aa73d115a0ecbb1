"""The folder of temporary files of one run, gone after it; what killed runs left behind is swept by the next."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from referee.bots.cache.removal import remove_tree
from referee.errors import InputError

_PREFIX = "referee-run-"
_LOCK = ".lock"
_LOCK_FLAGS = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


@contextlib.contextmanager
def run_folder() -> Iterator[Path]:
    """A new folder that is removed at the end, with all that bots left in it."""
    try:
        base = Path(tempfile.gettempdir())
    except FileNotFoundError:
        raise InputError("there is no folder for temporary files: set TMPDIR to one") from None
    sweep(base)
    try:
        folder, lock = _locked_folder(base)
    except OSError as error:
        raise InputError(
            f"no temporary folder can be made in {base}: {error.strerror}; set TMPDIR to another"
        ) from None
    try:
        yield folder
    finally:
        remove_tree(folder)
        os.close(lock)


def _locked_folder(base: Path) -> tuple[Path, int]:
    """A new folder and the descriptor of its lock: who holds it is alive. Not inherited, so that no bot keeps it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        try:
            lock = os.open(folder / _LOCK, _LOCK_FLAGS, 0o600)
        except FileNotFoundError:
            continue  # another run's sweep took the folder before there was a lock in it
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_still(lock, folder / _LOCK):
            return folder, lock
        os.close(lock)  # another run's sweep took the folder before it was locked


def _is_still(lock: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock), path.lstat())
    except FileNotFoundError:
        return False


def sweep(base: Path | None = None) -> None:
    """Remove the folders of runs that are over; for a run that needs no folder of its own, and so would leave them."""
    for folder in (base or Path(tempfile.gettempdir())).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if not folder.is_symlink() and folder.stat().st_uid == os.getuid():
                _remove_if_over(folder)


def _remove_if_over(folder: Path) -> None:
    # Made where there is none: a run can be killed before it has its lock, and a sweep when it has just removed it.
    lock = os.open(folder / _LOCK, _LOCK_FLAGS, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_tree(folder)  # under the lock: a run that is just beginning waits for it, and sees that it has lost
    finally:
        os.close(lock)
