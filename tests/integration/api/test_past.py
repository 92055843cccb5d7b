"""What the API answers of a moment of the past is what it answered then."""

from __future__ import annotations

import json
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
import time_machine
from django.urls import reverse

from api import urls
from api.views.listing import ListView
from clusters import services
from clusters.models import Cluster
from kube.identity import Identity
from tests.factories import api_rows
from tests.factories.churn import STEP, Churn
from tests.factories.clusters import NOON

if TYPE_CHECKING:
    from datetime import datetime

    from django.test import Client

pytestmark = pytest.mark.django_db

STEPS = 60
MOMENTS = 50
# Tell how old something is and how it was read, not what was so: the latest moment at which all was known, and up to which versions.
AGES = frozenset({"observed_at", "source", "resource_versions"})
# Of clusters only gaps are kept.
LISTS = [
    reverse(f"api:{each.name}")
    for each in urls.urlpatterns
    if issubclass(getattr(each.callback, "view_class", object), ListView)
    and each.name not in {"clusters", "pool-status-requests"}
]


def without_ages(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_ages(each) for name, each in value.items() if name not in AGES}
    return [without_ages(each) for each in value] if isinstance(value, list) else value


def answer(api: Client, path: str, *, at: str = "") -> tuple[int, str]:
    """Status and body, which of a list is all of it. No address in it has a moment of its own."""
    query = {**({"at": at} if at else {}), **({"limit": "1000"} if path in LISTS else {})}
    response = api.get(path, query)
    return response.status_code, json.dumps(without_ages(response.json()))


def answers(api: Client, paths: list[str], *, at: str = "") -> dict[str, tuple[int, str]]:
    return {path: answer(api, path, at=at) for path in paths}


def details(found: dict[str, tuple[int, str]]) -> list[str]:
    return [
        f"{path}{row['id']}/" for path in LISTS for row in json.loads(found[path][1])["results"]
    ]


def everything(api: Client) -> dict[str, tuple[int, str]]:
    """All lists, and each thing that one of them has."""
    lists = answers(api, LISTS)
    return {**lists, **answers(api, details(lists))}


def live_answers(api: Client, churn: Churn) -> dict[datetime, dict[str, tuple[int, str]]]:
    """By moment, halfway between two changes."""
    found = {}
    for _ in range(STEPS):
        churn.step()
        moment = churn.now + STEP / 2
        with time_machine.travel(moment, tick=False):
            found[moment] = everything(api)
    return found


def past_answers(
    api: Client, live: dict[datetime, dict[str, tuple[int, str]]]
) -> dict[datetime, dict[str, tuple[int, str]]]:
    return {
        moment: answers(api, list(found), at=moment.isoformat().replace("+00:00", "Z"))
        for moment, found in live.items()
    }


@pytest.mark.parametrize("seed", [1])
def test_past_is_what_was_answered_then(api: Client, seed: int) -> None:
    churn = Churn(seed)
    live = live_answers(api, churn)
    chosen = dict(Random(seed).sample(sorted(live.items()), MOMENTS))

    with time_machine.travel(churn.now + timedelta(hours=1), tick=False):
        past = past_answers(api, chosen)

    assert past == chosen
    # Things came and went: it could have been otherwise.
    assert len({json.dumps(found) for found in chosen.values()}) > MOMENTS / 2


def test_answer_about_the_past_names_its_moment(api: Client) -> None:
    churn = Churn(1)
    with time_machine.travel(churn.now + timedelta(hours=2), tick=False):
        past = api.get(reverse("api:pools"), {"at": "-2h"})
        now = api.get(reverse("api:pools"))

    assert past["Dradash-At"] == NOON.isoformat().replace("+00:00", "Z")
    assert "Dradash-At" not in now
    assert past["ETag"] != now["ETag"]


def test_moment_before_any_cluster_was_known_is_stale(api: Client) -> None:
    churn = Churn(1)
    with time_machine.travel(churn.now + timedelta(hours=1), tick=False):
        before = api.get(reverse("api:pools"), {"at": "-2h"})

    body = before.json()
    assert (before["Dradash-Stale"], body["stale"], body["freshness"]) == ("true", True, [])
    assert (body["count"], body["total"], body["results"]) == (None, None, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("soon", "“soon” is no time. Write 2h ago, -2h, or 2026-03-01T12:00:00Z."),
        (
            "2999-01-01T00:00:00Z",
            "2999-01-01T00:00:00Z is in the future. Write a time before now, such as 2h ago.",
        ),
        (
            "0001-01-01T00:00:00Z",
            "“0001-01-01T00:00:00Z” is no time. Write 2h ago, -2h, or 2026-03-01T12:00:00Z.",
        ),
        ("-31d", "Everything is kept for 30 days. Write a later time."),
    ],
)
def test_what_is_no_moment_is_refused(api: Client, text: str, message: str) -> None:
    response = api.get(reverse("api:devices"), {"at": text})

    assert (response.status_code, response.json()["errors"]) == (
        400,
        [{"parameter": "at", "message": message}],
    )


def test_what_is_kept_only_from_later_on_is_not_taken_for_all_there_was(api: Client) -> None:
    churn = Churn(1)
    churn.cluster.kinds.update(first_synced_at=NOON + timedelta(minutes=1))

    with time_machine.travel(NOON + timedelta(hours=1), tick=False):
        then = api.get(reverse("api:pools"), {"at": "-1h"}).json()
        later = api.get(reverse("api:pools"), {"at": "-59m"}).json()

    assert (then["stale"], then["freshness"][0]["observed_at"]) == (True, None)
    assert later["freshness"][0]["observed_at"] is not None


def test_name_is_that_of_the_cluster_that_had_it_then(api: Client) -> None:
    later = NOON + timedelta(hours=1)
    first = Cluster.objects.create(name="one", created_at=NOON, server="http://a", authority="1")
    with time_machine.travel(later + timedelta(hours=1), tick=False):
        services.recognise(first.pk, Identity("", "2", "http://a"), now=later)
        second = Cluster.objects.get(name="one", replaced_at=None)
        before, now = (
            api.get("/api/v1/clusters/", {"at": at} if at else {}).json()["results"]
            for at in ("2026-11-29T12:30:00Z", "")
        )
        named = [
            [row["id"] for row in api.get("/api/v1/clusters/", {"name": name}).json()["results"]]
            for name in ("one", str(first.pk))
        ]
        found = {
            at: api.get("/api/v1/pools/", {"cluster": "one", "at": at}).json()["freshness"]
            for at in ("2026-11-29T12:30:00Z", "2026-11-29T13:30:00Z")
        }

    shown = ("id", "name", "watched", "replaced_at")
    assert [[row[name] for name in shown] for row in before] == [
        [str(first.pk), "one", True, None]
    ]
    assert [[row[name] for name in shown] for row in now] == [
        [str(first.pk), "one", False, "2026-11-29T13:00:00Z"],
        [str(second.pk), "one", True, None],
    ]
    assert named == [[str(second.pk)], [str(first.pk)]]
    assert {at: [each["cluster_id"] for each in rows] for at, rows in found.items()} == {
        "2026-11-29T12:30:00Z": [str(first.pk)],
        "2026-11-29T13:30:00Z": [str(second.pk)],
    }


def test_cluster_of_the_past_has_nothing_that_is_only_known_of_now(api: Client) -> None:
    found = api_rows.capabilities()
    churn = Churn(1)
    Cluster.objects.update(
        url="http://a", context="c", is_paused=True, capabilities=found, discovered_at=NOON
    )
    churn.cluster.kinds.update(failures=2, relists=3)
    path = reverse("api:cluster", args=[churn.cluster.pk])

    with time_machine.travel(NOON + timedelta(hours=1), tick=False):
        then, now = api.get(path, {"at": "-1m"}).json(), api.get(path).json()

    of_now = ("paused", "server", "context", "pool_status_requests", "discovered_at")
    found_out = ("server_version", "versions", "rights", "gates")
    of_kinds = ("api_version", "object_count", "failures", "relists")
    assert None not in [*(now[name] for name in of_now), now["versions"], now["rights"]]
    assert {name: then[name] for name in (*of_now, *found_out)} == dict.fromkeys(
        (*of_now, *found_out)
    )
    assert [{name: each[name] for name in of_kinds} for each in then["kinds"]] == [
        dict.fromkeys(of_kinds) for _ in now["kinds"]
    ]


def test_next_page_is_of_the_same_moment(api: Client) -> None:
    churn = Churn(1)
    churn.steps(40)
    with time_machine.travel(churn.now + timedelta(hours=2), tick=False):
        first = api.get(reverse("api:devices"), {"at": "-2h", "limit": "1"}).json()
    with time_machine.travel(churn.now + timedelta(hours=3), tick=False):
        second = api.get(first["next"])

    assert second["Dradash-At"] == churn.now.isoformat().replace("+00:00", "Z")
