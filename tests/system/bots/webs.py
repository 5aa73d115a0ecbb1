"""Servers on this machine, for builds that fetch."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Answer(BaseHTTPRequestHandler):
    """Answers `fetched` to everybody."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"fetched")

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[int]:
    """Its port, while it serves."""
    with server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
