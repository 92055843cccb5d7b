"""Every address that reads the database does so in one snapshot."""

from collections.abc import Callable, Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from api.views.base import SnapshotView
from clusters.views.live import LivePage

# What these read, write or show is no cluster's: people, preferences, and texts that are the same for everyone.
WITHOUT = {
    "login",
    "logout",
    "set_language",
    "ui:preferences",
    "ui:styleguide",
    "api:index",
    "api:openapi",
    "api:openapi-yaml",
    "api:docs",
    "missing",
    # They write, and lead to a page.
    "clusters:pause",
    "clusters:resume",
    "clusters:pool_status",
}


def addresses(resolver: Any, namespace: str = "") -> Iterator[tuple[str, Callable[..., Any]]]:
    for each in resolver.url_patterns:
        if isinstance(each, URLResolver):
            yield from addresses(each, f"{each.namespace}:" if each.namespace else namespace)
        if isinstance(each, URLPattern):
            yield f"{namespace}{each.name}", each.callback


def reads_one_snapshot(view: Any) -> bool:
    return isinstance(view, LivePage) or issubclass(getattr(view, "cls", object), SnapshotView)


def test_every_address_reads_one_snapshot_or_nothing_of_a_cluster() -> None:
    found = dict(addresses(get_resolver()))

    assert {name for name, view in found.items() if not reads_one_snapshot(view)} == WITHOUT
    assert found.keys() > WITHOUT
