import socket
from collections.abc import Iterator

import pytest

from dradash.up.address import Address, answers, free_local_port, parse_address, require_free
from dradash.up.failure import StartFailure


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.mark.parametrize("port", ["0", "65536", "http", "", "-1"])
def test_parse_address_of_no_port_is_refused(port: str) -> None:
    with pytest.raises(StartFailure, match=f"PORT is {port!r}, which is no port"):
        parse_address("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "text", "url"),
    [
        ("127.0.0.1", "127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("0.0.0.0", "0.0.0.0:8000", "http://127.0.0.1:8000/"),
        ("::", "[::]:8000", "http://[::1]:8000/"),
    ],
)
def test_address_of_every_interface_is_opened_on_this_machine(
    host: str, text: str, url: str
) -> None:
    address = parse_address(host, "8000")

    assert (str(address), address.url) == (text, url)


def test_require_free_when_port_is_taken_says_which_and_what_to_do(taken_port: int) -> None:
    with pytest.raises(StartFailure) as refused:
        require_free(Address("127.0.0.1", taken_port))

    assert str(refused.value) == (
        f"Port {taken_port} is taken by another program. "
        f"Choose another one: PORT={taken_port + 1} make run."
    )


def test_require_free_of_foreign_address_names_the_variable() -> None:
    with pytest.raises(StartFailure, match="Set DRADASH_HOST to an address of this machine"):
        require_free(Address("192.0.2.1", 25190))


def test_require_free_when_port_is_free_returns() -> None:
    require_free(Address("127.0.0.1", free_local_port()))


def test_answers_when_nobody_listens_is_false() -> None:
    assert answers(Address("127.0.0.1", free_local_port()), "/", host_name="localhost") is False
