"""The four isolation tiers, and what each is worth in words."""

from __future__ import annotations

from enum import StrEnum

from referee.errors import InputError


class Tier(StrEnum):
    """From the best to none; the value is what stands in records and manifests."""

    A = "A"
    """A box of its own: files, processes, network, memory and system calls (bubblewrap)."""
    B = "B"
    """As A without /proc, where the system lets none be mounted, as in containers."""
    C = "C"
    """No namespaces: file access by Landlock, system calls filtered, limits; processes of others can be seen."""
    D = "D"
    """Limits of single processes and nothing else."""

    @classmethod
    def _missing_(cls, value: object) -> Tier | None:
        """As it was written before there were tiers."""
        return cls.D if value == "none" else None

    @property
    def words(self) -> str:
        """What it is, for pages and terminals."""
        return f"{self.value}: {_WORDS[self]}"

    @property
    def is_boxed(self) -> bool:
        """True if a bot sees less of the file system than the referee does."""
        return self is not Tier.D

    @property
    def has_namespaces(self) -> bool:
        """True if a bot has files, processes and a network of its own, in a box that can be limited as a whole."""
        return self in (Tier.A, Tier.B)


_WORDS = {
    Tier.A: "each bot in a sandbox with its own files, processes and network",
    Tier.B: "each bot in a sandbox with its own files, processes and network, without /proc",
    Tier.C: "bots can reach few files and no network, but share the machine's processes",
    Tier.D: "none: bots run with the rights of whoever runs the referee",
}


class SetupFault(InputError):
    """A file or a setting of the referee's own keeps it from a tier that this machine may have.

    `--sandbox auto` never takes a lower tier for such a reason. `reason` and `remedy` are for people.
    """

    def __init__(self, reason: str, remedy: str) -> None:
        self.reason = reason
        self.remedy = remedy
        super().__init__(f"{reason}: {remedy}")


class TierUnavailable(Exception):
    """A tier cannot be had on this machine: why, and what would help, both for people.

    What the referee's own files and settings are to blame for is a `SetupFault` instead.
    """

    def __init__(self, reason: str, remedy: str) -> None:
        self.reason = reason
        self.remedy = remedy
        super().__init__(f"{reason}; {remedy}")
