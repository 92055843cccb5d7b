from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from kube.connect import Connection, connect
from kube.targets import Target
from tests.unit.kube.api_server import ApiServer, Reply, Respond, serving

Serve = Callable[[Respond | Reply], tuple[ApiServer, Connection]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server that answers as told, and a connection to it."""
    with ExitStack() as stack:

        def start(respond: Respond | Reply) -> tuple[ApiServer, Connection]:
            server = stack.enter_context(serving(respond))
            connection = connect(Target("url", url=server.url))
            stack.callback(connection.close)
            return server, connection

        yield start
