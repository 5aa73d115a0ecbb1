"""The catalogue: every entry with the program that does it and what must become of it."""

from __future__ import annotations

from bots.hostile.entries import CLEAN, Contained, Entry

from referee.errors import Verdict

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
    Entry("closes its stdout and lives", "dies.py closes_stdout_and_lives", END, CRASH),
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
    Entry("changes limits of others", "breaks.py limits", HARM, CHAINED),
    Entry("slows others down", "breaks.py slowing", HARM, CHAINED),
    Entry("changes modes, owners and attributes", "breaks.py modes", HARM, CLOSED),
    Entry("changes times of files", "breaks.py times", HARM, CLOSED),
    Entry("sends datagrams to servers", "breaks.py datagrams", HARM, CHAINED),
    Entry("burns all cores while others move", "breaks.py burning", HARM, Contained("", "it costs others time")),
    Entry("a fork bomb", "hoards.py processes", SHARES, BOUNDED),
    Entry("threads", "hoards.py threads", SHARES, BOUNDED),
    Entry("fills the disk", "hoards.py disk", SHARES, BOUNDED),
    Entry("a large file", "hoards.py a_large_file", SHARES, LIMITED),
    Entry("descriptors", "hoards.py descriptors", SHARES, LIMITED),
    Entry("memory that is no process's", "hoards.py memory_disk", SHARES, BOUNDED),
    Entry("flock", "signals.py flock", WHISPERS, CHAINED),
    Entry("locks of records", "signals.py record_lock", WHISPERS, CHAINED),
    Entry("a lock of records that is taken", "signals.py taken_lock", WHISPERS, CHAINED),
    Entry("a lock of an open file that is taken", "signals.py open_lock", WHISPERS, CHAINED),
    Entry("a lock in the list of the kernel", "signals.py listed_lock", WHISPERS, CHAINED),
    Entry("times of a device", "signals.py device_time", WHISPERS, CHAINED),
    Entry("hints for writing", "signals.py write_hint", WHISPERS, Contained("ABC", CHAINED.promise, "Linux 4.13")),
    Entry("watching who opens a file", "signals.py watch", WHISPERS, CHAINED),
    Entry(
        "times of access",
        "signals.py access_time",
        WHISPERS,
        Contained("AB", "a file that is only read stays as it is", "a file system that keeps such times"),
    ),
    Entry("/dev/shm", "signals.py dev_shm", WHISPERS, ABSENT),
    Entry("/tmp", "signals.py tmp", WHISPERS, ABSENT),
    Entry("a file in the folder that they share", "signals.py own_folder", WHISPERS, ABSENT),
    Entry("abstract sockets", "signals.py abstract", WHISPERS, ABSENT),
    Entry("ports", "signals.py tcp", WHISPERS, ABSENT),
    Entry("keyrings", "signals.py keyring", WHISPERS, Contained("ABC", ABSENT.promise, "keyrings")),
    Entry("shared memory", "signals.py shared_memory", WHISPERS, ABSENT),
]
