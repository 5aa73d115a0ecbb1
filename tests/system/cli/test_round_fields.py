"""Who plays in the rounds of a league: bots that change, come, stay away, play in shares, or are withdrawn."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from cli.league import PLAIN, League, hash_of, rows
from command_line import referee_command

# -- one round after another


def test_a_changed_bot_plays_anew_and_one_that_changes_back_does_not(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last", "middle")
    league.play("--deals", "1")
    old = hash_of(league, "first")
    whole = league.export()
    assert "nothing is owed" in league.play("--deals", "1")
    assert league.export() == whole

    was = league.change("first")
    said = league.play("--deals", "1")
    new = hash_of(league, "first")
    assert "round 2: 4 games, of which 0 were played before: 4 to play" in said
    assert league.tables() == {
        (1, ("first", "last")): 2,
        (1, ("first", "middle")): 2,
        (1, ("last", "middle")): 2,
        (2, ("first", "last")): 2,
        (2, ("first", "middle")): 2,
    }
    assert new != old
    first, second = league.published("rounds.json")["rounds"]
    assert first["secret"] != second["secret"]
    assert json.loads(league.text("round-2.json"))["previous"] == first["commitment"]
    assert {game["game_id"] for game in whole["games"]} < {game["game_id"] for game in league.export()["games"]}
    assert league.published()["notes"] == ["first has had 2 versions; the games of this one count"]
    assert set(rows(league.published())) == {("first", new), *rest(league)}
    assert rows(league.standings("--all-versions"))["first", old] == 4
    assert rows(league.standings("--all-versions"))["first", new] == 4
    assert ("first", old) not in rows(league.standings())

    (tmp_path / "first.py").write_text(was)
    assert "nothing is owed" in league.play("--deals", "1")
    assert hash_of(league, "first") == old
    assert rows(league.published())["first", old] == 4
    assert len(league.published("rounds.json")["rounds"]) == 2


def rest(league: League) -> set[tuple[str, str]]:
    return {bot for bot in rows(league.published()) if bot[0] != "first"}


def test_games_of_a_bot_that_is_left_out_of_an_open_round_are_dropped_until_it_is_back(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last", "middle")
    league.play("--deals", "1", "--plan", "round.json")
    everybody = list(league.bots)
    said = league.play("--deals", "1", "--drop-missing", bots=everybody[:2])
    gone = next(bot for bot in json.loads(league.text("round-1.json"))["bots"] if bot["name"] == "middle")
    assert f"not here any more, so their games of this round are dropped: middle ({gone['hash'][:8]})" in said
    assert "round 1: 6 games, of which 0 were played before: 2 to play" in said
    assert "round 1 is closed" in said
    assert "nothing is owed" in said
    back = league.play("--deals", "1", bots=everybody)
    assert "round 2: 4 games, of which 0 were played before: 4 to play" in back
    assert league.tables() == {(1, ("first", "last")): 2, (2, ("first", "middle")): 2, (2, ("last", "middle")): 2}
    deals = {(record["round"], record["deal"]) for record in league.records()}
    assert deals == {(1, 0), (2, 1)}, "the deals of the dropped games were known"


# -- shares


def test_a_planned_round_is_played_in_shares_and_by_nobody_it_does_not_know(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last", "middle")
    (tmp_path / "round.json").touch(mode=0o644)
    said = league.play("--deals", "4", "--plan", "round.json", "--force")
    assert "round 1: 24 games; its commitment is " in said
    assert "round.json holds its secret: only those who play it should read it" in said
    assert (tmp_path / "round.json").stat().st_mode & 0o077 == 0
    assert league.export()["games"] == []
    again = (tmp_path / "round.json").read_bytes()
    league.play("--deals", "4", "--plan", "round.json")
    assert (tmp_path / "round.json").read_bytes() == again

    ids: list[set[str]] = []
    for number in (1, 2, 3):
        words = ("--round", "round.json", "--shard", f"{number}/3", "--db", f"{number}.db", "--out", f"out{number}")
        league.play("--deals", "4", *words)
        ids.append({json.loads(line)["game_id"] for line in league.run("export", f"{number}.db").stdout.splitlines()})
        league.play("--deals", "4", *words)
        (open_round,) = json.loads((tmp_path / f"out{number}" / "rounds.json").read_text())["rounds"]
        assert open_round["secret"] is None
    assert [len(share) for share in ids] == [8, 8, 8]
    league.play("--deals", "4")
    assert {record["game_id"] for record in league.records()} == set.union(*ids)
    assert len(set.union(*ids)) == 24

    assert "there is nothing to plan" in league.refused("--deals", "4", "--plan", "other.json")
    assert not (tmp_path / "other.json").exists()
    assert "no round of referee.db is open" in league.refused("--deals", "4", "--shard", "1/2")
    other = league.refused("--round", "round.json", "--db", "x.db", bots=league.bots[:2])
    assert "round 1 is played by bots as they were when it was opened, and these are not among those given" in other
    assert "middle (" in other
    slower = league.refused("--round", "round.json", "--db", "y.db", "--move-time", "7s")
    assert "--move-time 1s, not 7s" in slower
    league.play("--deals", "1", "--plan", "theirs.json", "--db", "theirs.db", "--out", "theirs")
    mixed = league.refused("--round", "theirs.json")
    assert "has a round 1 of its own: play a round of another machine on a database of its own, with --db" in mixed


# -- withdrawal


def test_a_bot_that_always_fails_is_withdrawn_and_the_standings_do_not_depend_on_how_many_play(tmp_path: Path) -> None:
    found = []
    for jobs in (1, 2, 3):
        folder = tmp_path / str(jobs)
        folder.mkdir()
        league = League(folder, "fails", "first", "last")
        words = ("--deals", "30", "--seed", "tea", "--max-faults", "5", "--jobs", str(jobs))
        said = league.play(*words)
        assert "is withdrawn" in said
        assert "round 1 is closed" in said
        assert league.published()["notes"] == []
        (note,) = league.published()["withdrawn"]
        assert (note["name"], note["round"], note["faults"]) == ("fails", 1, 5)
        assert {row["name"]: row["games"] for row in league.published()["tables"][0]["rows"]} == {
            "first": 60,
            "last": 60,
        }
        for page in ("index.html", "standings.md"):
            assert re.search(
                r"fails.{0,80}was withdrawn in round 1, where it came to 5.faults", league.text(page), re.S
            )
        tables = league.tables()
        assert tables[1, ("first", "last")] == 60
        kept = sum(games for (_, table), games in tables.items() if "fails" in table)
        # What fails at once may do so for the rest of a block, of ten games, before the word comes that it is out.
        assert 5 <= kept <= jobs * (5 + 10), "the record keeps its games, and it is not asked for many more"
        found.append(league.text("standings.json"))
    assert found[0] == found[1] == found[2]


def test_a_silent_bot_costs_no_more_limits_than_faults_withdraw_it(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last", "silent")
    said = league.play("--deals", "150", "--move-time", "200ms", "--max-faults", "5")
    assert "round 1 is closed" in said
    tables = league.tables()
    assert tables[1, ("first", "last")] == 300
    assert 5 <= tables[1, ("first", "silent")] + tables[1, ("last", "silent")] <= 5 + 1
    assert json.loads(league.text("round-1.json"))["block_size"] == 900 // 64 == 14


def test_who_was_withdrawn_is_left_out_of_later_rounds_until_it_changes(tmp_path: Path) -> None:
    league = League(tmp_path, "fails", "first", "last")
    league.play("--deals", "3", "--max-faults", "2")
    league.add("middle")
    said = league.play("--deals", "3", "--max-faults", "2")
    assert "round 2: 12 games" in said
    assert "left out until they are changed: fails\n" in said
    assert not any("fails" in names for number, names in league.tables() if number == 2)
    shown = referee_command("standings", cwd=tmp_path).stdout
    assert re.search(r"^fails [0-9a-f]{8} was withdrawn in round 1, where it came to 2 faults", shown, re.M), shown
    assert {row["name"] for row in league.published()["tables"][0]["rows"]} == {"first", "last", "middle"}
    league.change("fails")
    league.play("--deals", "3", "--max-faults", "none")
    assert [note["round"] for note in league.published()["withdrawn"]] == [1]
    (games,) = [row["games"] for row in league.published()["tables"][0]["rows"] if row["name"] == "fails"]
    assert games == 18


# -- fair entry


def test_an_authors_bots_do_not_meet_at_three_seats_where_they_are_kept_apart(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last", "middle")
    bot = tmp_path / "filed"
    bot.mkdir()
    (bot / "bot.toml").write_text('command = ["python3", "bot.py"]\nauthor = "Ada"\n')
    shutil.copy(PLAIN / "first.py", bot / "bot.py")
    league.bots.append("filed")
    words = ("--author", "first=Ada", "--author", "last=Bea", "--deals", "1", "--players", "2,3")
    assert "Ada enters 2 bots, and --max-entries allows 1" in league.refused(*words, "--max-entries", "1")
    league.play(*words, "--same-author", "apart", "--max-entries", "2")
    assert league.tables() == {
        **{(1, pair): 2 for pair in (("filed", "first"), ("filed", "last"), ("filed", "middle"))},
        **{(1, pair): 2 for pair in (("first", "last"), ("first", "middle"), ("last", "middle"))},
        **{(1, table): 3 for table in (("filed", "last", "middle"), ("first", "last", "middle"))},
    }
    authors = {row["name"]: row["author"] for row in league.published()["tables"][0]["rows"]}
    assert authors == {"filed": "Ada", "first": "Ada", "last": "Bea", "middle": ""}
    said = league.play(*words, "--author", "filed=Cyd", "--same-author", "apart", "--max-entries", "1")
    assert "round 2: 6 games" in said
    authors = {row["name"]: row["author"] for row in league.published()["tables"][0]["rows"]}
    assert authors["filed"] == "Cyd"
