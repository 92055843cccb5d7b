"""Whether `dradash up` starts the simulated cluster."""

import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dradash import config
from dradash.up import command
from dradash.up.address import free_local_port

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: here
contexts: [{{name: here, context: {{cluster: here, user: me}}}}]
clusters: [{{name: here, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
users: [{{name: me, user: {{token: abc}}}}]
"""


class APIServer(http.server.BaseHTTPRequestHandler):
    """As much of one as says its version."""

    def do_GET(self) -> None:
        body = json.dumps({"gitVersion": "v1.37.2"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        return


@pytest.fixture
def answering_port() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), APIServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture(autouse=True)
def _no_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)


def use_kubeconfig(monkeypatch: pytest.MonkeyPatch, folder: Path, *, port: int) -> None:
    (folder / "config").write_text(KUBECONFIG.format(port=port))
    monkeypatch.setenv("KUBECONFIG", str(folder / "config"))


def test_simulator_is_needed_where_there_is_no_cluster() -> None:
    assert command._needs_simulator(config.read_config()) is True


def test_simulator_is_needed_where_the_current_context_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_kubeconfig(monkeypatch, tmp_path, port=free_local_port())

    assert command._needs_simulator(config.read_config()) is True


def test_simulator_is_not_needed_where_the_current_context_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answering_port: int
) -> None:
    use_kubeconfig(monkeypatch, tmp_path, port=answering_port)

    assert command._needs_simulator(config.read_config()) is False


def test_simulator_that_is_asked_for_starts_beside_a_cluster_that_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answering_port: int
) -> None:
    use_kubeconfig(monkeypatch, tmp_path, port=answering_port)

    assert command._needs_simulator(replace(config.read_config(), simulated=True)) is True


def test_simulator_is_not_needed_for_clusters_that_are_named() -> None:
    assert command._needs_simulator(replace(config.read_config(), clusters=("lab",))) is False
