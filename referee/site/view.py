"""Numbers as words: how the standings read in HTML and Markdown alike."""

from __future__ import annotations

from collections.abc import Iterable

from referee.ratings import Row, Table
from referee.ratings.published import SeatScore
from referee.record import Bot, rules_as_dict
from referee.rules import DiscardRule, OddCard, Rules, Scoring
from referee.site.about import About, HeldNote, RoundNote, Withdrawn
from referee.site.axis import Axis
from referee.site.text import plain

TOO_LITTLE = "too little data"

HOW_TO_READ = (
    "The score is the share of opponents beaten, ties counting half; bots are ranked by it. There is much luck in this "
    "game, so the score that was seen is not the true one: beside it stands an interval that holds the true one in 95% "
    "of all cases."
)

GUIDE = (
    (
        "Interval",
        "95% of such intervals hold the true score. Where those of two bots overlap much, nobody knows who is better. "
        "Whole deals are the units, since the games of a deal share their cards.",
    ),
    (
        "Ranks",
        "Between which ranks a bot stands: proven for all bots of a table at once with 95%. Bots with a letter in "
        "common have not been told apart; a bot may have several.",
    ),
    (
        "Strength",
        "Elo-like points, in which 400 are odds of ten to one; 0 is the mean of bots that met. ± is half of the 95% "
        "interval. It is made of all results together (Bradley-Terry), whoever met whom.",
    ),
    (
        "TrueSkill",
        "mu − 3 sigma, a cautious estimate. Sigma is no confidence interval: differences of mu within 1.96 sigma of "
        "both hold the truth in 97% of cases with two players, 95% with four and 93% with six.",
    ),
    (
        "Faults",
        "Games in which the bot broke the protocol, the clock or the rules. Wins are first places held alone.",
    ),
)

MORE_TO_READ = "More, for people without statistics, is in docs/reading-the-table.md of the referee."

HOW_PAIRS_READ = (
    "How probable it is, after these games, that the bot of the row is stronger than that of the column. Pairs in bold "
    "are told apart also when all pairs are looked at together."
)

HOW_SEATS_READ = "Each seat's score rests on a part of the games, so its interval is longer."

HOW_ROUNDS_ARE_SEALED = (
    "Before the first game of a round its commitment was published: SHA-256 of a secret of 16 random bytes, followed "
    "by the round's manifest. All decks come from the secret, which is shown when the round is over."
)

_LIMITS = {"start": "time to start", "move": "time for a decision", "game": "time for a seat's decisions in a game"}
_VERSIONS = {"referee": "version of the referee", "record": "format of records", "protocol": "version of the protocol"}
_CHOICES = {
    OddCard.TALON: "the first heap dealt is the talon, all hands are equal",
    OddCard.FIRST: "the last heap dealt is the talon, seat 0 may have one card more",
    Scoring.PLACES: "places by cards left, fewest first",
    Scoring.WINNER: "whoever has fewest cards wins, all others share the next place",
    Scoring.LOSER: "whoever has most cards loses, all others share the first place",
    DiscardRule.ANY: "the player chooses which of the matching cards go",
    DiscardRule.ALL: "all matching cards go or none",
}


def name(bot: Bot) -> str:
    """A bot's name, safe by its pattern in games of ours, and cleaned because games may be anyone's."""
    return plain(bot.name, limit=40)


def short(hash_: str) -> str:
    """A hash as people compare it."""
    return plain(hash_, limit=64)[:8]


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, …, for places."""
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number, 'th') }"


def counts(table: Table) -> str:
    """How much a table rests on."""
    unrated = f", {table.unrated:,} of them not rated" if table.unrated else ""
    return f"{_count(table.games, 'game')} on {_count(table.deals, 'deal')}{unrated}"


def summary(table: Table) -> str:
    """What a table is made of, in one line."""
    return f"{counts(table)}; draw probability for TrueSkill {table.draw_probability:.1%}"


def signed(number: str) -> str:
    """A number with a minus sign in place of a hyphen."""
    return number.replace("-", "−")


def interval(low: float | None, high: float | None) -> str:
    """A score's 95% interval to three decimals, or that there is too little data for one."""
    return TOO_LITTLE if low is None or high is None else f"{low:.3f}–{high:.3f}"


def two_digits(one: SeatScore) -> str:
    """A seat's score with its interval, to two decimals."""
    if one.score is None:
        return "–"
    known = one.score_low is not None and one.score_high is not None
    return f"{one.score:.2f} ({f'{one.score_low:.2f}–{one.score_high:.2f}' if known else TOO_LITTLE})"


def axis(scores: Iterable[Row | SeatScore]) -> Axis:
    """One on which all of them, and their intervals, can be drawn."""
    return Axis.around(end for one in scores for end in (one.score, one.score_low, one.score_high))


def ranks(row: Row) -> str:
    """Between which ranks a bot stands."""
    if row.strength is None:
        return "–"
    low, high = row.strength.rank_low, row.strength.rank_high
    return str(low) if low == high else f"{low}–{high}"


def groups(row: Row) -> str:
    """The letters of the groups that a bot is part of."""
    return " ".join(row.strength.groups) if row.strength else ""


def strength(row: Row, table: Table) -> str:
    """Elo-like points with half the length of their 95% interval; a dash where nobody was met, so that it says nothing.

    Where there are sets of bots that cannot be compared, with the number of the set.
    """
    found = row.strength
    if found is None:
        return "–"
    reach = "" if found.elo_high is None else f" ± {found.elo_high - found.elo:.0f}"
    set_ = f" (set {found.component})" if _components(table) > 1 else ""
    return f"{signed(f'{round(found.elo):+d}')}{reach}{set_}"


def incomparable(table: Table) -> list[str]:
    """A sentence where there are sets of bots that never met."""
    if _components(table) < 2:
        return []
    sets: dict[int, list[str]] = {}
    for row in table.rows:
        if row.strength:
            sets.setdefault(row.strength.component, []).append(name(row.bot))
    said = "; ".join(f"set {number}: {', '.join(names)}" for number, names in sorted(sets.items()))
    return [f"Strengths of these sets are not comparable, since their bots never met, not even through others: {said}."]


def _components(table: Table) -> int:
    return len({row.strength.component for row in table.rows if row.strength})


def score(row: Row) -> str:
    """The score to three decimals."""
    return TOO_LITTLE if row.score is None else f"{row.score:.3f}"


def rating(row: Row) -> str:
    """TrueSkill's mu - 3 sigma to two decimals; a dash where no game has moved it."""
    return signed(f"{row.rating:.2f}") if row.games else "–"


def rating_detail(row: Row) -> str:
    """What the rating is made of."""
    return f"{signed(f'{row.mu:.2f}')} − 3 × {row.sigma:.2f}" if row.games else ""


def rules_in_words(rules: Rules) -> list[tuple[str, str]]:
    """Each option of the rules: its name, its value and what that means."""
    meanings = {
        "odd_card": _CHOICES[rules.odd_card],
        "scoring": _CHOICES[rules.scoring],
        "discard": _CHOICES[rules.discard],
        "stall_limit": "so many turns in a row without a discard or a widow end the game",
    }
    values = rules_as_dict(rules)
    return [(_words(name), f"{values[name]} ({meaning})") for name, meaning in meanings.items()]


def _words(key: str) -> str:
    return key.replace("_", " ")


def settings(about: About) -> list[tuple[str, str]]:
    """All that the games were played under, name and value, for a reader."""
    return [
        *rules_in_words(about.rules),
        *((_LIMITS.get(name, _words(name)), text) for name, text in about.limits.items()),
        ("isolation", about.tier or "not stated"),
        *((_VERSIONS.get(name, _words(name)), text) for name, text in about.versions.items()),
    ]


def rounds(about: About) -> list[RoundNote]:
    """The rounds of the season that is shown."""
    return [one for one in about.rounds if one.season == about.season]


def games(one: RoundNote) -> str:
    """How many games a round has, and how many of them were never played."""
    if one.played is not None:
        return f"{one.played:,} of at most {one.games:,}"
    return f"{one.games:,}" + (f" ({one.unplayed:,} not played)" if one.unplayed else "")


def secret(one: RoundNote) -> str:
    """What is known of the secret of a round."""
    if not one.sealed:
        origin = "made before rounds were" if one.seed is None else f"from the seed {one.seed}"
        return f"not sealed: {origin}, so decks could be known beforehand"
    return one.secret or "not yet: the round is open"


def withdrawn(one: Withdrawn) -> str:
    """Who is left out, and why."""
    return (
        f"{name(one.bot)} {short(one.bot.hash)} was withdrawn in round {one.round}, where it came to "
        f"{_count(one.faults, 'fault')}; its games rate nobody"
    )


def held(one: HeldNote) -> str:
    """Who was stopped while others were asked, and what for."""
    return (
        f"{name(one.bot)} {short(one.bot.hash)} was held in {one.held:,} of its {_count(one.games, 'game')}: its "
        f"processes used a processor while others were asked ({one.cpu_ms / 1000:,.2f} s in all) and were therefore "
        "stopped between its questions, which is no fault; the helpers of a Java machine alone can be the cause"
    )


def notes(about: About) -> list[str]:
    """What else a reader has to know."""
    return [*map(withdrawn, about.withdrawn), *map(held, about.held), *about.notes]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
