"""How bots are kept apart from the machine and from each other."""

from referee.bots.sandbox.probing import best, launcher_for, prove, require
from referee.bots.sandbox.tiers import Tier, Unproven

__all__ = ["Tier", "Unproven", "best", "launcher_for", "prove", "require"]
