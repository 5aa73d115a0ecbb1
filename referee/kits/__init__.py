"""Starter kits: a bot in each of some languages, ready to play and to change. They are the example bots."""

from __future__ import annotations

from referee.kits.catalogue import KITS, Kit, find_kit
from referee.kits.making import make
from referee.kits.tools import botfile_of, missing_tools, packages_of, runtimes_of

__all__ = ["KITS", "Kit", "botfile_of", "find_kit", "make", "missing_tools", "packages_of", "runtimes_of"]
