"""An HTTP proxy on loopback that knows CONNECT only."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class TunnelProxy:
    """Tunnels one connection and keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def stop(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)

    def _serve(self) -> None:
        with suppress(OSError):
            client, _ = self._listener.accept()
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(4096)
            self.asked.append(head.split(b"\r\n")[0].decode().rpartition(" ")[0])
            host, port = head.split()[1].decode().split(":")
            with client, socket.create_connection((host, int(port))) as upstream:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=_pump, args=(upstream, client))
                back.start()
                _pump(client, upstream)
                back.join(10)


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(65536):
            sink.sendall(chunk)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@contextmanager
def tunnelling() -> Iterator[TunnelProxy]:
    proxy = TunnelProxy()
    try:
        yield proxy
    finally:
        proxy.stop()
