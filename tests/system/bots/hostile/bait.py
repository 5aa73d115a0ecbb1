"""What there is to steal and to break: made for hostile bots, and looked after from outside."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from bots.hostile.arena import Arena

from referee.bots.cache.removal import remove_tree
from referee.bots.process.launcher import Child
from referee.bots.process.limits import Limits
from referee.bots.process.process import BotProcess
from referee.bots.seat.wire import hello_line
from referee.play import SystemClock

_WRITABLE = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/dev", "/bot")
_SLEEP = "import time; time.sleep(600)"


class Bait:
    """Files, servers, and two processes: `victim`, of the referee's user, and `sibling`, another bot."""

    def __init__(self, arena: Arena, stack: ExitStack) -> None:
        self._arena = arena
        self.token = f"bait-{uuid4().hex[:12]}"
        self.folder = arena.folder / self.token
        self.folder.mkdir()
        stack.callback(remove_tree, self.folder)
        stack.callback(self._sweep)
        self.secret = self._file("secret", self.token)
        self.other_bot = arena.folder / "bots" / f"other-{self.token}" / "strategy.py"
        self.other_bot.parent.mkdir()
        stack.callback(remove_tree, self.other_bot.parent)
        self.other_bot.write_text(self.token)
        self.database = self._database()
        self.was = self.database.read_bytes()
        self.victim = self._victim()
        stack.callback(self._end_victim)
        self.sibling = self._sibling(stack)
        self._servers(stack)
        self.facts = self._facts()

    def _file(self, name: str, content: str) -> Path:
        path = self.folder / name
        path.write_text(content)
        return path

    def _database(self) -> Path:
        path = self.folder / "referee.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("create table games (id text)")
            connection.execute("insert into games values (?)", (self.token,))
            connection.commit()
        return path

    def _victim(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-S", "-c", _SLEEP, self.token], env={"TOKEN": self.token}, stdin=subprocess.DEVNULL
        )

    def _sibling(self, stack: ExitStack) -> Child:
        child = self._arena.launcher().launch(self._arena.bot("sibling", "good.py"))
        stack.callback(child.end)
        process = BotProcess(child, SystemClock())
        process.exchange(hello_line(Limits()), None)
        return child

    def _end_victim(self) -> None:
        self.victim.kill()
        self.victim.wait()

    def _servers(self, stack: ExitStack) -> None:
        self.tcp = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0))))
        self.unix = []
        for address in ("\0" + self.token, str(self.folder / "socket")):
            server = stack.enter_context(closing(socket.socket(socket.AF_UNIX)))
            server.bind(address)
            server.listen()
            self.unix.append(server)
        self.mailbox = stack.enter_context(closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)))
        self.mailbox.bind(str(self.folder / "mailbox"))
        for server in (self.tcp, self.mailbox, *self.unix):
            server.setblocking(False)

    def as_argument(self) -> str:
        """What a bot is told of it: in base64, so that no path stands in its own command line."""
        told = json.dumps(
            {
                "token": self.token,
                "place": str(self._arena.folder),
                "referee": os.getpid(),
                "victim": self.victim.pid,
                "sibling": self.sibling.pid,
                "secret": str(self.secret),
                "other_bot": str(self.other_bot),
                "database": str(self.database),
                "port": self.tcp.getsockname()[1],
                "socket": str(self.folder / "socket"),
                "mailbox": str(self.folder / "mailbox"),
            }
        )
        return b64encode(told.encode()).decode()

    def is_whole(self) -> None:
        """Assert that nothing was harmed, heard from, or left where others would find it."""
        assert self.victim.poll() is None
        assert _state(self.victim.pid) not in "Tt"
        assert self.sibling.status() is None
        assert all(_state(pid) not in "Tt" for pid in self.sibling.processes())
        assert self.database.read_bytes() == self.was
        for server in (self.tcp, *self.unix):
            with suppress(BlockingIOError):
                raise AssertionError(f"somebody called: {server.accept()}")
        with suppress(BlockingIOError):
            raise AssertionError(f"somebody wrote: {self.mailbox.recv(64)!r}")
        assert self._facts() == self.facts
        assert self._left() == []

    def _facts(self) -> list[object]:
        """What can be changed of files and processes without opening or ending them."""
        kept: list[object] = [os.getpriority(os.PRIO_PROCESS, pid) for pid in (self.victim.pid, self.sibling.pid)]
        for path in (self.database, self.other_bot):
            held = path.stat()
            kept.append((held.st_mode, held.st_uid, held.st_gid, held.st_mtime_ns, os.listxattr(path)))
        return kept

    def _left(self) -> list[Path]:
        """What bears the token's name where bots may have written."""
        folders = [*map(Path, _WRITABLE), self._arena.programs, self.other_bot.parent, self.folder]
        return [path for folder in folders if (path := folder / self.token).exists()]

    def _sweep(self) -> None:
        for path in self._left():
            remove_tree(path) if path.is_dir() else path.unlink()


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@contextmanager
def bait(arena: Arena) -> Iterator[Bait]:
    """Lay it out, and clear it away whatever has become of it."""
    with ExitStack() as stack:
        yield Bait(arena, stack)
