"""What a page says besides the numbers: the settings of the games, and what bots say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from referee.record import Bot
from referee.rules import DEFAULT_RULES, Rules
from referee.site.text import plain

_NOTHING: Mapping[str, str] = MappingProxyType({})
_NOBODY: Mapping[Bot, Label] = MappingProxyType({})


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """What a bot says of itself; shown, never trusted. Empty where it says nothing."""

    language: str = ""
    author: str = ""


class RoundNote(msgspec.Struct, frozen=True, kw_only=True):
    """A round, for those who want to check it.

    `commitment` is SHA-256 of its secret and its manifest, in hex; `secret` is None while the round is open; `seed` is
    the text that an unsealed secret comes from. `games` are those of its schedule, `unplayed` those of them that were
    still owed when it was closed. Of a round that stops by itself `played` are those that are there, without those of
    withdrawn bots; None of others.
    """

    number: int
    season: int = 1
    games: int
    unplayed: int = 0
    played: int | None = None
    commitment: str
    sealed: bool
    secret: str | None = None
    seed: str | None = None

    @property
    def file(self) -> str:
        """The file with the manifest, byte for byte."""
        return f"round-{self.number}.json"


class Withdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """A bot that came to `faults` faults in a round: its games rate nobody."""

    bot: Bot
    round: int
    faults: int


class HeldNote(msgspec.Struct, frozen=True, kw_only=True):
    """A bot that was held in `held` of its `games`: it had used `cpu_ms` of a processor while others were asked."""

    bot: Bot
    held: int
    games: int
    cpu_ms: int


class About(msgspec.Struct, frozen=True, kw_only=True):
    """The settings behind the standings, in words for people.

    `limits` and `versions` are shown in their own order; `tier` says how bots were kept apart; `rounds` are all that
    were ever opened, `season` is the one that is shown, `withdrawn` who is left out of the tables, `held` who was
    stopped while others were asked; `notes` say what else a reader has to know, such as bots left out and why.
    All text is cleaned before it is shown.
    """

    rules: Rules = DEFAULT_RULES
    limits: Mapping[str, str] = _NOTHING
    tier: str = ""
    season: int = 1
    rounds: tuple[RoundNote, ...] = ()
    withdrawn: tuple[Withdrawn, ...] = ()
    held: tuple[HeldNote, ...] = ()
    versions: Mapping[str, str] = _NOTHING
    labels: Mapping[Bot, Label] = _NOBODY
    notes: tuple[str, ...] = ()
    title: str = "Four Widows"

    def cleaned(self) -> About:
        """The same, every text as `plain` makes it."""
        return About(
            rules=self.rules,
            limits=_cleaned(self.limits),
            tier=plain(self.tier),
            season=self.season,
            rounds=tuple(
                msgspec.structs.replace(one, seed=None if one.seed is None else plain(one.seed)) for one in self.rounds
            ),
            withdrawn=self.withdrawn,
            held=self.held,
            versions=_cleaned(self.versions),
            labels={
                bot: Label(language=plain(label.language, limit=40), author=plain(label.author, limit=60))
                for bot, label in self.labels.items()
            },
            notes=tuple(plain(note) for note in self.notes),
            title=plain(self.title),
        )

    def label(self, bot: Bot) -> Label:
        """What `bot` says of itself."""
        return self.labels.get(bot, Label())


def _cleaned(texts: Mapping[str, str]) -> dict[str, str]:
    return {plain(name): plain(text) for name, text in texts.items()}
