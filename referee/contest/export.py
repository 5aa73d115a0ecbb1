"""The games of a database for other programs: JSON lines, CSV and JSON."""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, compress
from typing import Literal

import msgspec

from referee.errors import InputError
from referee.record import TIMES, Bot, GameRecord, on_one_line
from referee.rules import MAX_PLAYERS
from referee.site.text import cell
from referee.store import Store, StoredRound
from referee.version import __version__

Write = Callable[[bytes], object]
Format = Literal["jsonl", "csv", "json"]
_OF_GAME = ("round", "game_id", "players", "deal", "rotation", "reason", "decisions", "ms")
_OF_SEAT = ("bot", "hash", "place", "cards_left", "fault", "us")


def export(
    store: Store,
    write: Write,
    *,
    how: Format = "jsonl",
    players: tuple[int, ...] | None = None,
    bots: Sequence[str] = (),
    faulty: bool = False,
    with_secret: bool = False,
    times: bool = True,
) -> None:
    """Write all games in the order of the schedule; `write` takes bytes.

    `jsonl` has one whole record per line, `csv` one row per game, `json` the rounds, the bots and a summary of each
    game. `players` keeps games of these table sizes, `bots` games in which all of these sat: names, or `NAME@HASH` for
    one version; `faulty` games with a fault, of one of `bots` if there are any. With `with_secret`, JSON has the
    secret of the open round too. Without `times` what a clock measured is left out. Raises InputError if there is no
    such bot.
    """
    wanted = [_versions(store, name) for name in bots]
    every = chain.from_iterable(map(store.records, players)) if players else store.records()
    games = (game for game in every if _is_wanted(game, wanted, faulty=faulty))
    if how == "jsonl":
        write_jsonl(games, write, times=times)
    elif how == "csv":
        write_csv(games, write, times=times)
    else:
        write_json(store, games, write, times=times, with_secret=with_secret)


def _versions(store: Store, text: str) -> frozenset[Bot]:
    """Return the bots meant by a name, or by a name, `@` and the beginning of a hash. Raises InputError."""
    name, _, content = text.partition("@")
    known = store.bots().keys()
    found = frozenset(bot for bot in known if bot.name == name and bot.hash.startswith(content))
    if not found:
        near = difflib.get_close_matches(name, sorted({bot.name for bot in known}), 3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`referee db info` lists the bots"
        raise InputError(f"there is no bot {text!r} in {store.path}: {hint}")
    return found


def _is_wanted(game: GameRecord, wanted: Sequence[frozenset[Bot]], *, faulty: bool) -> bool:
    if not all(any(bot in versions for bot in game.seats) for versions in wanted):
        return False
    charged = [game.seats[seat] for seat in game.forfeited] if faulty else []
    return not faulty or any(not wanted or bot in frozenset().union(*wanted) for bot in charged)


def write_jsonl(games: Iterator[GameRecord], write: Write, *, times: bool = True) -> None:
    """Write one whole record per line."""
    for game in games:
        write(on_one_line(game.to_json() if times else game.to_timeless_json()) + b"\n")


def write_csv(games: Iterator[GameRecord], write: Write, *, times: bool = True) -> None:
    """Write one row per game, with the same columns for any number of players: those of absent seats are empty.

    `us` is the time of all decisions of the seat, in microseconds; `fault` its verdict.
    """
    line = io.StringIO()
    rows = csv.writer(line, lineterminator="\n")
    heads = [*_OF_GAME, *(f"{column}_{seat}" for seat in range(MAX_PLAYERS) for column in _OF_SEAT)]
    kept = [times or head.partition("_")[0] not in TIMES for head in heads]
    rows.writerow(compress(heads, kept))
    for game in games:
        rows.writerow(compress(_row(game), kept))
        write(line.getvalue().encode())
        line.seek(0)
        line.truncate()
    write(line.getvalue().encode())


def _row(game: GameRecord) -> list[str | int]:
    verdicts = {fault.seat: fault.verdict.value for fault in game.faults}
    row: list[str | int] = [
        *("" if game.round is None else game.round, cell(game.game_id), len(game.seats), game.deal, game.rotation),
        *(game.reason.value, len(game.steps), game.ms),
    ]
    for seat, bot in enumerate(game.seats):
        spent = sum(step.us for step in game.steps if step.seat == seat)
        row += [cell(bot.name), cell(bot.hash), game.places[seat], game.hand_sizes[seat], verdicts.get(seat, ""), spent]
    return row + [""] * (len(_OF_SEAT) * (MAX_PLAYERS - len(game.seats)))


def write_json(
    store: Store, games: Iterator[GameRecord], write: Write, *, times: bool = True, with_secret: bool
) -> None:
    """Write one document: `referee` (version), `rounds`, `bots`, and `games`, whose seats are indices into `bots`."""
    labels = store.bots()
    bots = {bot: index for index, bot in enumerate(labels)}
    document = {
        "referee": __version__,
        "rounds": [_round(one, with_secret=with_secret) for one in store.rounds()],
        "bots": [{"name": bot.name, "hash": bot.hash, **_label(words)} for bot, words in labels.items()],
    }
    write(on_one_line(msgspec.json.encode(document)[:-1]) + b',"games":[')
    separator = b"\n"
    for game in games:
        summary = _summary(game, bots)
        write(separator + msgspec.json.encode({key: summary[key] for key in summary if times or key not in TIMES}))
        separator = b",\n"
    write(b"\n]}\n")


def _round(one: StoredRound, *, with_secret: bool) -> dict[str, object]:
    """Return a round with the manifest that it is committed to; the secret of an open round only with `with_secret`."""
    fields = one._asdict()
    manifest = msgspec.Raw(fields.pop("manifest").encode())
    return {**fields, "secret": one.secret if one.closed or with_secret else None, "manifest": manifest}


def _label(words: dict[str, str]) -> dict[str, str]:
    return {key: words.get(key, "") for key in ("language", "author")}


def _summary(game: GameRecord, bots: dict[Bot, int]) -> dict[str, object]:
    return {
        "round": game.round,
        "game_id": game.game_id,
        "seats": [bots[bot] for bot in game.seats],
        "deal": game.deal,
        "rotation": game.rotation,
        "reason": game.reason,
        "places": game.places,
        "hand_sizes": game.hand_sizes,
        "forfeited": game.forfeited,
        "faults": [{"seat": fault.seat, "verdict": fault.verdict} for fault in game.faults],
        "decisions": len(game.steps),
        "ms": game.ms,
    }
