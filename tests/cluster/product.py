"""The product on one control plane: as the ServiceAccount with exactly the rights that are shipped."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ObjectDoesNotExist
from django.db import connection
from django.test import Client

from api import tokens
from clusters import services as cluster_services
from clusters.choices import Source
from clusters.models import Cluster, ClusterKind, Gap
from clusters.services import WatchedCluster
from ingest import services
from ingest.services import SyncResult
from kube.targets import Target
from objects.models import KubeObject, ObjectEvent
from pools.models import Device, Pool, PoolSample, PoolStatusRequest
from tests.cluster.controlplane import ControlPlane
from tests.cluster.rights import ACCOUNT, NAMESPACE, shipped_rights

# total, allocated, partly used, unavailable, blocked, available, with admin access
Figures = tuple[int | None, ...]


def clock() -> datetime:
    return datetime.now(UTC)


def install(plane: ControlPlane, *, expiration_seconds: int = 3600) -> Path:
    """Give the product its rights, and write its kubeconfig with a token of the TokenRequest API."""
    plane.apply(shipped_rights())
    token = plane.service_account_token(NAMESPACE, ACCOUNT, expiration_seconds)
    return plane.kubeconfig(ACCOUNT, token=token)


def wait_for_right(plane: ControlPlane, path: str, *, is_given: bool) -> None:
    """The API server's own reading of rights lags a little."""
    client = plane.as_token(plane.service_account_token(NAMESPACE, ACCOUNT))
    plane.wait_for(
        lambda: (client.request("GET", path).status == 200) == is_given,
        what=f"the right to {path}",
    )


def process_environment(plane: ControlPlane) -> dict[str, str]:
    """For processes of the product that work on the test's database and watch this control plane."""
    database = connection.settings_dict
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "dradash.settings",
        "DATABASE_URL": f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}",
        "DRADASH_CLUSTERS": str(install(plane)),
    }


@dataclass(frozen=True)
class Product:
    """One control plane as a watched cluster. The database is that of the test."""

    plane: ControlPlane
    cluster: Cluster

    @classmethod
    def watching(cls, plane: ControlPlane) -> "Product":
        target = Target("kubeconfig", path=str(install(plane)), context="test")
        wanted = WatchedCluster(f"at {plane.url}", Source.KUBECONFIG, target)
        return cls(plane, cluster_services.ensure_clusters([wanted], now=clock())[0])

    # The collection

    def sync(self) -> SyncResult:
        """One pass: a full read of what has no cursor, else windows as short as there are."""
        return services.sync_cluster(self.cluster.pk, seconds=0, clock=clock)

    def read_anew(self) -> SyncResult:
        """One pass of full reads."""
        ClusterKind.objects.filter(cluster=self.cluster).update(resource_version="")
        return self.sync()

    @contextmanager
    def following(self) -> Iterator[None]:
        """A worker's thread that follows the cluster, window after window."""
        is_over = threading.Event()
        failures: list[BaseException] = []

        def follow() -> None:
            try:
                while not is_over.is_set():
                    services.sync_cluster(self.cluster.pk, seconds=5, clock=clock)
                    is_over.wait(0.2)
            except BaseException as error:
                failures.append(error)
            finally:
                connection.close()

        thread = threading.Thread(target=follow)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
        if failures:
            raise failures[0]

    def retry_now(self) -> None:
        """What waits after a failure may be tried at once."""
        ClusterKind.objects.filter(cluster=self.cluster).update(retry_at=None)

    # What it knows

    def figures(self, pool: str, driver: str) -> Figures:
        row = Pool.objects.get(cluster=self.cluster, driver=driver, name=pool)
        return (
            row.devices_total,
            row.devices_allocated,
            row.devices_partly_used,
            row.devices_unavailable,
            row.devices_blocked,
            row.devices_available,
            row.devices_admin_access,
        )

    def progress(self, pool: str) -> tuple[int | None, int, int | None]:
        """Generation, slices seen and slices expected."""
        row = Pool.objects.get(cluster=self.cluster, name=pool)
        return row.generation, row.slices_seen, row.slices_expected

    def states(self, driver: str) -> dict[str, str]:
        """State by device; of a partly used one that, since it is allocated anyway."""
        rows = Device.objects.filter(cluster=self.cluster, driver=driver)
        return {row.name: "partly used" if row.is_partly_used else row.state for row in rows}

    def offered(self) -> set[tuple[str, str, str, int | None]]:
        """Devices that are said to be free for a claim for them alone."""
        rows = Device.objects.filter(cluster=self.cluster)
        return {
            (row.driver, row.pool_name, row.name, row.generation)
            for row in rows
            if row.state == "available" or row.is_partly_used
        }

    def kind(self, name: str) -> ClusterKind:
        return ClusterKind.objects.get(cluster=self.cluster, kind=name)

    def kind_states(self) -> dict[str, str]:
        rows = ClusterKind.objects.filter(cluster=self.cluster)
        return dict(rows.values_list("kind", "state"))

    def reach(self) -> str:
        return Cluster.objects.get(pk=self.cluster.pk).reach

    def events(self, kind: str) -> list[tuple[int, str]]:
        """Operations and names of the log, in its order."""
        known = KubeObject.objects.filter(cluster=self.cluster, kind=kind)
        names = dict(known.values_list("id", "name"))
        rows = ObjectEvent.objects.filter(cluster=self.cluster, object_id__in=names)
        ordered = rows.order_by("at", "object_id").values_list("op", "object_id")
        return [(op, names[number]) for op, number in ordered]

    def samples(self, pool: str) -> list[tuple[int | None, bool, int | None, int | None]]:
        """Generation, completeness, total and available of each sample of a pool."""
        row = Pool.objects.get(cluster=self.cluster, name=pool)
        samples = PoolSample.objects.filter(cluster=self.cluster, pool_id=row.id).order_by("at")
        return list(samples.values_list("generation", "is_complete", "total", "available"))

    def gaps(self, kind: str) -> list[tuple[str, bool]]:
        """Reason, and whether it is over."""
        rows = Gap.objects.filter(cluster=self.cluster, kind=kind).order_by("started_at")
        return [(row.reason, row.ended_at is not None) for row in rows]

    # What others see

    def api(self) -> Client:
        user, _ = User.objects.get_or_create(username="ada")
        _, token = tokens.create_token(user, name="", expires_at=None, now=clock())
        return Client(headers={"Authorization": f"Bearer {token}"})

    def rest(self, path: str) -> Any:
        """The JSON of an answer of the REST API, which must be 200."""
        response = self.api().get(f"/api/v1/{path}")
        assert response.status_code == 200, response.content
        return response.json()

    def requests(self) -> list[tuple[str, str, bool]]:
        """Pool, outcome, and whether the object is gone, of each pool status request."""
        rows = PoolStatusRequest.objects.filter(cluster=self.cluster).order_by("id")
        return list(rows.values_list("pool_name", "outcome", "is_removed"))

    def page(self, path: str) -> str:
        """The text of a page, which must be 200."""
        browser = Client()
        browser.force_login(User.objects.get_or_create(username="ada")[0])
        response = browser.get(path)
        assert response.status_code == 200
        return response.content.decode()


def eventually(condition: Callable[[], object], *, seconds: float = 30) -> None:
    """Until it holds; the assertion after the time is up says what does not."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with suppress(ObjectDoesNotExist):
            if condition():
                return
        time.sleep(0.05)
    assert condition()
