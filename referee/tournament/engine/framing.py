"""Whole messages over a stream socket: four bytes of length, most significant first, then the message."""

from __future__ import annotations

import socket

_HEADER = 4


def frame(message: bytes) -> bytes:
    """One message as it goes over the wire."""
    return len(message).to_bytes(_HEADER, "big") + message


def write_frame(connection: socket.socket, message: bytes) -> None:
    """Send one message, for as long as it takes. Raises OSError where the other end is gone."""
    connection.sendall(frame(message))


def read_frame(connection: socket.socket) -> bytes | None:
    """Wait for one whole message; None where the other end is gone."""
    header = _read(connection, _HEADER)
    return None if header is None else _read(connection, int.from_bytes(header, "big"))


def _read(connection: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        try:
            piece = connection.recv(min(size - len(data), 1 << 20))
        except OSError:
            return None
        if not piece:
            return None
        data += piece
    return bytes(data)


class FrameBuffer:
    """Bytes as they come in, cut into messages by whoever must not wait for the rest of one."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, piece: bytes) -> list[bytes]:
        """Take in some bytes; returns the messages that are whole now."""
        data = self._data
        data += piece
        messages = []
        begin = 0
        while len(data) - begin >= _HEADER:
            end = begin + _HEADER + int.from_bytes(data[begin : begin + _HEADER], "big")
            if end > len(data):
                break
            messages.append(bytes(data[begin + _HEADER : end]))
            begin = end
        del data[:begin]
        return messages
