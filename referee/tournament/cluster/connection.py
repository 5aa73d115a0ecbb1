"""The way to a Dask scheduler: one that is there, or one of our own with workers on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dask
from distributed import Client, LocalCluster, Security, rpc

from referee.errors import InputError
from referee.tournament.cluster.address import LOCAL, local_count

CONNECT = 10.0
"""Seconds in which a scheduler has to answer."""
GRACE = 5.0
"""Seconds for what has to be said to a cluster at the end."""
_NOTHING = logging.CRITICAL + 1
_START = 60
"""Seconds in which workers on this machine have to be there."""
_COUNT_EVERY = 1.0
_CONFIGURATION = {
    "distributed.admin.large-graph-warning-threshold": "1GiB",  # a bot may be larger than what Dask takes for a mistake
    "distributed.scheduler.http.routes": [],  # nobody is to look on
}
_LOOK = 0.02


@contextlib.contextmanager
def connected(address: str, scratch: Path) -> Iterator[Client]:
    """A client of the scheduler at `address`, or for `local:N` of one that is started here with N workers.

    Those workers have one thread each, keep their files in `scratch`, and end with this process, whatever ends it.
    Raises InputError where no scheduler answers or no worker can be started.
    """
    _silence()
    with (
        dask.config.set(_CONFIGURATION),
        contextlib.ExitStack() as opened,
    ):
        if address.startswith(LOCAL):
            count = local_count(address)
            security = Security.temporary()
            scheduler = opened.enter_context(_scheduler(security))
            workers = opened.enter_context(_workers(count, scheduler.scheduler_address, security, scratch))
            client = Client(scheduler, set_as_default=False)
            opened.callback(_close, client)
            workers.wait_for(client)
        else:
            client = _client_of(address)
            opened.callback(_close, client)
        yield client


def _silence() -> None:
    """Let Dask and what it stands on log nothing in this process: their troubles are told in our words."""
    theirs = {"distributed", "tornado", "asyncio"}
    for name in theirs | {name for name in logging.root.manager.loggerDict if name.partition(".")[0] in theirs}:
        logging.getLogger(name).setLevel(_NOTHING)


@contextlib.contextmanager
def _scheduler(security: Security) -> Iterator[LocalCluster]:
    """A scheduler in this process.

    It speaks TLS with a certificate of its own: whoever can talk to a scheduler can run programs as its user, and
    other users of this machine, and bots, can reach the loopback interface.
    """
    cluster = LocalCluster(
        n_workers=0,
        host="127.0.0.1",
        security=security,
        dashboard_address="127.0.0.1:0",
        silence_logs=_NOTHING,
    )
    try:
        yield cluster
    finally:
        within(GRACE, lambda: cluster.close(timeout=GRACE))


@dataclass(slots=True)
class _Workers:
    """Workers of our own: one process, which starts one for each of them and starts it again where it is lost."""

    process: subprocess.Popen[bytes]
    count: int
    log: Path

    def wait_for(self, client: Client) -> None:
        """Return when all are there. Raises InputError where that does not come to be."""
        until = time.monotonic() + _START
        while len(client.nthreads()) < self.count:
            if self.process.poll() is not None or time.monotonic() > until:
                lines = self.log.read_text(errors="replace").strip().splitlines()
                said = f": {lines[-1]}" if lines else ""
                raise InputError(f"the {self.count} workers of --cluster cannot be started on this machine{said}")
            time.sleep(_LOOK)


@contextlib.contextmanager
def _workers(count: int, scheduler: str, security: Security, scratch: Path) -> Iterator[_Workers]:
    """Start workers as their own command does.

    `LocalCluster` would make them children in our process group, to which Ctrl-C at the terminal goes as well.
    """
    keys = {
        "--tls-ca-file": security.tls_ca_file,
        "--tls-cert": security.tls_worker_cert,
        "--tls-key": security.tls_worker_key,
    }
    words = [*_tied_to_us(), sys.executable, "-P", "-m", "distributed.cli.dask_worker", scheduler]
    words += ["--nworkers", str(count), "--nthreads", "1", "--memory-limit", "0", "--host", "127.0.0.1"]
    words += ["--no-dashboard", "--local-directory", str(scratch), "--death-timeout", str(_START)]
    for option, text in keys.items():
        (scratch / option).write_text(text)  # a folder that is ours alone
        words += [option, str(scratch / option)]
    log = scratch / "workers.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, cwd=scratch
        )
    try:
        yield _Workers(process, count, log)
    finally:
        process.terminate()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()  # its workers notice and end
            process.wait()


def _tied_to_us() -> tuple[str, ...]:
    # Without the tool they end by themselves, somewhat later, when they find the scheduler gone.
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()


def _client_of(address: str) -> Client:
    try:
        # Asked first without a client: one that finds nobody goes on trying, and complains at the end of the process.
        found = asyncio.run(_identity(address))
        if found["type"] != "Scheduler":
            raise ValueError(f"it is a {found['type'].lower()}")
        return Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError, KeyError) as error:
        cause = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"--cluster {address}: no Dask scheduler answers there ({cause}); give the address that `dask scheduler` "
            "prints, or local:4 for four workers on this machine"
        ) from None


async def _identity(address: str) -> dict[str, str]:
    """What answers at an address. Raises OSError, which a timeout is too, and ValueError where it is no address."""
    security = Security()
    async with rpc(address, timeout=CONNECT, connection_args=security.get_connection_args("client")) as somebody:
        said: dict[str, str] = await asyncio.wait_for(somebody.identity(), CONNECT + 1)
        return said


def _close(client: Client) -> None:
    within(GRACE, lambda: client.close(timeout=GRACE))


def within(seconds: float, work: Callable[[], object]) -> None:
    """Do something that may never end, and wait for it no longer than `seconds`; its errors are nobody's."""

    def run() -> None:
        with contextlib.suppress(Exception):
            work()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)


class Census:
    """Counts again and again, in a thread of its own, which workers a cluster has.

    `workers` are their threads by their addresses, `number` is that of the count that found them.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._over = threading.Event()
        self.number = 0
        self.workers: dict[str, int] = client.nthreads()
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        while not self._over.wait(_COUNT_EVERY):
            with contextlib.suppress(Exception):  # that the scheduler is gone shows elsewhere
                self.workers = self._client.nthreads()
                self.number += 1

    @property
    def slots(self) -> int:
        """How many blocks can be played at once."""
        return sum(self.workers.values())

    def close(self) -> None:
        """Count no more."""
        self._over.set()
