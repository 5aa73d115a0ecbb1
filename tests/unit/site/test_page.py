"""The page: parsed as HTML it stands alone, shows every number, and lets no text of others become markup."""

from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser

import msgspec
import pytest
from justhtml import JustHTML

from referee.ratings import Row, Standings, Table, rate
from referee.record import Bot, GameResult
from referee.rules import Ending, Rules, Scoring
from referee.site import About, Label, RoundNote, data, markdown, sheet, view
from referee.site import page as page_form
from referee.site.axis import Axis
from referee.site.matrix import MOST, matrix
from referee.site.page import Line, line, render

VOID = {"meta", "link", "br", "img", "rect", "path"}


class Page(HTMLParser):
    """The elements, the text and the attributes of a page; what the HTML standard calls a parse error fails."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        assert JustHTML(source, collect_errors=True).errors == []
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def words(self) -> str:
        return " ".join(self.text.split())


def test_the_page_shows_every_table_and_number(standings: Standings, about: About) -> None:
    page = Page(render(standings, about.cleaned()))
    assert "2 players 3 games on 3 deals, 1 of them not rated; draw probability for TrueSkill 16.7%" in page.words
    assert "3 players 1 game on 1 deal; draw probability" in page.words
    assert "1 anna a1a1a1a1 Rust · =cmd() 1.000 0.158–1.000 1–2 group a" in page.words
    assert len(page.all("table")) == 7  # three for each number of players, and one of the rounds
    assert [title["title"] for title in page.all("code")[:2]] == ["a1" * 32, "b2" * 32]


def test_too_little_data_is_said_and_not_drawn(standings: Standings, about: About) -> None:
    source = render(Standings(tables=standings.tables[:1]), about.cleaned())
    page = Page(source)
    assert "– carl c3c3c3c3 too little data – – – 0 0 1 0 0 0" in page.words
    assert source.count("<svg") == 2 + 4  # scores, and scores by seat
    three = Page(render(Standings(tables=standings.tables[1:]), about.cleaned()))
    assert "1.000 too little data" in three.words


def test_the_settings_are_shown(standings: Standings, about: About) -> None:
    words = Page(render(standings, about.cleaned())).words
    for shown in (
        "move ms 1000",
        "isolation none: processes are not isolated",
        "carl c3c3c3c3 was withdrawn in round 4, where it came to 25 faults; its games rate nobody",
        "Rounds of season 3",
        f"4 1,200 (900 not played) {'c4' * 32} not yet: the round is open",
        f"5 7 {'c5' * 32} not sealed: from the seed 42, so decks could be known beforehand",
        "version of the referee 9.8.7",
        "scoring places (places by cards left, fewest first)",
        "stall limit 200 (so many turns",
        "left out: dora, its manifest is <b>empty</b>",
    ):
        assert shown in words


def test_no_setting_is_shown_as_a_bare_key(standings: Standings, bots: tuple[Bot, Bot, Bot]) -> None:
    limits = {"start": "10 s", "move": "1 s", "game": "none"}
    about = About(limits=limits, versions={"referee": "1", "record": "2", "protocol": "3"})
    words = Page(render(standings, about.cleaned())).words
    assert not [name for name, _ in view.settings(about) if "_" in name or name in (*limits, *about.versions)]
    for shown in ("time to start 10 s", "time for a decision 1 s", "odd card talon (", "format of records 2"):
        assert shown in words


def test_a_round_that_stops_by_itself_says_how_many_games_it_took(standings: Standings) -> None:
    one = RoundNote(number=1, games=1720, played=1300, commitment="c1" * 32, sealed=True)
    assert "1 1,300 of at most 1,720 c1c1" in Page(render(standings, About(rounds=(one,)).cleaned())).words


@pytest.mark.parametrize("scoring", list(Scoring))
def test_every_option_has_words(standings: Standings, scoring: Scoring) -> None:
    words = Page(render(standings, About(rules=Rules(scoring=scoring, stall_limit=7)).cleaned())).words
    assert f"scoring {scoring.value} (" in words
    assert "stall limit 7 (" in words


def test_no_text_of_others_becomes_markup(bots: tuple[Bot, Bot, Bot], standings: Standings) -> None:
    attack = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}"
    about = About(
        limits={attack: attack},
        tier=attack,
        rounds=(RoundNote(number=1, games=1, commitment="c1" * 32, sealed=False, seed=attack),),
        versions={attack: attack},
        labels={bot: Label(language="<u>x</u>", author="<i onclick=x>y</i>") for bot in bots},
        notes=(attack,),
        title=attack,
    )
    wicked = Bot('"><b>', '"><script>')
    games = [GameResult((wicked, bots[0]), 0, 0, Ending.EMPTIED, (1, 2), ())]
    quiet = {tag for tag, _ in Page(render(standings, About(notes=("x",), rounds=about.rounds).cleaned())).tags}
    for tables in (standings, rate(games)):
        page = Page(render(tables, about.cleaned()))
        assert {tag for tag, _ in page.tags} <= quiet
        assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
        assert page.text.count(attack) >= 5
        assert "<u>x</u> · <i onclick=x>y</i>" in page.words


def test_unseen_characters_do_not_reach_any_file(bots: tuple[Bot, Bot, Bot], standings: Standings) -> None:
    unseen = "a\u202eb\u200bc\x1bd\u2028e"
    about = About(
        limits={unseen: unseen},
        tier=unseen,
        rounds=(RoundNote(number=1, games=1, commitment="c1" * 32, sealed=False, seed=unseen),),
        versions={unseen: unseen},
        labels={bot: Label(language=unseen, author=unseen) for bot in bots},
        notes=(unseen,),
        title=unseen,
    ).cleaned()
    for source in (
        *(form.render(standings, about) for form in (page_form, markdown, sheet, data)),
        data.render_run(about, datetime.now(UTC)),
    ):
        assert "abcd e" in source
        assert not set(source) & {"\u202e", "\u200b", "\x1b", "\u2028"}
        assert "\\u" not in source


def test_the_page_needs_nothing_else(standings: Standings, about: About) -> None:
    page = Page(render(standings, about.cleaned()))
    assert not page.all("script")
    assert [link["href"] for link in page.all("link")] == ["data:,"]
    assert not [tag for tag, attributes in page.tags if "src" in attributes]
    targets = {link["href"] for link in page.all("a")}
    assert targets == {
        *("#players-2", "#players-3", "standings.csv", "standings.json", "standings.md", "run.json"),
        *("rounds.json", "round-4.json", "round-5.json"),
    }


def test_the_page_can_be_read_without_seeing_it(standings: Standings, about: About) -> None:
    page = Page(render(standings, about.cleaned()))
    assert page.all("html")[0]["lang"] == "en"
    assert all(head.get("scope") in {"col", "row"} for head in page.all("th"))
    assert all(drawing.get("aria-hidden") == "true" for drawing in page.all("svg"))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    labels = {attributes["aria-labelledby"] for _, attributes in page.tags if "aria-labelledby" in attributes}
    assert labels <= set(ids)


def test_no_games_are_said() -> None:
    page = Page(render(rate([]), About().cleaned()))
    assert "No rated games yet." in page.text
    assert "isolation not stated" in page.words
    assert not page.all("table")


def row_with(table: Table, score: float | None, low: float | None, high: float | None) -> Row:
    return msgspec.structs.replace(table.rows[0], score=score, score_low=low, score_high=high)


def test_a_score_and_its_interval_are_drawn_where_they_are_on_the_axis(standings: Standings) -> None:
    (table, *_) = standings.tables
    axis = Axis(0.25, 0.75)
    assert line(axis, row_with(table, 0.5, 0.35, 0.75)) == Line(50.0, 20.0, 100.0)
    assert line(axis, row_with(table, 0.3, None, None)) == Line(10.0, None, None)
    assert line(axis, row_with(table, None, None, None)) is None
    source = render(Standings(tables=standings.tables[:1]), About().cleaned())
    assert '<rect class="span" x="' in source


def test_every_line_of_a_table_lies_on_its_axis() -> None:
    table = rate(league(bots=6, deals=5)).tables[0]
    page = Page(render(Standings(tables=(table,)), About().cleaned()))
    spans = [(float(one["x"] or 0), float(one["width"] or 0)) for one in page.all("rect") if one["class"] == "span"]
    assert len(spans) == 6 + 2 * 6
    assert all(x >= 0 and width >= 0 and x + width <= 100.01 for x, width in spans)
    words = page.words
    for row in table.rows:
        assert f"{row.score:.3f} {row.score_low:.3f}–{row.score_high:.3f}" in words


def league(bots: int, deals: int) -> list[GameResult]:
    """Every pair of bots; the one of the lower number wins in all deals but the first."""
    every = [Bot(f"b{number:02}", f"{number:064x}") for number in range(bots)]
    return [
        GameResult(
            (one, other) if rotation == 0 else (other, one),
            deal,
            rotation,
            Ending.EMPTIED,
            (1, 2) if (rotation == 0) == (deal > 0) else (2, 1),
            (),
        )
        for at, one in enumerate(every)
        for other in every[at + 1 :]
        for deal in range(deals)
        for rotation in range(2)
    ]


def test_the_square_of_pairs_is_that_of_the_table() -> None:
    table = rate(league(bots=4, deals=6)).tables[0]
    cells = matrix(table)
    for row in range(4):
        assert cells[row][row] is None
        for column in range(row):
            one, other = cells[row][column], cells[column][row]
            assert one is not None and one.share is not None and other is not None and other.share is not None
            assert one.share + other.share == pytest.approx(1, abs=1e-4)
            assert one.apart == other.apart
            assert other.share > 0.5  # better bots stand above
    pair = next(pair for pair in table.pairs if (pair.first, pair.second) == (0, 3))
    assert cells[0][3] == (pair.above, pair.apart, "")
    page = Page(render(Standings(tables=(table,)), About().cleaned()))
    assert len([one for one in page.all("td") if "pair" in (one.get("class") or "").split()]) == 12


def test_who_never_met_is_not_comparable_and_that_is_said() -> None:
    games = league(bots=4, deals=6)
    apart = [one for one in games if {bot.name for bot in one.seats} in ({"b00", "b01"}, {"b02", "b03"})]
    standings = rate(apart)
    page = Page(render(standings, About().cleaned()))
    assert "Strengths of these sets are not comparable" in page.words
    titles = [one.get("title") or "" for one in page.all("abbr")]
    assert sum("not comparable" in title for title in titles) == 8
    assert "not comparable" in markdown.render(standings, About().cleaned())


def test_a_square_is_there_where_people_can_read_it() -> None:
    for bots, squares in ((MOST, 1), (MOST + 1, 0)):
        page = Page(render(rate(league(bots=bots, deals=1)), About().cleaned()))
        assert len([one for one in page.all("table") if one.get("class") == "pairs"]) == squares


def test_sigma_is_said_to_be_no_confidence_interval(standings: Standings) -> None:
    words = Page(render(standings, About().cleaned())).words
    assert "Sigma is no confidence interval" in words
    assert "97% of cases with two players, 95% with four and 93% with six" in words
