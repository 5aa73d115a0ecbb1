"""A game to look on at: lines where nobody looks, and a screen with keys in a real pseudo-terminal."""

from __future__ import annotations

import io
import json
import re
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import pexpect
import pyte
import pytest
from command_line import BEST_SANDBOX, ROOT, environment, referee_command
from processes import alive, descendants, wait_until
from records import ANNA, BERT, CARL, START, played

from referee.cli.replay import show_game
from referee.cli.spectator import follow
from referee.cli.watch_stages import Lines
from referee.record import GameRecord
from referee.store import Stored, open_store

TALKER = """import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif "id" in message:
        note = f"{len(message['hand'])} in hand"
        print(json.dumps({"id": message["id"], "action": message["legal"][0], "note": note}), flush=True)
"""
CRASHES = TALKER.replace("        note =", "        if len(message['hand']) < 12: sys.exit(3)\n        note =")
SECONDS = 90
SIZE = (30, 100)
LIMITS = ("--move-time", "60s", "--start-time", "60s")


@pytest.fixture
def bots(tmp_path: Path) -> list[str]:
    for name in "tom", "ann":
        (tmp_path / f"{name}.py").write_text(TALKER)
    return [str(tmp_path / "tom.py"), str(tmp_path / "ann.py")]


# -- lines


def in_lines(record: GameRecord, seat: int | None) -> tuple[str, str]:
    """What is printed of a game by `watch`, and by `replay`."""
    names = [bot.name for bot in record.seats]
    with redirect_stdout(io.StringIO()) as watched:
        follow(record, Lines(names, seat))
    with redirect_stdout(io.StringIO()) as replayed:
        show_game(record, names=names, seat=seat)
    return watched.getvalue(), replayed.getvalue()


RECORDS = {
    "plain": played((ANNA, BERT), notes={1: "why not"}),
    "crash": played((ANNA, BERT, CARL), faults={1: 3}),
    "absent": played((ANNA, BERT, CARL), faults={0: START}),
    "two faults": played((ANNA, BERT, CARL), faults={0: START, 2: 4}),
    "all but one absent": played((ANNA, BERT), faults={0: START}),
}


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("seat", [None, 0, 1])
def test_lines_of_a_game_that_is_followed_are_those_of_its_replay(name: str, seat: int | None) -> None:
    watched, replayed = in_lines(RECORDS[name], seat)
    assert watched == replayed


def without_times(text: str) -> str:
    return re.sub(r"   [\d.]+( \+ [\d.]+)? ms$", "", text, flags=re.MULTILINE)


def test_a_game_that_is_played_is_piped_as_the_match_shows_it_with_the_bots_notes(bots: list[str]) -> None:
    watched = referee_command("watch", *bots, "--seed", "a", *LIMITS)
    shown = referee_command("match", *bots, "--seed", "a", "--deals", "1", "--show", *LIMITS)
    assert (watched.returncode, shown.returncode) == (0, 0), watched.stderr
    assert watched.stdout.count("note: ") > 5
    assert without_times(shown.stdout).startswith(without_times(watched.stdout))
    assert without_times(watched.stdout).splitlines()[6:9] == [
        "   1  0 tom  6C 6D 7H 8D 8H 8S 9C TS JD JS QH QS",
        "             lays 6C, draws AD, keeps it",
        "             note: 12 in hand",
    ]


def test_a_stored_game_is_watched_again(tmp_path: Path) -> None:
    with open_store(tmp_path / "r.db", create=True) as store:
        store.claim()
        store.save_bots({ANNA: {}, BERT: {}})
        store.add([Stored.of(played((ANNA, BERT), game_id="3f9a" + "0" * 12, faults={1: 2}))])
    watched = referee_command("watch", "3f9a", "--db", str(tmp_path / "r.db"), "--seat", "1")
    assert (watched.returncode, watched.stdout) == (
        0,
        referee_command("replay", "3f9a", "--db", str(tmp_path / "r.db"), "--seat", "1").stdout,
    )


def test_a_fault_is_shown_where_it_happens(tmp_path: Path, bots: list[str]) -> None:
    (tmp_path / "ann.py").write_text(CRASHES)
    done = referee_command("watch", *bots, "--seed", "a", *LIMITS)
    assert done.returncode == 0
    assert "ann is at fault: crash\n" in done.stdout
    assert done.stdout.index("ann is at fault") < done.stdout.index("the end: forfeit")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{0}"], "is one bot, and a game is for 2 to 6: name its opponents too"),
        (["{0}", "{1}", "--seat", "2"], "there is no seat 2: they are 0 to 1"),
        (["{0}"] * 7, "a game is for 2 to 6 bots, not 7"),
        (["{0}", "{1}", "--deck", "6C"], "a deck"),
    ],
)
def test_what_cannot_be_watched_is_said_in_one_sentence(bots: list[str], words: list[str], sentence: str) -> None:
    done = referee_command("watch", *[word.format(*bots) for word in words])
    assert done.returncode == 2
    assert sentence in done.stderr and "Traceback" not in done.stderr and not done.stdout


# -- a terminal


class Terminal:
    """`referee watch` in a pseudo-terminal, and what a person would see there."""

    def __init__(self, *words: str, **env: str) -> None:
        self.child = pexpect.spawn(
            sys.executable, ["-m", "referee", "watch", *words, *LIMITS], dimensions=SIZE, env=environment(env), cwd=ROOT, timeout=SECONDS,
        )  # fmt: skip
        self.before = termios.tcgetattr(self.child.child_fd)
        self.written = b""
        self._screen = pyte.Screen(SIZE[1], SIZE[0])
        self._stream = pyte.ByteStream(self._screen)
        self.seen: set[int] = set()

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display]

    def sees(self, pattern: str) -> bool:
        return any(re.search(pattern, line) for line in self.lines)

    def read(self) -> bool:
        """Take in what was written; False at its end."""
        try:
            piece = self.child.read_nonblocking(1 << 16, 0.05)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.written += piece
        self._stream.feed(piece)
        self.seen |= descendants(self.child.pid)
        return True

    def until(self, pattern: str) -> None:
        def there() -> bool:
            assert self.read() or self.sees(pattern), self.lines
            return self.sees(pattern)

        wait_until(there, seconds=SECONDS)

    def resize(self, rows: int, columns: int) -> None:
        self._screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def ended(self) -> int:
        """The exit code, once all is as it was: the terminal, its screen, and no process of ours there any more."""
        wait_until(lambda: not self.read(), seconds=SECONDS)
        after = termios.tcgetattr(self.child.child_fd)
        self.child.close()
        assert after == self.before
        assert self.written.rindex(b"\x1b[?1049l") > self.written.rindex(b"\x1b[?1049h")
        assert self.written.rindex(b"\x1b[?25h") > self.written.rindex(b"\x1b[?25l")
        assert len(self.seen) > 2
        wait_until(lambda: not any(map(alive, self.seen)), seconds=SECONDS)
        assert self.child.exitstatus is not None
        return int(self.child.exitstatus)


@contextmanager
def terminal(*words: str, **env: str) -> Iterator[Terminal]:
    shown = Terminal(*words, **env)
    try:
        yield shown
    finally:
        shown.child.close(force=True)


def test_a_key_shows_the_next_move_and_q_leaves(bots: list[str]) -> None:
    with terminal(*bots, "--seed", "a", "--step") as shown:
        shown.until("^game .*: 2 players, turn 2")
        shown.until("^space, enter: next   p: go on by itself   q: leave")
        assert shown.sees("^  0 tom  12: 6D 7H")
        assert shown.sees("^    [0-9.]+ ms, [0-9.]+ ms in all  note: 12 in hand")
        assert shown.sees("^   1  0 tom  lays 6C, draws AD, keeps it")
        assert shown.sees("^talon 11   pile 1   kept in a row 1 of 200") and shown.sees("^widows    -")
        shown.child.send(" ")
        shown.until("^> 1 ann .*laid 6H, drew KH")
        shown.child.send("\n")
        shown.until("^   2  1 ann  lays 6H, draws KH, discards it with KC KS")
        assert shown.sees("^discards  KH KC KS")
        shown.child.send("q")
        assert shown.ended() == 0
    assert b"the end" not in shown.written


def test_what_is_left_of_a_games_time_is_shown(bots: list[str]) -> None:
    with terminal(*bots, "--seed", "a", "--step", "--game-time", "600s") as shown:
        shown.until(r"^    [0-9.]+ ms, [0-9.]+ ms in all, [0-9.]+ s left  note: 12 in hand")
        shown.child.send("q")
        assert shown.ended() == 0


def test_ctrl_c_leaves_no_sandbox(public_path: Path) -> None:
    for name in "tom.py", "ann.py":
        (public_path / name).write_text(TALKER)
    bots = [str(public_path / "tom.py"), str(public_path / "ann.py")]
    with terminal(*bots, "--seed", "a", "--step", **BEST_SANDBOX) as shown:
        shown.until("^space, enter")
        shown.until("note: 12 in hand")
        shown.child.sendintr()
        assert shown.ended() == 130


def test_the_end_is_told_on_the_terminal_that_comes_back(bots: list[str]) -> None:
    with terminal(*bots, "--seed", "a", "--delay", "1ms") as shown:
        assert shown.ended() == 0
    told = shown.written.rpartition(b"\x1b[?1049l")[2].decode()
    assert re.search(r"the end: emptied\r\n   1 .*0 cards left", told)


def test_p_waits_and_goes_on(bots: list[str]) -> None:
    with terminal(*bots, "--seed", "a", "--step") as shown:
        shown.until("p: go on by itself")
        shown.child.send("p")
        assert shown.ended() == 0  # to the end, without another key


@pytest.mark.parametrize("stop", [lambda shown: shown.child.sendintr(), lambda shown: shown.child.kill(signal.SIGTERM)])
def test_ctrl_c_and_sigterm_give_the_terminal_back(bots: list[str], stop: Callable[[Terminal], None]) -> None:
    with terminal(*bots, "--seed", "a", "--step") as shown:
        shown.until("^space, enter")
        stop(shown)
        assert shown.ended() == 130
    assert "interrupted" in shown.written.decode().rpartition("\x1b[?1049l")[2]


def test_ctrl_c_while_a_bot_thinks_leaves_no_bot(bots: list[str], tmp_path: Path) -> None:
    (tmp_path / "ann.py").write_text(TALKER.replace("        note =", "        sys.stdin.read()\n        note ="))
    with terminal(*bots, "--seed", "a", "--delay", "1ms") as shown:
        shown.until("^> 1 ann")
        shown.child.sendintr()
        assert shown.ended() == 130


def test_a_window_that_changes_is_drawn_anew_and_long_lines_fit(bots: list[str]) -> None:
    with terminal(*bots, "--seed", "a", "--step") as shown:
        shown.until("^game .*: 2 players, turn 2")
        shown.until("^space, enter: next   p: go on by itself   q: leave")
        shown.resize(24, 44)
        shown.until("^space, enter: next .*…$")
        assert shown.sees("^  0 tom  12: 6D 7H 8D 8H 8S 9C TS JD JS QH$")
        shown.resize(*SIZE)
        shown.until("^  0 tom  12: 6D 7H 8D 8H 8S 9C TS JD JS QH QS AD$")
        shown.child.send("q")
        assert shown.ended() == 0


def test_a_seat_sees_nothing_but_its_own_and_what_is_open(bots: list[str]) -> None:
    with terminal(*bots, "--seed", "a", "--delay", "1ms", "--seat", "1") as shown:
        shown.until("^  0 tom  12: ")
        assert shown.ended() == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.written.decode())
    hands = re.findall(r"0 tom  \d+: (.*?)\r", text)
    assert hands and all(set(hand.split()) <= {"??"} for hand in hands)
    deeds = re.findall(r" \d+  0 tom  lays (\S+), draws (\S+), (\w+)", text)
    assert {laid for laid, _, _ in deeds} == {"??"}
    assert {drawn for _, drawn, what in deeds if what == "keeps"} == {"??"}
    assert not re.search(r"0 tom  .*laid", text)
    assert len(re.findall(r"in hand", text)) > 2


def test_no_color_is_respected(bots: list[str]) -> None:
    colour = rb"\x1b\[[0-9;]*3[0-7]m"
    for env, there in (({}, True), ({"NO_COLOR": "1"}, False)):
        with terminal(*bots, "--seed", "a", "--delay", "1ms", **env) as shown:
            assert shown.ended() == 0
        assert bool(re.search(colour, shown.written)) == there


def test_what_bots_say_cannot_reach_into_the_terminal(bots: list[str], tmp_path: Path) -> None:
    note = json.dumps("\x1b[2J\x07[bold]hi")
    (tmp_path / "tom.py").write_text(TALKER.replace("f\"{len(message['hand'])} in hand\"", note))
    with terminal(*bots, "--seed", "a", "--step") as shown:
        shown.until(r"note: \[2J\[bold\]hi$")
        shown.child.send("q")
        assert shown.ended() == 0
    assert b"\x07" not in shown.written


def test_a_stored_game_is_watched_in_a_terminal_without_a_bot(tmp_path: Path) -> None:
    record = played((ANNA, BERT, CARL), game_id="3f9a" + "0" * 12, faults={1: 3})
    with open_store(tmp_path / "r.db", create=True) as store:
        store.claim()
        store.save_bots({ANNA: {}, BERT: {}, CARL: {}})
        store.add([Stored.of(record)])
    with terminal("3f9a", "--db", str(tmp_path / "r.db"), "--delay", "50ms") as shown:
        shown.until("at fault: ")
        wait_until(lambda: not shown.read(), seconds=SECONDS)
    assert "the end: " in shown.written.decode()
