"""Where pages are served, and whether anybody else is there already."""

import errno
import http.client
import socket
from dataclasses import dataclass

from dradash.up.failure import StartFailure

HIGHEST_PORT = 65_535
ANY_HOST = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 -- only compared with
ANSWER_SECONDS = 10
SERVER_ERROR = 500


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """What a person on this machine opens."""
        return f"http://{Address(ANY_HOST.get(self.host, self.host), self.port)}/"


def parse_address(host: str, port: str) -> Address:
    if not port.isdecimal() or not 0 < int(port) <= HIGHEST_PORT:
        raise StartFailure(f"PORT is {port!r}, which is no port.", f"Use 1 to {HIGHEST_PORT}.")
    return Address(host, int(port))


def require_free(address: Address) -> None:
    """Find out before anything starts; what takes the port a moment later is reported by the web server."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As gunicorn does: connections that are closing do not hold the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
        except OSError as error:
            raise _refusal(address, error) from error


def free_local_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(address: Address, path: str, *, host_name: str) -> bool:
    """Does a page come back? Straight, whatever proxy the environment names."""
    host = ANY_HOST.get(address.host, address.host)
    connection = http.client.HTTPConnection(host, address.port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", path, headers={"Host": host_name})
        return connection.getresponse().status < SERVER_ERROR
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _refusal(address: Address, error: OSError) -> StartFailure:
    another = f"Choose another one: PORT={min(address.port + 1, HIGHEST_PORT)} make run."
    match error.errno:
        case errno.EADDRINUSE:
            return StartFailure(f"Port {address.port} is taken by another program.", another)
        case errno.EACCES:
            return StartFailure(f"Port {address.port} is kept for root.", "Choose one above 1023.")
        case _:
            problem = f"Pages cannot be served at {address}: {error.strerror or error}."
            return StartFailure(problem, "Set DRADASH_HOST to an address of this machine.")
