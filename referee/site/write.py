"""Files of one folder replaced together: all are written beside their places before the first is moved in."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from referee.errors import InputError

_STAGED = ".tmp"


def write_folder(out: Path, texts: Mapping[str, str]) -> None:
    """Write each text, as UTF-8, under its name in `out`, which is made where only it is missing.

    Every file is replaced whole (fsync, then a rename) and readable by all. Where one cannot be written, none is
    replaced. Raises InputError where `out` cannot be written.
    """
    try:
        _make(out)
        with _alone(out):
            _sweep(out, texts)
            _replace(out, texts)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(
            f"cannot publish into {out}: {why}; give a folder that can be written, in one that exists"
        ) from None


def _make(out: Path) -> None:
    if not out.is_dir():
        out.mkdir()
        out.chmod(0o755)


@contextlib.contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Keep other publishers away, until this process's end at the latest."""
    descriptor = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sweep(out: Path, names: Iterable[str]) -> None:
    """Remove what publishers that were killed had written beside its place."""
    for name in names:
        for left in out.glob(f".{name}.*{_STAGED}"):
            left.unlink(missing_ok=True)


def _replace(out: Path, texts: Mapping[str, str]) -> None:
    staged: dict[Path, Path] = {}
    try:
        for name, text in texts.items():
            if (out / name).is_dir():
                raise IsADirectoryError(errno.EISDIR, f"{name} in it is a folder")
            staged[_stage(out, name, text)] = out / name
        for temporary, target in staged.items():
            temporary.replace(target)
    except BaseException:
        for temporary in staged:
            temporary.unlink(missing_ok=True)
        raise
    _sync(out)


def _stage(out: Path, name: str, text: str) -> Path:
    descriptor, created = tempfile.mkstemp(prefix=f".{name}.", suffix=_STAGED, dir=out)
    path = Path(created)
    try:
        with open(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fchmod(descriptor, 0o644)
            os.fsync(descriptor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
