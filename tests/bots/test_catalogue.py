"""The catalogue of hostile bots: what each does as a real program, and what must become of it, on every tier at hand."""

from __future__ import annotations

import gc
import os
import subprocess
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from bots.hostile.arena import Arena, as_a_user, at_hand, open_folder
from bots.hostile.bait import bait
from bots.hostile.entries import ATTEMPTS, CLEAN, SLACK_US, Contained, Entry, charged, lateness, limits_of
from bots.hostile.refused import REFUSED, folder
from command_line import ROOT, referee_command

from referee.bots.limits import MIB
from referee.bots.sandbox.tiers import Tier
from referee.bots.system import Reaper, usable_cores
from referee.errors import Verdict
from referee.record import GameRecord

START_FAILED, START_TIMEOUT, TIMEOUT = Verdict.START_FAILED, Verdict.START_TIMEOUT, Verdict.TIMEOUT
PROTOCOL_ERROR, ILLEGAL_ACTION, CRASH = Verdict.PROTOCOL_ERROR, Verdict.ILLEGAL_ACTION, Verdict.CRASH
START = "before it is ready"
TIME = "one absolute deadline for every question"
CONTRACT = "one line, one object, as the protocol says"
LEGAL = "well formed, and not legal"
END = "the process or its stdout ends"
REMAINS = "no process of a bot survives its game"
OTHERS = "nothing of others is read"
HARM = "nothing of others is harmed"
SHARES = "no more than its share of the machine"
WHISPERS = "bots do not signal each other"
MINE = Contained("AB", "a bot sees its own processes only")
CLOSED = Contained("ABC", "files and descriptors of others cannot be opened")
CHAINED = Contained("ABC", "system calls that reach out of a box are refused")
ABSENT = Contained("ABC", "what two bots might share is not there")
LIMITED = Contained("ABCD", "limits of a single process")
BOUNDED = Contained("AB", "limits of the whole box")

CATALOGUE = [
    Entry("exits", "starts.py exits", START, START_FAILED),
    Entry("dies of a signal", "starts.py dies_of_a_signal", START, START_FAILED),
    Entry("says a banner", "starts.py says_a_banner", START, START_FAILED),
    Entry("says a banner without end", "starts.py says_a_banner_without_end", START, START_FAILED),
    Entry("speaks another version", "starts.py speaks_another_version", START, START_FAILED),
    Entry("is slower than its limit for starting", "starts.py is_slow", START, START_TIMEOUT),
    Entry("is slower than its limit for a move", "starts.py is_slow_within_its_limit", START, CLEAN),
    Entry("never says that it is ready", "starts.py never_says_ready", START, START_TIMEOUT),
    Entry("does not flush its ready", "starts.py does_not_flush", START, START_TIMEOUT),
    Entry("thinks for ever", "stalls.py thinks_for_ever", TIME, TIMEOUT),
    Entry("computes for ever", "stalls.py computes_for_ever", TIME, TIMEOUT),
    Entry("never reads, with its pipe full", "stalls.py fills_its_stdin", TIME, TIMEOUT),
    Entry("half a line and then nothing", "stalls.py half_a_line", TIME, TIMEOUT),
    Entry("a line without its newline", "stalls.py no_newline", TIME, TIMEOUT),
    Entry("one byte every 50 ms", "stalls.py one_byte_every_50_ms", TIME, TIMEOUT),
    Entry("stops itself", "stalls.py stops_itself", TIME, TIMEOUT),
    Entry("closes its stdin and lives", "stalls.py closes_stdin", TIME, TIMEOUT),
    Entry("floods its stderr", "stalls.py floods_stderr", TIME, TIMEOUT),
    Entry("answers too late", "stalls.py answers_too_late", TIME, TIMEOUT),
    Entry("answers the first too late", "stalls.py answers_the_first_too_late_and_the_second_in_time", TIME, TIMEOUT),
    Entry("does not flush its answer", "stalls.py does_not_flush", TIME, TIMEOUT),
    Entry("bytes without end", "babbles.py bytes_without_end", CONTRACT, PROTOCOL_ERROR),
    Entry("a line over 64 KiB", "babbles.py a_line_over_64_kib", CONTRACT, PROTOCOL_ERROR),
    Entry("many short lines", "babbles.py many_short_lines", CONTRACT, PROTOCOL_ERROR),
    Entry("an early answer", "babbles.py an_answer_before_its_question", CONTRACT, PROTOCOL_ERROR),
    Entry("two answers", "babbles.py two_answers", CONTRACT, PROTOCOL_ERROR),
    Entry("an old id", "babbles.py an_old_id", CONTRACT, PROTOCOL_ERROR),
    Entry("bytes that are no UTF-8", "babbles.py bad_utf8", CONTRACT, PROTOCOL_ERROR),
    Entry("a byte order mark", "babbles.py bom", CONTRACT, PROTOCOL_ERROR),
    Entry("NUL", "babbles.py nul", CONTRACT, PROTOCOL_ERROR),
    Entry("NaN", "babbles.py nan", CONTRACT, PROTOCOL_ERROR),
    Entry("Infinity", "babbles.py infinity", CONTRACT, PROTOCOL_ERROR),
    Entry("-Infinity", "babbles.py minus_infinity", CONTRACT, PROTOCOL_ERROR),
    Entry("1e999", "babbles.py 1e999", CONTRACT, PROTOCOL_ERROR),
    Entry("duplicate keys", "babbles.py duplicate_keys", CONTRACT, PROTOCOL_ERROR),
    Entry("nesting as deep as a line goes", "babbles.py nesting_30_000_deep", CONTRACT, PROTOCOL_ERROR),
    Entry("nesting 100,000 deep", "babbles.py nesting_100_000_deep", CONTRACT, PROTOCOL_ERROR),
    Entry("an integer of 5,000 digits", "babbles.py an_integer_of_5_000_digits", CONTRACT, PROTOCOL_ERROR),
    Entry("an integer over 2^63", "babbles.py an_integer_over_2_to_63", CONTRACT, PROTOCOL_ERROR),
    Entry("an id over 2^63", "babbles.py an_id_over_2_to_63", CONTRACT, PROTOCOL_ERROR),
    Entry("a lone surrogate", "babbles.py a_lone_surrogate", CONTRACT, PROTOCOL_ERROR),
    Entry("true for an id", "babbles.py true_for_an_id", CONTRACT, PROTOCOL_ERROR),
    Entry("1.0 for an id", "babbles.py a_float_for_an_id", CONTRACT, PROTOCOL_ERROR),
    Entry('"1" for an id', "babbles.py a_string_for_an_id", CONTRACT, PROTOCOL_ERROR),
    Entry("trailing data", "babbles.py trailing_data", CONTRACT, PROTOCOL_ERROR),
    Entry("an array", "babbles.py an_array", CONTRACT, PROTOCOL_ERROR),
    Entry("null", "babbles.py null", CONTRACT, PROTOCOL_ERROR),
    Entry("an empty line", "babbles.py an_empty_line", CONTRACT, PROTOCOL_ERROR),
    Entry("a debug print", "babbles.py a_debug_print", CONTRACT, PROTOCOL_ERROR),
    Entry("unknown fields", "babbles.py unknown_fields", CONTRACT, CLEAN),
    Entry("CRLF", "babbles.py crlf", CONTRACT, CLEAN),
    Entry("no such action", "cheats.py no_such_action", LEGAL, ILLEGAL_ACTION),
    Entry("no such card", "cheats.py no_such_card", LEGAL, ILLEGAL_ACTION),
    Entry("a card that it does not hold", "cheats.py a_card_of_another", LEGAL, ILLEGAL_ACTION),
    Entry("an action of another phase", "cheats.py an_action_of_another_phase", LEGAL, ILLEGAL_ACTION),
    Entry("capitals", "cheats.py its_action_in_capitals", LEGAL, ILLEGAL_ACTION),
    Entry("an empty action", "cheats.py nothing", LEGAL, ILLEGAL_ACTION),
    Entry("exits with 7", "dies.py exits", END, CRASH),
    Entry("exits with 0", "dies.py exits_with_zero", END, CRASH),
    Entry("a segmentation fault", "dies.py segfaults", END, CRASH),
    Entry("kills itself", "dies.py kills_itself", END, CRASH),
    Entry("closes its stdout and lives", "dies.py closes_stdout_and_lives", END, CRASH, boxed=TIMEOUT),
    Entry("closes everything and exits", "dies.py closes_everything_and_exits", END, CRASH),
    Entry("answers and exits", "dies.py answers_and_exits", END, CRASH),
    Entry("eats memory", "dies.py eats_memory", END, CRASH),
    Entry("writes a file without end", "dies.py writes_a_file_without_end", END, CRASH),
    Entry("leaves a child", "leaves.py a_child", REMAINS, CRASH),
    Entry("leaves a daemon that has its pipes", "leaves.py a_daemon_with_its_pipes", REMAINS, CRASH),
    Entry("leaves a stopped daemon", "leaves.py a_stopped_daemon", REMAINS, CRASH),
    Entry("has a daemon answer", "leaves.py answers_of_a_daemon", REMAINS, CRASH),
    Entry("leaves a daemon at its end", "leaves.py a_daemon_while_it_plays_on", REMAINS, CLEAN),
    Entry("forks twice", "leaves.py a_double_fork", REMAINS, CLEAN),
    Entry("forks on and on, out of its session", "leaves.py a_chain_of_forks", REMAINS, CLEAN, hides=True),
    Entry(
        "leaves one of no session or environment", "leaves.py a_hidden_one ./daemon bare", REMAINS, CLEAN, hides=True
    ),
    Entry(
        "leaves one that is no child of its own", "leaves.py a_hidden_one ./daemon sibling", REMAINS, CLEAN, hides=True
    ),
    Entry("leaves one that cannot be looked into", "leaves.py a_hidden_one ./daemon dumb", REMAINS, CLEAN, hides=True),
    Entry("environments of others", "spies.py environments", OTHERS, CLOSED),
    Entry("arguments of others", "spies.py arguments", OTHERS, CLOSED),
    Entry("memory of others", "spies.py memories", OTHERS, CLOSED),
    Entry("descriptors of the referee", "spies.py descriptors", OTHERS, CLOSED),
    Entry("processes of others", "spies.py processes", OTHERS, MINE),
    Entry("what its box was made from", "spies.py own_wrapping", OTHERS, Contained("AB", CLOSED.promise, "a box")),
    Entry("secrets, other bots, the database", "spies.py files", OTHERS, CLOSED),
    Entry("kills others", "breaks.py killing", HARM, CHAINED),
    Entry("stops others", "breaks.py stopping", HARM, CHAINED),
    Entry("kills its parent", "breaks.py killing_its_parent", HARM, MINE),
    Entry("kills all that it can", "breaks.py killing_all", HARM, MINE),
    Entry("traces others", "breaks.py tracing", HARM, Contained("ABC", CHAINED.promise, "ptrace")),
    Entry("makes namespaces", "breaks.py namespaces", HARM, Contained("ABC", CHAINED.promise, "namespaces")),
    Entry("leaves its core", "breaks.py leaving_its_core", HARM, Contained("ABC", CHAINED.promise, "a second core")),
    Entry("raises its priority", "breaks.py priorities", HARM, Contained("ABC", CHAINED.promise, "root")),
    Entry("writes to the database", "breaks.py the_database", HARM, CLOSED),
    Entry("writes into folders of bots", "breaks.py files", HARM, CLOSED),
    Entry(
        "calls servers of this machine", "breaks.py networks", HARM, Contained("ABC", "no network, no socket of others")
    ),
    Entry("burns all cores while others move", "breaks.py burning", HARM, Contained("", "it costs others time")),
    Entry("a fork bomb", "hoards.py processes", SHARES, BOUNDED),
    Entry("threads", "hoards.py threads", SHARES, BOUNDED),
    Entry("fills the disk", "hoards.py disk", SHARES, BOUNDED),
    Entry("a large file", "hoards.py a_large_file", SHARES, LIMITED),
    Entry("descriptors", "hoards.py descriptors", SHARES, LIMITED),
    Entry("memory that is no process's", "hoards.py memory_disk", SHARES, BOUNDED),
    Entry("flock", "signals.py flock", WHISPERS, CHAINED),
    Entry("locks of records", "signals.py record_lock", WHISPERS, CHAINED),
    Entry("watching who opens a file", "signals.py watch", WHISPERS, CHAINED),
    Entry("/dev/shm", "signals.py dev_shm", WHISPERS, ABSENT),
    Entry("/tmp", "signals.py tmp", WHISPERS, ABSENT),
    Entry("a file in the folder that they share", "signals.py own_folder", WHISPERS, ABSENT),
    Entry("abstract sockets", "signals.py abstract", WHISPERS, ABSENT),
    Entry("ports", "signals.py tcp", WHISPERS, ABSENT),
    Entry("keyrings", "signals.py keyring", WHISPERS, Contained("ABC", ABSENT.promise, "keyrings")),
    Entry("shared memory", "signals.py shared_memory", WHISPERS, ABSENT),
]

AT_HAND = at_hand()
VERDICTS = [
    (tier, entry)
    for tier in AT_HAND
    for entry in CATALOGUE
    if not isinstance(entry.expected, Contained) and tier in (Tier.A, Tier.D)
]
ATTEMPTED = [(tier, entry) for tier in AT_HAND for entry in CATALOGUE if isinstance(entry.expected, Contained)]


def named(value: object) -> str:
    return value.name if isinstance(value, Entry) else f"tier_{value}"


Enter = Callable[[Tier], Arena]


@pytest.fixture(scope="module")
def enter(reaper: Reaper) -> Iterator[Enter]:
    """One arena is open at a time."""
    with ExitStack() as stack:
        arenas: dict[Tier, Arena] = {}

        def open_arena(tier: Tier) -> Arena:
            if tier not in arenas:
                stack.close()
                arenas.clear()
                arenas[tier] = Arena(tier, stack.enter_context(open_folder()), reaper)
                stack.callback(arenas[tier].dismiss_neighbours)
            return arenas[tier]

        yield open_arena


def played(arena: Arena, entry: Entry, *arguments: str, cores: frozenset[int] | None = None) -> GameRecord:
    """The entry's game against a good bot, or another of its kind where it takes two."""
    program, *words = entry.program.split()
    hostile = arena.bot("hostile", program, *words, *arguments)
    other = (
        arena.bot("other", program, *words, *arguments) if entry.clause is WHISPERS else arena.bot("good", "good.py")
    )
    (record,) = arena.play(hostile, other, limits_of(entry), cores=cores)
    assert isinstance(record, GameRecord), record.reason
    return record


@pytest.mark.parametrize(("tier", "entry"), VERDICTS, ids=named)
def test_the_verdict_is_the_catalogues_and_nothing_is_left(enter: Enter, tier: Tier, entry: Entry) -> None:
    arena = enter(tier)
    boxed = tier in (Tier.A, Tier.B)
    expected = {entry.expected, entry.boxed} if boxed and entry.boxed else {entry.expected}
    for attempt in reversed(range(ATTEMPTS)):
        with arena.nothing_left(once_alone=entry.hides and not boxed):
            fault = charged(played(arena, entry))
        arena.next_game_is_right()
        assert (CLEAN if fault is None else fault.verdict) in expected, fault
        if fault is None or lateness(fault, limits_of(entry)) <= SLACK_US:
            return
        assert attempt, f"later than {SLACK_US} us, {ATTEMPTS} times"


@pytest.mark.parametrize(("tier", "entry"), ATTEMPTED, ids=named)
def test_what_is_tried_fails_where_the_tier_promises_it(enter: Enter, tier: Tier, entry: Entry) -> None:
    arena, contained = enter(tier), entry.expected
    assert isinstance(contained, Contained)
    cores = frozenset(usable_cores()[:1]) if "core" in entry.name else None
    with bait(arena) as laid:
        word = laid.token if entry.clause is WHISPERS else laid.as_argument()
        with arena.nothing_left():
            record = played(arena, entry, word, cores=cores)
        notes = {step.note for step in record.steps if step.note}
        could = {word for note in notes for word in note.removeprefix("could: ").split()}
        assert record.faults == ()
        if tier in contained.by:
            assert could == set(), f"{contained.promise}: {could}"
            laid.is_whole()
        elif tier is Tier.D and not contained.needs:
            assert could, "the attempt is none"
    arena.next_game_is_right()


NOISY = ("floods its stderr", "bytes without end", "leaves a daemon that has its pipes")
"""Those that leave the most behind, in memory, descriptors and processes."""


@pytest.mark.parametrize("tier", [tier for tier in AT_HAND if tier in (Tier.A, Tier.D)], ids=named)
def test_memory_and_descriptors_after_thirty_games_are_those_after_three(enter: Enter, tier: Tier) -> None:
    arena, good = enter(tier), "good.py"

    def measure(deals: int) -> int:
        for entry in [entry for entry in CATALOGUE if entry.name in NOISY]:
            hostile = arena.bot("hostile", *entry.program.split())
            with arena.nothing_left():
                for record in arena.play(hostile, arena.bot("good", good), limits_of(entry), deals=deals):
                    assert isinstance(record, GameRecord)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        after_three = measure(1)
        after_thirty = measure(9)
        assert after_thirty - after_three < 64 * 1024
        assert tracemalloc.get_traced_memory()[1] < after_thirty + 8 * MIB, "a bot's output is held whole"
    finally:
        tracemalloc.stop()


def test_what_cannot_be_a_bot_is_refused_in_a_line_of_its_own_before_anything_runs(tmp_path: Path) -> None:
    paths = [make(tmp_path / str(number)) for number, (make, _) in enumerate(REFUSED.values())]
    good = [folder(tmp_path / "good" / name) for name in ("one", "two")]
    work = tmp_path / "work"
    work.mkdir()
    told = referee_command("tournament", *map(str, [*good, *paths]), cwd=work)
    assert (told.returncode, told.stdout, list(work.iterdir())) == (2, "", [])
    lines = told.stderr.splitlines()
    assert len(lines) == len(REFUSED)
    for line, (_, words), path in zip(lines, REFUSED.values(), paths, strict=True):
        assert line.startswith(f"referee: {path.parent}/")
        assert words in line
    assert not set("\x1b\u202e\u200b") & set(told.stderr)


def test_the_best_tier_holds_for_who_is_not_root_too() -> None:
    if os.geteuid() != 0 or Tier.A not in AT_HAND:
        return  # all of the above was played by such a one, or there is nothing to play it in
    only = ("-k", f"tier_{Tier.A}", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", __file__)
    done = subprocess.run([*as_a_user(), "-m", "pytest", *only], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_best_tier_is_at_hand_where_it_must_be() -> None:
    assert Tier.A in AT_HAND or not os.environ.get("CI")
