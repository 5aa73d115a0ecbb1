"""Draw the pictures of the rules page: `python docs/make_cards.py` writes them to docs/images.

Every picture has its own dark felt, so that it can be read on light and on dark pages, and says in `aria-label` what it
shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from referee.cards import NAMES, RANKS, SUITS

IMAGES = Path(__file__).parent / "images"

WIDTH, HEIGHT, GAP = 44, 62, 8
FELT, INK, RED, PAPER, BACK, WORDS = "#24523f", "#1d2024", "#b3122b", "#fdfdf8", "#4a5f8f", "#ffffff"

SHAPES = {
    "C": "M10 1a4.4 4.4 0 0 1 3.6 6.9 4.4 4.4 0 1 1-2.5 7.3L13 19H7l1.9-3.800a4.4 4.4 0 1 1-2.5-7.300A4.4 "
    "4.4 0 0 1 10 1z",
    "D": "M10 1l7 9-7 9-7-9z",
    "H": "M10 18C4 13 1 10 1 6.500A4.5 4.5 0 0 1 10 4.5 4.5 4.5 0 0 1 19 6.500C19 10 16 13 10 18z",
    "S": "M10 1c5 4.5 8 7 8 10.500a4 4 0 0 1-6.7 3L13 19H7l1.7-4.500a4 4 0 0 1-6.7-3C2 8 5 5.5 10 1z",
}
"""The suits, each in a square of 20."""

Drawing = Iterator[str]


def face(name: str, x: float, y: float, *, raised: bool = False) -> Drawing:
    """A card that lies open, its upper left corner at x, y."""
    rank, suit = name[0], name[1]
    ink = RED if suit in "DH" else INK
    edge = "#ffcf5c" if raised else "#8b8f96"
    yield (
        f'<g transform="translate({x:g} {y:g})">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="5" fill="{PAPER}" stroke="{edge}" '
        f'stroke-width="{3 if raised else 1}"/>'
        f'<text x="6" y="21" font-size="18" font-weight="600" fill="{ink}">{rank}</text>'
        f'<path transform="translate(12 31) scale(1.1)" d="{SHAPES[suit]}" fill="{ink}"/></g>'
    )


def back(x: float, y: float) -> Drawing:
    """A card that lies face down."""
    yield (
        f'<g transform="translate({x:g} {y:g})">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="5" fill="{BACK}" stroke="#d5dbe8"/>'
        f'<path d="M6 6H{WIDTH - 6}V{HEIGHT - 6}H6Z" fill="none" stroke="#d5dbe8" stroke-dasharray="3 3"/></g>'
    )


def heap(count: int, x: float, y: float) -> Drawing:
    """Some cards face down upon each other, each a little higher."""
    for number in range(count):
        yield from back(x + 1.5 * number, y - 1.5 * number)


def row(names: Iterable[str], x: float, y: float, *, raised: Sequence[str] = ()) -> Drawing:
    """Open cards side by side; those of `raised` have a bright edge."""
    for number, name in enumerate(names):
        yield from face(name, x + number * (WIDTH + GAP), y, raised=name in raised)


def words(text: str, x: float, y: float, *, size: int = 15, anchor: str = "start") -> Drawing:
    """A line of text on the felt, its baseline at y."""
    yield f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{WORDS}" text-anchor="{anchor}">{escape(text)}</text>'


def arrow(x: float, y: float, to: float, *, lift: float = 0) -> Drawing:
    """An arrow to the right, or to the left where `to` is left of x."""
    head = 8 if to > x else -8
    middle = (x + to) / 2
    yield (
        f'<path d="M{x:g} {y:g}Q{middle:g} {y - lift:g} {to:g} {y:g}m{-head} -6l{head} 6l{-head} 6" fill="none" '
        f'stroke="{WORDS}" stroke-width="2.5"/>'
    )


def picture(label: str, width: int, height: int, *drawings: Drawing) -> str:
    """A whole file."""
    inner = "\n".join(line for drawing in drawings for line in drawing)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" '
        f'role="img" aria-label="{escape(label)}">\n<rect width="{width}" height="{height}" rx="10" fill="{FELT}"/>\n'
        f"{inner}\n</svg>\n"
    )


def deck() -> str:
    """All cards in canonical order, a suit a line."""
    rows = [
        row([rank + suit for rank in RANKS], 112, 20 + (HEIGHT + GAP) * number) for number, suit in enumerate(SUITS)
    ]
    called = {"C": "C, clubs", "D": "D, diamonds", "H": "H, hearts", "S": "S, spades"}
    labels = [words(called[suit], 14, 56 + (HEIGHT + GAP) * number, size=14) for number, suit in enumerate(SUITS)]
    below = words(f"from {NAMES[0]}, the six of clubs, to {NAMES[-1]}, the ace of spades", 112, 316)
    return picture("The 36 cards: nine ranks from 6 to ace in four suits", 600, 332, *rows, *labels, below)


def deal() -> str:
    """The table of three players as the first of them sees it."""
    hand = ["6C", "7D", "7S", "9H", "TC", "JD", "JH", "QS", "KC"]
    return picture(
        "Three players: the talon and two other hands of nine cards face down, and one's own hand of nine cards open",
        580,
        268,
        words("seat 1: 9 cards", 30, 32),
        heap(9, 40, 60),
        words("talon: 9 cards", 235, 32),
        heap(9, 255, 60),
        words("seat 2: 9 cards", 435, 32),
        heap(9, 465, 60),
        words("seat 0, who begins, sees these 9:", 58, 166),
        row(hand, 58, 182),
    )


def turn() -> str:
    """Lay, draw, and then a match."""
    hand = ["6C", "7D", "9H", "JD"]
    return picture(
        "A turn: the nine of hearts is laid face down on the pile, the six of spades is drawn from the talon, and it "
        "is discarded with the six of clubs",
        580,
        342,
        words("1  Lay: 9H goes face down on the pile", 20, 34),
        row(hand, 20, 50, raised=["9H"]),
        arrow(236, 81, 300),
        heap(3, 316, 52),
        words("pile", 372, 86),
        words("2  Draw: the talon's top card is 6S", 20, 142),
        heap(5, 22, 164),
        words("talon", 82, 195),
        arrow(140, 189, 204),
        row(["6S"], 220, 158, raised=["6S"]),
        row(["6C", "7D", "JD"], 300, 158),
        words("3  Decide: 6S matches 6C, so both may be discarded", 20, 250),
        row(["7D", "JD"], 20, 264),
        arrow(132, 295, 196),
        row(["6S", "6C"], 212, 264),
        words("on the discards, and then", 324, 290),
        words("one more turn", 324, 312),
    )


def decision() -> str:
    """What a drawn card allows: discard, widow, keep."""
    return picture(
        "Three decisions: a drawn seven that matches two sevens may be discarded with one or both; a drawn queen may "
        "be put down as a widow; anything else is kept",
        580,
        322,
        words("drawn", 24, 30),
        words("hand", 110, 30),
        row(["7S"], 20, 42, raised=["7S"]),
        row(["7C", "7D", "KH"], 106, 42, raised=["7C", "7D"]),
        words("discard 7C, discard 7D,", 284, 66),
        words("discard 7C 7D, or keep", 284, 88),
        row(["QH"], 20, 136, raised=["QH"]),
        row(["7C", "QD", "KH"], 106, 136),
        words("widow, or keep; the queen", 284, 160),
        words("in the hand stays there", 284, 182),
        row(["9S"], 20, 230, raised=["9S"]),
        row(["7C", "7D", "KH"], 106, 230),
        words("nothing matches: it is kept,", 284, 254),
        words("and nobody is asked", 284, 276),
    )


def recycle() -> str:
    """The pile becomes the talon, as it lies."""
    return picture(
        "When the last card of the talon is drawn the pile becomes the talon, not turned over and not shuffled, so "
        "that the card laid last is drawn first",
        580,
        190,
        words("the last one is drawn", 20, 32),
        heap(1, 40, 60),
        words("talon", 42, 148),
        heap(5, 130, 62),
        words("pile", 140, 148),
        row(["9H"], 190, 40),
        words("laid last", 240, 74),
        arrow(322, 92, 390),
        words("the pile is the talon", 412, 32),
        heap(5, 420, 62),
        words("talon", 426, 148),
        row(["9H"], 480, 40),
        words("next", 530, 74),
        words("the same cards in the same order", 20, 176, size=13),
    )


def widows() -> str:
    """The fourth queen ends the game."""
    return picture(
        "Four queens lie open on the table: the fourth one ends the game",
        580,
        136,
        row(["QD", "QS", "QC", "QH"], 30, 36, raised=["QH"]),
        words("three widows lie there;", 262, 62),
        words("the fourth ends the game:", 262, 84),
        words("fewest cards in hand win", 262, 106),
    )


def icon() -> str:
    """The site's mark: a queen's spade."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">\n'
        f'<rect width="24" height="24" rx="5" fill="{FELT}"/>\n'
        f'<path transform="translate(2 2)" d="{SHAPES["S"]}" fill="{PAPER}"/>\n</svg>\n'
    )


PICTURES = {
    "deck": deck,
    "deal": deal,
    "turn": turn,
    "decision": decision,
    "recycle": recycle,
    "widows": widows,
    "icon": icon,
}
"""By the name of its file, without the `.svg`."""


def main() -> None:
    """Write them all."""
    for name, draw in PICTURES.items():
        (IMAGES / f"{name}.svg").write_text(draw(), "utf-8")


if __name__ == "__main__":
    main()
