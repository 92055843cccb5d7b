"""A small HTTP server on loopback that answers exactly as told, well or badly."""

import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

TLS_HANDSHAKE = b"\x16"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """`parts` are sent one by one; a number is a pause in seconds."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    parts: tuple[bytes | float, ...] = ()
    framing: Literal["length", "chunked", "until_close"] = "length"
    # proper: as HTTP wants it. cut: closed without the final chunk or the promised length.
    # reset: TCP RST. keep: held open, silent. hang_up: whole, then closed without a word.
    end: Literal["proper", "cut", "reset", "keep", "hang_up"] = "proper"


Respond = Callable[[Request], Reply]


def reply_json(value: object, *, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Reply(status, {"content-type": "application/json", **named}, (body,))


def reply_stream(*parts: bytes | float, end: str = "proper", **headers: str) -> Reply:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(
        200,
        {"content-type": "application/json", **named},
        parts,
        framing="chunked",
        end=end,  # type: ignore[arg-type]
    )


class ApiServer:
    def __init__(self, respond: Respond, tls: ssl.SSLContext | None) -> None:
        self.respond = respond
        self.requests: list[Request] = []
        self.accepted = 0
        self._tls = tls
        self._stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def stop(self) -> None:
        self._stopping.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, plain: socket.socket) -> None:
        connection = plain
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(plain, server_side=True)
            elif plain.recv(1, socket.MSG_PEEK) == TLS_HANDSHAKE:
                plain.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                return
            self._open.add(connection)
            with connection.makefile("rb") as incoming:
                while (request := _read_request(incoming)) is not None:
                    self.requests.append(request)
                    if not self._send(connection, self.respond(request)):
                        break
        except OSError:
            pass
        finally:
            self._open.discard(connection)
            connection.close()

    def _send(self, connection: socket.socket, reply: Reply) -> bool:
        """Whether the connection lives on."""
        data = [part for part in reply.parts if isinstance(part, bytes)]
        headers = dict(reply.headers)
        if reply.framing == "length":
            missing = 0 if reply.end in {"proper", "hang_up"} else 10
            headers["content-length"] = str(sum(map(len, data)) + missing)
        elif reply.framing == "chunked":
            headers["transfer-encoding"] = "chunked"
        else:
            headers["connection"] = "close"
        head = f"HTTP/1.1 {reply.status} As Told\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        connection.sendall(head.encode() + b"\r\n")
        for part in reply.parts:
            if isinstance(part, float):
                self._stopping.wait(part)
                continue
            frame = b"%x\r\n%s\r\n" % (len(part), part)
            connection.sendall(frame if reply.framing == "chunked" else part)
        return self._end(connection, reply)

    def _end(self, connection: socket.socket, reply: Reply) -> bool:
        if reply.end == "proper":
            if reply.framing == "chunked":
                connection.sendall(b"0\r\n\r\n")
            return reply.framing != "until_close"
        if reply.end == "hang_up":
            return False
        if reply.end == "reset":
            time.sleep(0.05)  # so that what was sent is read before the reset takes it away
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if reply.end == "keep":
            self._stopping.wait(30)
        return False


def _read_request(incoming: object) -> Request | None:
    readline, read = incoming.readline, incoming.read  # type: ignore[attr-defined]
    first = readline().decode("latin-1").split()
    if len(first) != 3:
        return None
    headers: dict[str, str] = {}
    while (line := readline().decode("latin-1").strip()) != "":
        name, _, value = line.partition(":")
        known = headers.get(name.lower())
        headers[name.lower()] = f"{known}, {value.strip()}" if known else value.strip()
    body = read(int(headers.get("content-length", "0")))
    parts = urlsplit(first[1])
    return Request(first[0], parts.path or first[1], dict(parse_qsl(parts.query)), headers, body)


@contextmanager
def serving(respond: Respond | Reply, *, tls: ssl.SSLContext | None = None) -> Iterator[ApiServer]:
    reply = respond
    server = ApiServer((lambda _: reply) if isinstance(reply, Reply) else respond, tls)  # type: ignore[arg-type]
    try:
        yield server
    finally:
        server.stop()
