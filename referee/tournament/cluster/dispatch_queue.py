"""Which blocks are to be handed out, and which wait until bots that their machine lacks have been brought there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from referee.tournament.rounds.schedule import Block


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A block to hand out, with the bots of `hashes` where they are lacking: to `worker`, on `machine`."""

    block: Block
    hashes: tuple[str, ...] = ()
    worker: str = ""
    machine: str = ""

    @property
    def _lacking(self) -> set[tuple[str, str]]:
        return {(self.machine, name) for name in self.hashes}


class PendingBlocks:
    """Parcels that wait. A bot is on its way to a machine once at most: who lacks it too is held until it is there."""

    def __init__(self) -> None:
        self._ready: deque[Dispatch] = deque()
        self._held: list[Dispatch] = []
        self._carriers: dict[tuple[str, str], str] = {}
        """By machine and hash: the attempt that brings it."""

    @property
    def waiting(self) -> bool:
        """Whether something is to be handed out."""
        return bool(self._ready)

    @property
    def held(self) -> int:
        """How many blocks wait for bots."""
        return len(self._held)

    def add(self, parcel: Dispatch) -> None:
        """A block is to be handed out as soon as there is room and its bots are not on their way."""
        if parcel._lacking & self._carriers.keys():
            self._held.append(parcel)
        else:
            self._ready.append(parcel)

    def urge(self, parcel: Dispatch) -> None:
        """A block is to be handed out before all others."""
        self._ready.appendleft(parcel)

    def next(self, is_free: Callable[[Block], bool]) -> Dispatch | None:
        """Return what is to be handed out now: the first parcel whose block `is_free`."""
        parcel = next((one for one in self._ready if is_free(one.block)), None)
        if parcel is not None:
            self._ready.remove(parcel)
        return parcel

    def sent(self, parcel: Dispatch, attempt: str) -> None:
        """An attempt carries a parcel."""
        self._carriers.update(dict.fromkeys(parcel._lacking, attempt))

    def delivered(self, attempt: str) -> None:
        """What an attempt carried is there, or will not be brought by it: who waited for it is handed out."""
        self._carriers = {what: carrier for what, carrier in self._carriers.items() if carrier != attempt}
        held, self._held = self._held, []
        for parcel in held:
            # Its machine has them now; another will say what it lacks.
            self.add(parcel if parcel._lacking & self._carriers.keys() else Dispatch(parcel.block))

    def revise(self, change: Callable[[Block], Block]) -> None:
        """Change the blocks that wait."""
        self._ready = deque(replace(parcel, block=change(parcel.block)) for parcel in self._ready)
        self._held = [replace(parcel, block=change(parcel.block)) for parcel in self._held]

    def drop(self, unwanted: Callable[[Block], bool]) -> None:
        """Forget the blocks that are unwanted."""
        self._ready = deque(parcel for parcel in self._ready if not unwanted(parcel.block))
        self._held = [parcel for parcel in self._held if not unwanted(parcel.block)]
