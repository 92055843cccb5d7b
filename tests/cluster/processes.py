"""Free ports, and server processes that end with the test that started them."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

FIRST_PORT = 24000
# Five for the servers; the last of the ten is bound as a sign that the block is taken.
PORTS_EACH = 10
PORTS_USED = 5


class ServerFailedError(Exception):
    """A server ended by itself, or did not get ready; the text has the end of its log."""


class PortBlock:
    """Ten ports in a row that no other test run takes while this lives."""

    def __init__(self) -> None:
        for base in range(FIRST_PORT, 32000, PORTS_EACH):
            if (guard := _claim(base)) is not None:
                self.base, self._guard = base, guard
                return
        raise ServerFailedError(
            f"no free block of {PORTS_EACH} ports between {FIRST_PORT} and 32000"
        )

    def release(self) -> None:
        self._guard.close()


def _claim(base: int) -> socket.socket | None:
    guard = socket.socket()
    try:
        guard.bind(("127.0.0.1", base + PORTS_EACH - 1))
        for port in range(base, base + PORTS_USED):
            with socket.socket() as probe:
                # Servers may listen on a port whose last connections are still in TIME_WAIT.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
    except OSError:
        guard.close()
        return None
    return guard


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Lifeline:
    """A pipe that every server has as standard input; they end when its write end closes.

    That happens when this process ends in whatever way, kill -9 included.
    """

    def __init__(self) -> None:
        self.read_end, self._write_end = os.pipe()

    def cut(self) -> None:
        os.close(self._write_end)
        os.close(self.read_end)


class Server:
    """One running server process, in a session of its own so that Ctrl-C reaches only the test."""

    def __init__(self, command: Sequence[str], *, log: Path, lifeline: Lifeline) -> None:
        self.name = command[1]
        self.log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                cwd=log.parent,
                stdin=lifeline.read_end,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | {"CONTROLPLANE_END_WITH_STDIN": "1"},
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def send(self, sig: int) -> None:
        self._process.send_signal(sig)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self._process.wait()

    def log_end(self) -> str:
        return self.log.read_text(errors="replace")[-3000:]

    def require_running(self) -> None:
        if not self.is_running:
            code = self._process.returncode
            raise ServerFailedError(f"{self.name} ended with code {code}:\n{self.log_end()}")


def wait_until_refused(port: int, *, seconds: float = 10) -> None:
    """Wait until nothing accepts connections on the port."""
    end = time.monotonic() + seconds
    while is_listening(port):
        if time.monotonic() > end:
            raise ServerFailedError(f"port {port} still accepts connections")
        time.sleep(0.02)
