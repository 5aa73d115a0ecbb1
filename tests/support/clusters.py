"""A Dask cluster on the loopback interface: a scheduler and workers as their own commands start them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from command_line import ROOT, environment
from markdown_it import MarkdownIt
from processes import alive, descendants, wait_until
from workers import HEAD, TAIL

from referee.bots.building.workshop import Workshop
from referee.bots.cache.prepare import Prepared, prepare
from referee.bots.process.limits import Limits
from referee.bots.source.manifest import find_bots
from referee.bots.tiers import Tier
from referee.record import GameRecord
from referee.rules import DEFAULT_RULES
from referee.store import Stored
from referee.tournament.engine.engine import Engine
from referee.tournament.engine.pool import Arrival
from referee.tournament.engine.worker_messages import Finished, WorkerConfig
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.schedule import Block


@dataclass
class Machines:
    """A scheduler with workers, in `folder`; their cache is `folder / "away"`, as if they were another machine."""

    folder: Path
    scheduler: subprocess.Popen[bytes]
    address: str
    extra: Mapping[str, str]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def cache(self) -> Path:
        """Where the workers keep bots."""
        return self.folder / "away" / "referee" / "bots"

    def pids(self) -> set[int]:
        """The processes of the cluster itself."""
        return {pid for worker in self.workers for pid in [worker.pid, *children(worker.pid)]}

    def start_worker(self, *options: str) -> None:
        """One more worker, with a nanny that starts it again where it is lost."""
        words = ["dask_worker", self.address, "--nthreads", "1", "--host", "127.0.0.1", "--memory-limit", "0"]
        words += ["--no-dashboard", "--local-directory", str(self.folder), *options]
        self.workers.append(_start(words, self.folder, self.extra))


@contextmanager
def machines(
    folder: Path, workers: int, *, protocol: str = "tcp", extra: Mapping[str, str] | None = None
) -> Iterator[Machines]:
    """A cluster that is gone afterwards; `extra` is for its environment."""
    folder.mkdir(exist_ok=True)
    address = folder / "scheduler.json"
    words = ["dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"]
    words += ["--scheduler-file", str(address), "--protocol", protocol]
    with ExitStack() as ends:
        found = Machines(folder, _start(words, folder, extra or {}), "", extra or {})
        ends.callback(_end, found)
        wait_until(lambda: address.exists() and address.read_text().strip().endswith("}"))
        found.address = json.loads(address.read_text())["address"]
        for _ in range(workers):
            found.start_worker()
        yield found


def _start(words: list[str], folder: Path, extra: Mapping[str, str]) -> subprocess.Popen[bytes]:
    program, *options = words
    env = environment({"XDG_CACHE_HOME": str(folder / "away"), **extra})
    with (folder / "dask.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{program}", *options], env=env, cwd=folder, stdout=log, stderr=log
        )


def _end(found: Machines) -> None:
    processes = [*found.workers, found.scheduler]
    family = {pid for process in processes for pid in descendants(process.pid)}
    for process in processes:
        process.kill()
        process.wait()
    wait_for_end(family)


def children(pid: int) -> set[int]:
    """Who has this parent now."""
    return {child for child in descendants(pid) if child != pid and alive(child) and parent(child) == pid}


def parent(pid: int) -> int:
    """Whose child a process is."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def traveller(folder: Path, name: str, at_a_question: str = "", *, build: str = "") -> Prepared:
    """A bot of a folder, which does something before it answers.

    As in `workers.odd`, `games`, `once`, `wait_for` and `here` are at hand; `here` is `folder` on every machine.
    """
    home = folder / "bots" / name
    home.mkdir(parents=True)
    program = HEAD.replace("pathlib.Path(__file__).parent", f"pathlib.Path({str(folder)!r})")
    (home / "bot.py").write_text(program + "".join(f"        {line}\n" for line in at_a_question.splitlines()) + TAIL)
    step = f'build = ["sh", "-c", """{build}"""]\n' if build else ""
    (home / "bot.toml").write_text(f'command = ["python3", "bot.py"]\n{step}')
    (manifest,) = find_bots([home]).bots
    return prepare(manifest, folder / "here", builder=Workshop(Tier.D))


def job(scratch: Path, *bots: Prepared) -> WorkerConfig:
    """What an engine is told of these bots, without limits."""
    conditions = Conditions(DEFAULT_RULES, Limits(None, None, None))
    known = {bot.manifest.identity: bot for bot in bots}
    return WorkerConfig(
        round=1, secret=b"s" * 16, bots=known, conditions=conditions, scratch=scratch, cores=None, bot_cores=None
    )


def play(engine: Engine, *blocks: Block) -> list[Arrival]:
    """All that comes in."""
    return [arrival for arrival in engine.run(iter(blocks), lambda: 0.1) if arrival is not None]


def games(arrivals: list[Arrival]) -> list[Stored]:
    """The games that came in."""
    return [game for arrival in arrivals if isinstance(arrival, Finished) for game in arrival.games]


def timeless(game: Stored) -> dict[str, object]:
    """A game without the times in it."""
    record = json.loads(GameRecord.unpack(game.packed).to_json())
    record.pop("ms")
    for step in record["steps"]:
        step.pop("us")
    return record


def wait_for_end(pids: set[int]) -> None:
    """Return when none of these processes runs."""
    wait_until(lambda: not any(map(alive, pids)), seconds=10)


def page_blocks(language: str) -> list[str]:
    """The blocks of one language in the page about clusters, run by the pages' tests or not."""
    page = (ROOT / "docs" / "cluster.md").read_text("utf-8")
    return [token.content for token in MarkdownIt("commonmark").parse(page) if token.info.partition(" ")[0] == language]


def worker_of(bot: int) -> int:
    """The Dask worker that has a bot: the parent of its parent."""
    return parent(parent(bot))
