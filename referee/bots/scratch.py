"""The folder of temporary files of one run, gone after it; what killed runs left behind is swept by the next."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from referee.errors import InputError

_PREFIX = "referee-run-"
_LOCK = ".lock"


@contextlib.contextmanager
def run_folder() -> Iterator[Path]:
    """A new folder that is removed at the end, with all that bots left in it."""
    base = Path(tempfile.gettempdir())
    sweep(base)
    try:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
    except OSError as error:
        raise InputError(
            f"no temporary folder can be made in {base}: {error.strerror}; set TMPDIR to another"
        ) from None
    # Whoever holds the lock is alive; it is not inherited (CLOEXEC), so that a bot cannot keep it.
    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep(base: Path) -> None:
    """Remove the folders of runs that are over."""
    for folder in base.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if _is_over(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_over(folder: Path) -> bool:
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        return False
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
