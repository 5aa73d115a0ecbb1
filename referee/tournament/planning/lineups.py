"""Which line-ups a tournament plays: all that can be formed, or a balanced sample where they are too many."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from referee.record import Bot, LineUp
from referee.tournament.planning.field import Field, Indices
from referee.tournament.planning.sample import additions, fresh_sample
from referee.tournament.rounds.keys import derive

LIMIT = 2_000
"""Line-ups of one table size, unless the user says otherwise."""

_FEWEST_APART = 3
"""Seats of the smallest table from which an author's bots are kept apart: at two they play against each other alone."""


def line_ups(
    bots: Mapping[Bot, Collection[int]],
    size: int,
    *,
    salt: bytes,
    limit: int = LIMIT,
    there: Collection[LineUp] = (),
    authors: Mapping[Bot, str] | None = None,
) -> tuple[LineUp, ...]:
    """The line-ups that a tournament owes beside those in `there`, in the order of the schedule.

    They have `size` different bots each, of those that can play at such a table: `bots` says for each bot at which
    sizes it can. Too few bots have no line-up. What comes depends on the arguments alone, and never on their order.

    **All or a sample.** Up to `limit` line-ups are all taken. Of more, `limit` different ones are sampled, so that no
    bot appears more than once oftener than another, and no two bots meet more than three times oftener than any other
    two; now and then it is four times. One more bot makes another sample.

    The order keeps beginnings fair. Wherever a sample of up to half the line-ups is cut off, appearances differ by
    at most 2; wherever the whole is, by at most `size`; a larger sample is less even on the way, and even at its end.

    **Growing.** Line-ups in `there` of other bots or other sizes do not count. Where some do, all that can be formed
    come to be there, if they are up to `limit`. Where they are more, every bot comes to floor(limit * size / bots)
    appearances, those in `there` counted: a sample is thus complete, under any salt. None of the line-ups that are
    added could be left out. A newcomer meets every other bot about equally often, whether that one is new or not; so
    a newcomer costs nearly as many line-ups as it has appearances. Some bots may have more appearances, and all
    line-ups together may be more than `limit`, where bots came after others had played.

    **Apart.** With `authors`, no line-up of three or more seats holds two bots whose author is the same text; bots
    without one, or with an empty one, are their own authors. A sample then is as even as the authors let it be: no
    bot appears more than once oftener than another that could take its place in one of its line-ups and make an
    allowed one that is not there. So a bot appears less often than others only where its author has very many, who
    can sit at a table one at a time, or where it has hardly any more line-ups. How often bots meet, and beginnings,
    are only roughly even. A bot has enough, when `there` is counted, with as many appearances as any bot whose author
    has equally many is sure to have in a new sample. Line-ups in `there` that are not allowed any more count as
    appearances.
    """
    able = [bot for bot, sizes in bots.items() if size in sizes]
    order, field = _numbered(able, size, (authors or {}) if size >= _FEWEST_APART else {}, salt)
    number = {bot: i for i, bot in enumerate(order)}
    known = {
        tuple(sorted({number[bot] for bot in line_up}))
        for line_up in there
        if len(line_up) == len(set(line_up)) == size and all(bot in number for bot in line_up)
    }
    return tuple(tuple(sorted(order[i] for i in chosen)) for chosen in _chosen(field, limit, salt, known))


def _numbered(bots: Collection[Bot], size: int, authors: Mapping[Bot, str], salt: bytes) -> tuple[list[Bot], Field]:
    """The bots in the order of their numbers, and the line-ups that they can form.

    First every author's first bot, then every author's second, and so on: where authors have equally many bots, all
    numbers can move on in a circle without anything else being changed. Which author has which number of bots is all
    that shows in the field.
    """
    by_author: dict[str | Bot, list[Bot]] = {}
    for bot in sorted(bots, key=lambda bot: derive(salt, "bot", bot.name, bot.hash)):
        by_author.setdefault(authors.get(bot) or bot, []).append(bot)
    groups = sorted(by_author.values(), key=len)
    places = sorted((rank, author, bot) for author, group in enumerate(groups) for rank, bot in enumerate(group))
    return [bot for _, _, bot in places], Field([author for _, author, _ in places], size)


def _chosen(field: Field, limit: int, salt: bytes, there: Collection[Indices]) -> list[Indices]:
    if field.total <= limit:
        return [chosen for chosen in _all(field) if chosen not in there]
    if there:
        return additions(field, there, _targets(field, limit), salt)
    if not field.nobody_apart or 2 * limit <= field.total:
        return fresh_sample(field, limit)
    left_out = set(fresh_sample(field, field.total - limit))
    return [chosen for chosen in _all(field) if chosen not in left_out]


def _targets(field: Field, limit: int) -> Sequence[int]:
    """How often each bot is to appear at least: as often as any bot whose author has so many does in a new sample."""
    if field.nobody_apart:
        return [limit * field.size // field.bots] * field.bots
    appearances = [0] * field.bots
    for table in fresh_sample(field, limit):
        for bot in table:
            appearances[bot] += 1
    least: dict[int, int] = {}
    for bots in field.bots_of:
        fewest = min(appearances[bot] for bot in bots)
        least[len(bots)] = min(fewest, least.get(len(bots), fewest))
    return [least[field.bots_with(bot)] for bot in range(field.bots)]


def _all(field: Field) -> list[Indices]:
    """Every line-up; those stand together that become each other when all indices move on in a circle.

    Such a family has every bot equally often, and any beginning of it at most `size` times.
    """

    def place(chosen: Indices) -> tuple[list[int], int]:
        return min((sorted((i - first) % field.bots for i in chosen), first) for first in chosen)

    return sorted(field.line_ups(), key=place)
