"""What usual Python programs do beyond reading and writing, each of which needs calls of its own; prints JSON."""

import asyncio
import concurrent.futures
import fcntl
import json
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

SCRATCH = Path(tempfile.gettempdir())


def with_a_process():
    return subprocess.run(["/bin/echo", "told"], capture_output=True, text=True, check=True).stdout.strip()


def with_an_event_loop():
    async def told():
        process = await asyncio.create_subprocess_exec("/bin/echo", "told", stdout=subprocess.PIPE)
        return (await process.communicate())[0].decode().strip()

    return asyncio.run(told())


def with_threads():
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        return sum(pool.map(int, "123"))


def with_a_pool_of_processes():
    import multiprocessing

    with multiprocessing.get_context("fork").Pool(2) as pool:
        return sum(pool.map(int, "123"))


def with_a_pair_of_sockets():
    one, other = socket.socketpair()
    with one, other:
        one.sendall(b"told")
        return other.recv(16).decode()


def with_a_database():
    with sqlite3.connect(SCRATCH / "own.db") as connection:
        connection.execute("create table words (word text)")
        connection.execute("insert into words values ('told')")
    return connection.execute("select word from words").fetchone()[0]


def with_a_lock():
    with (SCRATCH / "lock").open("w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        fcntl.flock(file, fcntl.LOCK_EX)
    return "taken"


def with_copies():
    shutil.copy2(__file__, SCRATCH / "copy")
    (SCRATCH / "touched").touch()
    (SCRATCH / "copy").rename(SCRATCH / "renamed")
    return sorted(path.name for path in SCRATCH.iterdir() if path.name in ("renamed", "touched"))


def with_a_timer():
    rung = threading.Event()
    threading.Timer(0.01, rung.set).start()
    return rung.wait(60)


left_out = sys.argv[1:]
tried = {name: call for name, call in list(globals().items()) if name.startswith("with_") and name not in left_out}
print(json.dumps({name: call() for name, call in tried.items()}), flush=True)
