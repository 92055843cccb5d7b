"""A count that leads to a list is the count of that list: on what a sync of the simulated cluster stored."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User

from clusters import services as cluster_services
from clusters.choices import Source
from clusters.models import Cluster
from clusters.services import WatchedCluster
from ingest import services
from kube.targets import Target
from pools.choices import Severity
from pools.models import Node, Pool
from simulator import server
from tests.pages import Element, main

if TYPE_CHECKING:
    from django.test import Client

_LISTS = {"/pools/", "/devices/", "/nodes/", "/resource-slices/", "/device-classes/"}
_COUNT = re.compile(r"(\d[\d\u202f]*)(?: \D.*)?")


def clock() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def signed_in(transactional_db: None, plain_static: None, client: Client) -> Client:
    """In front of a fleet with whole, broken, tainted and partly used pools."""
    with server.start("fleet") as simulator:
        target = Target("url", url=simulator.url)
        wanted = WatchedCluster("simulated", Source.SIMULATED, target)
        (cluster,) = cluster_services.ensure_clusters([wanted], now=clock())
        services.sync_cluster(cluster.pk, seconds=0, clock=clock)
    Node.objects.filter(id=Node.objects.order_by("name")[0].id).update(is_ready=False)
    client.force_login(User.objects.create_user("ada"))
    return client


def count_of(text: str) -> int | None:
    found = _COUNT.fullmatch(text)
    return int(found[1].replace("\u202f", "")) if found else None


def counts_with_links(page: Element) -> list[tuple[str, int]]:
    """Addresses of lists, each with the number that leads there."""
    found = [(link.attributes["href"], count_of(link.text)) for link in page.all("a")]
    return [
        (address, count)
        for address, count in found
        if count is not None and urlsplit(address).path in _LISTS
    ]


def rows_at(client: Client, address: str) -> int:
    """How many rows the list there says that match."""
    count: int = client.get(address).context["page"].list.count
    return count


def counts_of(client: Client, path: str) -> list[tuple[str, int]]:
    return counts_with_links(main(client.get(path)))


@pytest.mark.parametrize(
    ("page", "least"), [("overview", 25), ("chosen", 25), ("cluster", 2), ("pools", 0)]
)
def test_count_with_a_link_is_the_count_of_the_list_it_leads_to(
    signed_in: Client, page: str, least: int
) -> None:
    paths = {
        "overview": "/",
        "chosen": "/?cluster=simulated",
        "cluster": f"/clusters/{Cluster.objects.get().pk}/",
        "pools": "/pools/",
    }

    found = counts_of(signed_in, paths[page])

    assert [(address, rows_at(signed_in, address)) for address, _ in found] == found
    assert len(found) >= least


def test_notes_alone_are_no_problems(signed_in: Client) -> None:
    """A pool with a note that nothing is wrong with is in neither the count nor the list behind it."""
    assert Pool.objects.filter(severity=Severity.INFO).exists()

    serious, any_of_them = (
        rows_at(signed_in, f"/pools/?problem={word}") for word in ("serious", "any")
    )

    assert serious == Pool.objects.filter(severity__gte=Severity.WARNING).count()
    assert any_of_them > serious > 0
