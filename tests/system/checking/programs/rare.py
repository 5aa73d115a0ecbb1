"""Plays greedy to the letter, and fails in one rare way: `rare.py MODE`; without a mode it never does."""

import json
import random
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
KNOWN = {
    "type", "protocol", "game", "referee", "start_ms", "move_ms", "game_ms", "game_id", "seat", "players", "hand",
    "hand_sizes", "talon_size", "rules", "seed", "id", "phase", "drawn", "legal", "laid", "recycled", "pile_size",
    "widows", "discards", "forfeited", "kept_in_a_row", "events", "time_left_ms", "game_left_ms", "reason", "places",
    "verdict", "detail",
}  # fmt: skip
TYPES = {"hello", "start", "act", "end", "fault", "quit"}
kept = []
seats = set()
games = []
before = 1


def greedy(question):
    hand, legal = question["hand"], question["legal"]
    if question["phase"] == "lay":
        if MODE == "queens_last":
            return f"lay {min(hand, key=lambda card: cost(card, question) if card[0] != 'Q' else (9, 9))}"
        return f"lay {min(hand, key=lambda card: cost(card, question))}"
    own = question["hand_sizes"][question["seat"]]
    if legal[0] == "widow" and len(question["widows"]) == 3 and min(question["hand_sizes"]) < own:
        return "keep"
    return legal[0]


def cost(card, question):
    if card[0] == "Q":
        return -1, 0
    held = sum(other[0] == card[0] for other in question["hand"])
    coming = 4 - held - sum(other[0] == card[0] for other in question["discards"])
    return (coming if held == 1 else 0), coming


# What breaks it, by mode: a condition on a question.
BREAKS = {
    "one_card": lambda asked: asked["hand_sizes"][asked["seat"]] == 1,
    "recycled": lambda asked: asked["recycled"],
    "forfeited": lambda asked: asked["forfeited"],
    "two_forfeited": lambda asked: len(asked["forfeited"]) > 1,
    "six": lambda asked: len(asked["hand_sizes"]) == 6,
    "three": lambda asked: len(asked["legal"]) == 8 and asked["phase"] == "drawn",
    "four_queens": lambda asked: sum(card[0] == "Q" for card in asked["hand"]) == 4,
    "three_widows": lambda asked: len(asked["widows"]) == 3 and asked["phase"] == "lay",
    "fourth_widow": lambda asked: len(asked["widows"]) == 3 and asked["legal"][0] == "widow",
    "discard_all": lambda asked: asked["rules"]["discard"] == "all" and asked["legal"][0].count(" ") > 1,
    "loser": lambda asked: asked["rules"]["scoring"] == "loser",
    "winner": lambda asked: asked["rules"]["scoring"] == "winner",
    "first": lambda asked: asked["rules"]["odd_card"] == "first",
    "stall_limit": lambda asked: asked["rules"]["stall_limit"] == 1,
    "kept": lambda asked: asked["kept_in_a_row"] == asked["rules"]["stall_limit"] - 1 > 0,
    "many_events": lambda asked: len(asked["events"]) > 5,
    "null_clock": lambda asked: asked["time_left_ms"] / 2 < 0,
    "game_clock": lambda asked: asked["game_left_ms"] is not None,
    "seat": lambda asked: len(seats) > 1,
    "long_line": lambda asked: len(json.dumps(asked, separators=(",", ":"))) > 1500,
    "last_discard": lambda asked: len(asked["hand"]) == 1 and asked["legal"][0].startswith("discard"),
    "queen_to_queens": lambda asked: (
        (asked["drawn"] or "-")[0] == "Q" and sum(card[0] == "Q" for card in asked["hand"]) > 1
    ),
    "large_limit": lambda asked: asked["rules"]["stall_limit"] == 1000,
    "seat_0": lambda asked: asked["forfeited"][:1] == [0],
    "four_forfeited": lambda asked: len(asked["forfeited"]) > 3,
    "house_recycles": lambda asked: any(
        event["recycled"] and event["seat"] in asked["forfeited"] for event in asked["events"]
    ),
    "little_time": lambda asked: (asked["time_left_ms"] or 1000) < 100,
    "deep": lambda asked: asked["recycled"] and asked["forfeited"] and asked["rules"]["scoring"] == "loser",
    "third_game": lambda asked: len(games) > 2 and asked["phase"] == "drawn",
    "widow_in_hand_0": lambda asked: asked["widows"][:1] == ["QS"] and len(asked["discards"]) > 3,
}


def answer(question):
    global before
    if MODE in BREAKS and BREAKS[MODE](question):
        raise RuntimeError(f"cannot do {MODE}")
    number, action = question["id"], greedy(question)
    if MODE == "old_id" and question["phase"] == "drawn":
        number = before
    if MODE == "large_id" and number > 2**30:
        number = number // 64 * 64
    before = question["id"]
    if MODE == "part" and question["rules"]["discard"] == "all" and action.startswith("discard"):
        action = action[: len("discard 6C")]
    if MODE == "dice":
        action = random.choice(question["legal"])
    if MODE == "grows":
        kept.append(bytearray(1_000_000))
    if MODE == "prints":
        print("thinking about", question["hand"])
    if MODE == "stderr":
        print("thinking about", question["hand"], file=sys.stderr)
    if MODE == "twice" and question["recycled"]:
        say({"id": number, "action": action})
    return {"id": number, "action": action}


def say(message):
    print(json.dumps(message), flush=MODE != "never_flushes" or message.get("type") == "ready")


def main():  # noqa: C901 - one loop, one line for each failure
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if MODE == "unknown_field" and kind in TYPES and message.keys() - KNOWN:
            raise RuntimeError("an unknown field")
        if MODE == "unknown_message" and kind not in TYPES:
            raise RuntimeError("an unknown message")
        if MODE == "answers_unknown" and kind not in TYPES:
            say({"id": before, "action": "keep"})
        if kind == "hello":
            if MODE == "never_starts":
                sys.exit("there is no engine")
            say({"type": "ready", "protocol": 2 if MODE == "version" else 1, "name": "greedy"})
        elif kind == "start":
            seats.add(message["seat"])
            games.append(message["game_id"])
        elif "id" in message:
            say(answer(message))
        elif kind == "end":
            if MODE == "stalled" and message["reason"] == "stalled":
                raise RuntimeError("a game without a winner")
            if MODE == "leaves":
                return
        elif kind == "quit":
            if MODE == "no_quit":
                time.sleep(3600)
            return
    if MODE == "no_eof":
        time.sleep(3600)


main()
