"""The games of a tournament in one SQLite file: the only SQL."""

from referee.store.database import VERSIONS
from referee.store.reading import Counts, Deals, schedule_key
from referee.store.settings import JSON, differences
from referee.store.store import Store, open_store
from referee.store.stored import Stored

__all__ = ["JSON", "VERSIONS", "Counts", "Deals", "Store", "Stored", "differences", "open_store", "schedule_key"]
