"""The HTTP server: bytes in, bytes out, and whatever a fault does to them. It knows nothing of Kubernetes."""

import contextlib
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from simulator.answers import Answer, Request, json_answer, text_answer
from simulator.faults import Fault, Faults
from simulator.statuses import Refusal

_GARBAGE: Final = b'\x00{"type": garbled \xff'


class Server:
    """Listens on loopback. Can go down and come up again on the same port, abruptly or in order."""

    def __init__(self, answer: Callable[[Request], Answer], faults: Faults, *, port: int) -> None:
        self._answer = answer
        self._faults = faults
        self._listener: _Listener | None = None
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        # Watches of an earlier epoch end when they look; raised when connections are cut.
        self._epoch = 0
        self.port = port

    def up(self) -> None:
        """Bind and serve; a port of 0 is chosen at the first time and kept."""
        self._listener = _Listener(("127.0.0.1", self.port), self)
        self.port = self._listener.server_address[1]
        self._thread = threading.Thread(
            target=self._listener.serve_forever,
            kwargs={"poll_interval": 0.05},
            name="simulator",
            daemon=True,
        )
        self._thread.start()

    def down(self, *, is_abrupt: bool) -> None:
        """Stop listening. Abruptly: open connections are cut where they are, as by SIGKILL.

        In order, as by SIGTERM: new connections are refused, open watches live on to their end.
        """
        if self._listener is None or self._thread is None:
            return
        listener, self._listener = self._listener, None
        listener.shutdown()
        listener.server_close()
        self._thread.join()
        if is_abrupt:
            self.cut_connections()

    def cut_connections(self) -> None:
        with self._lock:
            self._epoch += 1
            connections = list(self._connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def opened(self, connection: socket.socket) -> int:
        with self._lock:
            self._connections.add(connection)
            return self._epoch

    def closed(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)

    def is_over(self, epoch: int) -> bool:
        return epoch != self._epoch

    def is_draining(self, listener: Any) -> bool:
        return listener is not self._listener

    def answer(self, request: Request) -> Answer:
        try:
            return self._answer(request)
        except Refusal as refusal:
            return _refused(refusal)

    def fault(self, method: str, target: str) -> Fault | None:
        return self._faults.take(method, target)


def _refused(refusal: Refusal) -> Answer:
    if refusal.delay_seconds:
        time.sleep(refusal.delay_seconds)
    if isinstance(refusal.body, str):
        return text_answer(refusal.code, refusal.body, headers=refusal.headers)
    return json_answer(refusal.code, refusal.body, headers=refusal.headers)


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], owner: Server) -> None:
        self.owner = owner
        super().__init__(address, _Handler)

    def server_close(self) -> None:
        # Not waiting for threads: a watch may have half an hour to go.
        self.socket.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients go away in the middle of watches all the time; whatever else goes wrong is our mistake."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 0
    server: _Listener

    def setup(self) -> None:
        super().setup()
        self._epoch = self.server.owner.opened(self.connection)

    def finish(self) -> None:
        self.server.owner.closed(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: the product logs what it asks."""

    def version_string(self) -> str:
        return "simulator"

    def do_GET(self) -> None:
        self._respond()

    do_POST = do_PUT = do_DELETE = do_PATCH = do_GET  # noqa: N815 -- named by the base class

    def _respond(self) -> None:
        if self.server.owner.is_draining(self.server):
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._is_cut = False
        fault = self.server.owner.fault(self.command, self.path)
        try:
            self._respond_with(fault, body)
        except (BrokenPipeError, ConnectionError):
            self.close_connection = True

    def _respond_with(self, fault: Fault | None, body: bytes) -> None:
        if fault is None:
            self._send(self.server.owner.answer(self._request(body)), None)
        elif fault.how == "reset":
            self._reset()
        elif fault.how == "hang":
            self._hang()
        elif refusal := fault.refusal():
            self._send(_refused(refusal), None)
        else:
            self._send(self.server.owner.answer(self._request(body)), fault)

    def _request(self, body: bytes) -> Request:
        split = urlsplit(self.path)
        return Request(
            method=self.command,
            path=split.path,
            query=dict(parse_qsl(split.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
            is_over=self._is_over,
        )

    def _is_over(self) -> bool:
        return self.server.owner.is_over(self._epoch)

    def _send(self, answer: Answer, fault: Fault | None) -> None:
        is_whole = isinstance(answer.body, bytes)
        pieces: Iterable[bytes] = [answer.body] if isinstance(answer.body, bytes) else answer.body
        self.send_response(answer.code)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if isinstance(answer.body, bytes):
            self.send_header("Content-Length", str(len(answer.body)))
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in self._spoilt(pieces, fault):
            if not piece:  # would end a chunked body
                continue
            self.wfile.write(piece if is_whole else b"%x\r\n%s\r\n" % (len(piece), piece))
        if self._is_over():
            # Cut, not ended: without the final chunk a client can tell.
            self.close_connection = True
        elif not is_whole and not self._is_cut:
            self.wfile.write(b"0\r\n\r\n")

    def _spoilt(self, pieces: Iterable[bytes], fault: Fault | None) -> Iterator[bytes]:
        if fault is None:
            yield from pieces
            return
        position = 0
        for piece in pieces:
            if fault.how == "slow":
                yield from self._slowly(piece, fault.bytes_per_second)
                continue
            room = fault.after_bytes - position
            position += len(piece)
            if room < 0 or room >= len(piece):
                yield piece
            elif fault.how == "garble":
                yield _garbled(piece, room)
            else:
                yield piece[:room]
                if fault.how == "stall":
                    self._hang()
                self._is_cut = self.close_connection = True
                return

    def _slowly(self, piece: bytes, bytes_per_second: float) -> Iterator[bytes]:
        size = max(int(bytes_per_second / 10), 1)
        for start in range(0, len(piece), size):
            yield piece[start : start + size]
            time.sleep(0.1)

    def _reset(self) -> None:
        """Close so that the client sees a reset and not an end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def _hang(self) -> None:
        """Say nothing until the client goes away, or the server does."""
        self.close_connection = True
        self.connection.settimeout(0.2)
        while not self._is_over():
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                continue


def _garbled(piece: bytes, at: int) -> bytes:
    """As long as before, so that only the content is wrong."""
    return (piece[:at] + _GARBAGE[: len(piece) - at] + piece[at + len(_GARBAGE) :])[: len(piece)]
