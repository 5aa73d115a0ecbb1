"""Whole messages over a stream socket: four bytes of length, most significant first, then the message."""

from __future__ import annotations

import socket

_HEADER = 4


def write_frame(connection: socket.socket, message: bytes) -> None:
    """Send one message. Raises OSError where the other end is gone."""
    connection.sendall(len(message).to_bytes(_HEADER, "big") + message)


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
