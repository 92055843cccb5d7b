from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from clusters.choices import Source
from clusters.models import Cluster
from clusters.services import WatchedCluster
from ingest.configured import configured_clusters
from ingest.services import ensure_clusters
from kube.targets import Target
from tests.factories.clusters import NOON

if TYPE_CHECKING:
    from pathlib import Path

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: {name}
clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:1"}}}}]
users: [{{name: u, user: {{}}}}]
contexts: [{{name: {name}, context: {{cluster: c, user: u}}}}]
"""


@dataclass(frozen=True)
class Configured:
    clusters: tuple[str, ...] = ()
    simulated: bool = False
    simulator_url: str | None = None


@pytest.fixture(autouse=True)
def _nobody_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)


def test_configured_clusters_nothing_named_and_nothing_answers_is_not_known() -> None:
    assert configured_clusters(Configured()) is None


def test_configured_clusters_simulated_is_the_bundled_one() -> None:
    found = configured_clusters(Configured(simulated=True, simulator_url="http://127.0.0.1:9"))

    target = Target("url", url="http://127.0.0.1:9")
    assert found == [WatchedCluster("simulated", Source.SIMULATED, target)]


def test_configured_clusters_contexts_and_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(KUBECONFIG.format(name="prod"))
    second.write_text(KUBECONFIG.format(name="prod"))

    found = configured_clusters(Configured(clusters=(str(first), str(second), "staging")))

    assert found == [
        WatchedCluster(
            "prod", Source.KUBECONFIG, Target("kubeconfig", path=str(first), context="prod")
        ),
        WatchedCluster(
            f"prod ({second})",
            Source.KUBECONFIG,
            Target("kubeconfig", path=str(second), context="prod"),
        ),
        WatchedCluster("staging", Source.KUBECONFIG, Target("kubeconfig", context="staging")),
    ]


def test_configured_clusters_file_that_is_no_kubeconfig_is_watched_and_says_why_later(
    tmp_path: Path,
) -> None:
    broken = tmp_path / "broken"
    broken.write_text("{")

    found = configured_clusters(Configured(clusters=(str(broken),)))

    assert found == [
        WatchedCluster(str(broken), Source.KUBECONFIG, Target("kubeconfig", path=str(broken)))
    ]


def test_configured_clusters_missing_file_stays_a_file_and_is_no_context(tmp_path: Path) -> None:
    missing = str(tmp_path / "east.yaml")

    found = configured_clusters(Configured(clusters=(missing, "team/east")))

    assert found == [
        WatchedCluster(missing, Source.KUBECONFIG, Target("kubeconfig", path=missing)),
        WatchedCluster("team/east", Source.KUBECONFIG, Target("kubeconfig", context="team/east")),
    ]


@pytest.mark.django_db
def test_file_that_cannot_be_read_for_a_moment_goes_on_meaning_what_it_meant(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(KUBECONFIG.format(name="prod"))
    second.write_text(KUBECONFIG.format(name="prod"))
    configured: Any = Configured(clusters=(str(first), str(second)))
    before = ensure_clusters(configured, now=NOON)

    first.write_text("{")
    while_written = ensure_clusters(configured, now=NOON)

    rows = Cluster.objects.order_by("pk").values_list("name", "kubeconfig_path", "context")
    assert while_written == before
    assert list(rows) == [
        ("prod", str(first), "prod"),
        (f"prod ({second})", str(second), "prod"),
    ]
