"""From a round's secret to its games, by the words of `docs/records.md` alone, without the referee's code."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from hashlib import sha256

CARDS = [rank + suit for rank in "6789TJQKA" for suit in "CDHS"]
CIRCLES = {
    2: ["01"],
    3: ["012", "021"],
    4: ["0123", "0321", "0132", "0231", "0213", "0312"],
    5: ["01234", "02413", "03142", "04321"],
    6: [
        *("012345", "024153", "035142", "054321", "013254", "045231", "021435", "031524", "042513", "053412"),
        *("014532", "023541", "034215", "051243", "025314", "041352", "015423", "032451", "043125", "052134"),
    ],
}
CYCLE = {2: 1, 3: 2, 4: 6, 5: 4, 6: 10}


def key_of(key: bytes, label: str, *fields: str | int) -> bytes:
    message = b""
    for field in (label, *fields):
        data = field.encode() if isinstance(field, str) else field.to_bytes(8, "big")
        message += len(data).to_bytes(4, "big") + data
    return hmac.new(key, message, sha256).digest()


def numbers(key: bytes) -> Iterator[int]:
    counter = 0
    while True:
        digest = sha256(key + counter.to_bytes(8, "big")).digest()
        yield from (int.from_bytes(digest[at : at + 4], "big") for at in range(0, 32, 4))
        counter += 1


def below(n: int, stream: Iterator[int]) -> int:
    return next(x for x in stream if x < 2**32 - 2**32 % n) % n


def shuffle(items: list[str], stream: Iterator[int]) -> list[str]:
    items = list(items)
    for i in range(len(items) - 1, 0, -1):
        j = below(i + 1, stream)
        items[i], items[j] = items[j], items[i]
    return items


def members(line_up: list[tuple[str, str]]) -> list[str | int]:
    return [len(line_up), *[text for bot in line_up for text in bot]]


def the_deck(deal_key: bytes, rotation: int) -> list[str]:
    stream = numbers(key_of(deal_key, "disguise", rotation))
    ranks = dict(zip("6789TJKA", shuffle(list("6789TJKA"), stream), strict=True)) | {"Q": "Q"}
    labels = {}
    for rank in "6789TJQKA":
        for suit, new in zip("CDHS", shuffle(list("CDHS"), stream), strict=True):
            labels[rank + suit] = ranks[rank] + new
    return [labels[card] for card in shuffle(CARDS, numbers(deal_key))]


def the_orders(secret: bytes, parts: list[tuple[list[tuple[str, str]], int]]) -> list[list[int]]:
    """The order of the members of each line-up, given with its number of deals."""
    counts: dict[tuple[int, tuple[str, str], tuple[str, str]], int] = {}
    found = []
    for line_up, deals in parts:
        size = len(line_up)
        rest = CIRCLES[size][: deals % CYCLE[size]]
        stream = numbers(key_of(secret, "seating", *members(line_up)))
        tried = []
        for number in range(24):
            order = [int(place) for place in shuffle([str(place) for place in range(size)], stream)]
            pairs = [
                (size, line_up[order[int(circle[at - 1])]], line_up[order[int(circle[at])]])
                for circle in rest
                for at in range(size)
            ]
            tried.append((sum(counts.get(pair, 0) for pair in pairs), number, order, pairs))
        _, _, order, pairs = min(tried)
        for pair in pairs:
            counts[pair] = counts.get(pair, 0) + 1
        found.append(order)
    return found


def the_table(line_up: list[tuple[str, str]], order: list[int], deal: int, rotation: int) -> list[tuple[str, str]]:
    """`deal` counts from the first of the round."""
    circle = CIRCLES[len(line_up)][deal % len(CIRCLES[len(line_up)])]
    return [line_up[order[int(circle[(seat - rotation) % len(circle)])]] for seat in range(len(circle))]
