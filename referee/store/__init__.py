"""The games of a tournament in one SQLite file: the only SQL."""

from referee.store.database import is_begun
from referee.store.inspecting import RoundCount, Saved
from referee.store.reading import Counts, Deals, schedule_key
from referee.store.schema import VERSIONS
from referee.store.store import Store, open_store
from referee.store.stored import Faulted, Held, Stored, StoredRound

__all__ = [
    "VERSIONS",
    "Counts",
    "Deals",
    "Faulted",
    "Held",
    "RoundCount",
    "Saved",
    "Store",
    "Stored",
    "StoredRound",
    "is_begun",
    "open_store",
    "schedule_key",
]
