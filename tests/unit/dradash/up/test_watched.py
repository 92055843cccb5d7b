from dataclasses import replace
from pathlib import Path

import pytest

from dradash.config import read_config
from dradash.up import watched
from dradash.up.failure import StartFailure

KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: lab
contexts:
- {name: lab, context: {cluster: c, user: u}}
- {name: prod, context: {cluster: c, user: u}}
clusters:
- {name: c, cluster: {server: "http://127.0.0.1:1"}}
users:
- {name: u, user: {}}
"""


@pytest.fixture
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config"
    path.write_text(KUBECONFIG)
    monkeypatch.setenv("KUBECONFIG", str(path))
    return path


def test_describe_names_each_context_and_its_file(kubeconfig: Path) -> None:
    config = replace(read_config(), clusters=("prod", str(kubeconfig)), simulated=False)

    assert watched.describe(config) == (
        f"Watching: prod (kubeconfig context prod), lab (kubeconfig context lab of {kubeconfig})"
    )


@pytest.mark.parametrize(
    ("asked_for", "words"),
    [(True, "the bundled cluster"), (False, "the bundled cluster, since no real one answers")],
)
def test_describe_of_the_simulated_cluster_says_why(asked_for: bool, words: str) -> None:
    config = replace(
        read_config(), clusters=(), simulated=asked_for, simulator_url="http://127.0.0.1:1"
    )

    assert watched.describe(config) == f"Watching: simulated ({words})"


@pytest.mark.usefixtures("kubeconfig")
def test_describe_with_one_context_missing_warns() -> None:
    config = replace(read_config(), clusters=("prod", "gone"), simulated=False)

    assert watched.describe(config) == (
        "Watching: prod (kubeconfig context prod), gone (kubeconfig context gone)\n"
        "Warning: The kubeconfig has no context gone; it has: lab, prod."
    )


@pytest.mark.usefixtures("kubeconfig")
def test_describe_with_no_context_there_fails() -> None:
    config = replace(read_config(), clusters=("gone",), simulated=False)

    with pytest.raises(
        StartFailure, match=r"^The kubeconfig has no context gone; it has: lab, prod\. "
    ):
        watched.describe(config)


def test_describe_with_no_file_there_fails(tmp_path: Path) -> None:
    config = replace(read_config(), clusters=(str(tmp_path / "none"),), simulated=False)

    with pytest.raises(StartFailure, match=f"^There is no kubeconfig at {tmp_path}/none"):
        watched.describe(config)
