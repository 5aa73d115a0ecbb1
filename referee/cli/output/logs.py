"""`--log`: every byte that a bot got and gave, with times, and its stderr; one file a bot and game."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from referee.bots.process.process import Tap
from referee.errors import InputError
from referee.outputs import check_folder
from referee.tournament.rounds.schedule import GameSpec

_SENT, _RECEIVED, _LOGGED = b">", b"<", b"!"


class GameLog:
    """One seat's log of one game: a line a line, each with its time in seconds and a mark.

    `>` is what the bot got, `<` what it gave, `!` its stderr. A doubled mark stands before a piece that came without
    the end of its line: whatever follows with that mark goes on where it stopped.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._began: int | None = None

    def sent(self, data: bytes, at: int) -> None:
        """See `Tap`."""
        self._write(_SENT, data, at)

    def received(self, data: bytes, at: int) -> None:
        """See `Tap`."""
        self._write(_RECEIVED, data, at)

    def logged(self, data: bytes, at: int) -> None:
        """See `Tap`."""
        self._write(_LOGGED, data, at)

    def _write(self, mark: bytes, data: bytes, at: int) -> None:
        if self._began is None:
            self._began = at
        when = b"%12.6f " % ((at - self._began) / 1e9)
        for piece in _lines(data):
            whole = piece.endswith(b"\n")
            self._file.write(when + (mark + b" " + piece if whole else 2 * mark + b" " + piece + b"\n"))


def _lines(data: bytes) -> list[bytes]:
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


def check_logs(folder: Path | None) -> None:
    """Raise InputError where the folder of `--log` has files in it, or lies in a bot's folder."""
    if folder is not None:
        check_folder(folder, remedy="name a new folder with --log, so that no two runs are mixed")


class LogFolder:
    """The files of a run of games: `NUMBER-SEAT-NAME.log`, the number counting games from 1."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: list[BinaryIO] = []
        self._games = 0
        check_logs(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder} cannot be made a folder for logs: {error.strerror}") from None

    def taps(self, game: GameSpec) -> Sequence[Tap]:
        """A listener for each seat of the game that begins now; the last game's files are closed."""
        self.close()
        self._games += 1
        for seat, bot in enumerate(game.seats):
            path = self._folder / f"{self._games:04}-{seat}-{bot.name}.log"
            try:
                self._open.append(path.open("xb"))
            except OSError as error:
                raise InputError(f"{path} cannot be written: {error.strerror}") from None
        return [GameLog(file) for file in self._open]

    @staticmethod
    @contextmanager
    def at(folder: Path | None) -> Iterator[Callable[[GameSpec], Sequence[Tap]] | None]:
        """`taps` of a folder, or None where no logs are wanted; the files are closed at the end."""
        if folder is None:
            yield None
            return
        logs = LogFolder(folder)
        try:
            yield logs.taps
        finally:
            logs.close()

    def close(self) -> None:
        """Close the files that are open."""
        for file in self._open:
            file.close()
        self._open.clear()
