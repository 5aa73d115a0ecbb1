"""Messages over a stream: whole or not at all, however the bytes are cut."""

from __future__ import annotations

import socket

from hypothesis import given
from hypothesis import strategies as st

from referee.tournament.engine.framing import FrameBuffer, frame, read_frame, write_frame


@given(st.lists(st.binary(max_size=300)), st.lists(st.integers(1, 50), min_size=1))
def test_messages_come_out_as_they_went_in_wherever_the_stream_is_cut(messages: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(map(frame, messages))
    buffer = FrameBuffer()
    came: list[bytes] = []
    turn = 0
    while stream:
        size = cuts[turn % len(cuts)]
        came += buffer.feed(stream[:size])
        stream = stream[size:]
        turn += 1
    assert came == messages


def test_half_a_message_is_no_message() -> None:
    buffer = FrameBuffer()
    assert buffer.feed(frame(b"whole") + frame(b"not whole")[:-1]) == [b"whole"]
    assert buffer.feed(b"e") == [b"not whole"]


def test_a_connection_cut_in_a_message_reads_as_its_end() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            write_frame(theirs, b"one")
            theirs.sendall(frame(b"two")[:-1])
        assert read_frame(ours) == b"one"
        assert read_frame(ours) is None
