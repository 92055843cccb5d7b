"""Pages as of a moment: what they show, and that nothing in them leads away from it by mistake."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from clusters.models import Cluster, Gap
from objects.models import KubeObject
from pools.models import Device, Pool
from tests.factories import api_rows, kube
from tests.factories.churn import Churn
from tests.factories.clusters import NOON
from tests.factories.snapshots import SNAPSHOT
from ui.moments import moment_text
from ui.past import answers_for_moments
from ui.snapshot import open_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.test import Client

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


@dataclass
class Page(HTMLParser):
    """Addresses, the parts that ask for news, and what is read in it."""

    html: str
    links: list[str] = field(default_factory=list)
    leaving: list[str] = field(default_factory=list)
    live: list[str] = field(default_factory=list)
    text: str = ""
    # Of its content alone, without how old something is.
    figures: str = ""
    _inside: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag in {"main", "time"}:
            self._inside.append(tag)
        address = found.get("href") or found.get("hx-get")
        # A form has the moment in a field.
        if address and tag not in {"form", "link", "script", "use"}:
            (self.leaving if "data-leaves-moment" in found else self.links).append(address)
        if "data-live" in found:
            self.live.append(found.get("id") or tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            self._inside.remove(tag)

    def handle_data(self, data: str) -> None:
        words = f" {data.strip()}" if data.strip() else ""
        self.text += words
        self.figures += words if self._inside == ["main"] else ""


@pytest.fixture
def signed_in(client: Client) -> Client:
    client.force_login(User.objects.create_user("ada"))
    return client


@pytest.fixture
def churn() -> Churn:
    """At noon a pool of two free devices; a minute later one is held; a minute later the pool is gone."""
    made = Churn(1)
    pool = kube.resource_slice("node-1", devices=2)
    made.tell("ResourceSlice", "node-1", pool)
    made.now += MINUTE
    made.tell("ResourceClaim", "claim", kube.resource_claim("claim", holds=["gpu-0"]))
    made.now += MINUTE
    made.tell("ResourceSlice", "node-1", None)
    return made


def page(client: Client, path: str, *, at: Any = NOON) -> Page:
    with time_machine.travel(NOON + HOUR, tick=False):
        response = client.get(path, {"at": at if isinstance(at, str) else moment_text(at)})
    assert response.status_code == 200, path
    return Page(response.content.decode())


def device_id(name: str) -> int:
    """Of a device that was there at noon."""
    with open_snapshot(SNAPSHOT.viewer, now=NOON + HOUR, at=NOON):
        return Device.objects.get(name=name).id


def paths() -> list[str]:
    pool = Pool.objects.get()
    return [
        "/",
        "/pools/",
        f"/pools/{pool.id}/",
        "/devices/",
        f"/devices/{device_id('gpu-0')}/",
        "/resource-slices/",
        f"/resource-slices/{KubeObject.objects.get(kind='ResourceSlice').id}/",
        "/pool-status-requests/",
        "/nodes/",
        "/clusters/",
        f"/clusters/{pool.cluster_id}/",
    ]


def losing(found: Page) -> list[str]:
    """Addresses that answer for a moment and do not have this one."""
    return [
        link
        for link in found.links
        if answers_for_moments(urlsplit(link).path)
        and parse_qs(urlsplit(link).query).get("at") != [moment_text(NOON)]
    ]


def test_every_link_of_every_page_keeps_the_moment(signed_in: Client, churn: Churn) -> None:
    pages = {path: page(signed_in, path) for path in paths()}

    assert {path: losing(found) for path, found in pages.items()} == {path: [] for path in pages}
    assert {path: found.live for path, found in pages.items()} == {path: [] for path in pages}
    # There are links that could have lost it, and some that are meant to.
    assert min(len(found.links) for found in pages.values()) > 8
    assert all("/?at=-1h" in "".join(found.leaving) for found in pages.values())


def title_of(html: str) -> str:
    return html.partition("<title>")[2].partition("</title>")[0]


def test_every_page_has_the_moment_in_its_title(signed_in: Client, churn: Churn) -> None:
    titles = {path: title_of(page(signed_in, path).html) for path in paths()}

    end = ", as of 29 Nov 2026 12:00:00 UTC · DRA-Dash"
    assert {path for path, title in titles.items() if not title.endswith(end)} == set()
    assert title_of(signed_in.get("/pools/").content.decode()) == "Pools · DRA-Dash"


@pytest.mark.parametrize(
    ("range_", "words"),
    [
        ({}, "the moment that this page is about "),
        (
            {"from": (NOON - HOUR).isoformat(), "to": (NOON + MINUTE / 2).isoformat()},
            "the moment that this page is about, after what the chart shows",
        ),
    ],
)
def test_chart_marks_the_moment_of_its_page(
    signed_in: Client, churn: Churn, range_: dict[str, str], words: str
) -> None:
    path, at = f"/pools/{Pool.objects.get().id}/", NOON + MINUTE
    with time_machine.travel(NOON + HOUR, tick=False):
        response = signed_in.get(path, {"at": moment_text(at), **range_})

    found = Page(response.content.decode())
    assert f'"at": {at.timestamp()}' in found.html
    assert f"{words}" in found.text


def test_pages_show_what_was_so_then(signed_in: Client, churn: Churn) -> None:
    free = page(signed_in, "/pools/").text
    held = page(signed_in, "/pools/", at=NOON + MINUTE).text
    gone = page(signed_in, "/pools/", at=NOON + 2 * MINUTE).text

    assert "2 of 2 devices are free" in free
    assert "1 of 2 devices are free" in held
    assert "node-1" not in gone


def test_device_is_shown_as_it_was_though_it_is_gone(signed_in: Client, churn: Churn) -> None:
    held = page(signed_in, f"/devices/{device_id('gpu-0')}/", at=NOON + MINUTE).text

    assert "Who holds it default/ claim for its request gpu" in held
    assert "As of" in held


@pytest.mark.parametrize(
    ("at", "title"), [("1h ago", "As of"), ("-1h", "As of"), ("2026-11-29 12:00", "As of")]
)
def test_moment_is_written_in_any_of_the_ways(
    signed_in: Client, churn: Churn, at: str, title: str
) -> None:
    found = page(signed_in, "/pools/", at=at)

    assert title in found.text
    assert losing(found) == []


def test_back_to_now_keeps_the_rest_of_the_address(signed_in: Client, churn: Churn) -> None:
    with time_machine.travel(NOON + HOUR, tick=False):
        response = signed_in.get("/pools/", {"at": "-1h", "q": "node", "cluster": "one"})

    assert "/pools/?q=node&cluster=one" in Page(response.content.decode()).leaving


def test_banner_says_what_was_missed_at_that_moment(signed_in: Client, churn: Churn) -> None:
    Gap.objects.create(
        cluster=churn.cluster,
        kind="ResourceClaim",
        started_at=NOON - MINUTE,
        ended_at=NOON + MINUTE,
        reason="worker_away",
    )

    then, later = page(signed_in, "/pools/"), page(signed_in, "/pools/", at=NOON + 2 * MINUTE)

    sentence = "one: ResourceClaims were not followed then, so changes of them may be missing."
    assert sentence in then.text
    assert sentence not in later.text


def test_banner_says_that_what_was_is_kept_from_a_later_moment_on(
    signed_in: Client, churn: Churn
) -> None:
    """As of a cluster that was followed already when versions were not kept yet."""
    churn.cluster.kinds.update(first_synced_at=NOON + MINUTE)

    then, later = page(signed_in, "/pools/"), page(signed_in, "/pools/", at=NOON + MINUTE)

    sentence = (
        "one: what was so is kept from 29 Nov 2026 12:01:00 UTC on, so of this moment something"
        " is missing."
    )
    assert sentence in then.text
    assert sentence not in later.text


def test_before_anything_was_read_nothing_is_shown_as_known(
    signed_in: Client, churn: Churn
) -> None:
    found = page(signed_in, "/pools/", at=NOON - HOUR)

    assert "No cluster was watched yet." in found.text
    assert "Of that moment no pools are known." in found.text
    assert "0 of 0 pools" not in found.text


def test_banner_names_kinds_that_had_never_been_read(signed_in: Client, churn: Churn) -> None:
    churn.cluster.kinds.filter(kind="DeviceTaintRule").update(
        first_synced_at=None, last_synced_at=None, state="forbidden"
    )

    found = page(signed_in, "/pools/")

    sentence = "DeviceTaintRules had not been read by then; what depends on them is unknown."
    assert f"{churn.cluster.name}: {sentence}" in found.text
    # What would let them be read is about now.
    assert "kubectl create clusterrole" not in found.text


def test_list_of_what_might_not_be_read_then_asks_for_no_right_of_now(
    signed_in: Client, churn: Churn
) -> None:
    Gap.objects.create(
        cluster=churn.cluster, kind="DeviceClass", started_at=NOON, reason="forbidden"
    )
    churn.cluster.kinds.filter(kind="DeviceClass").update(state="forbidden")

    then = page(signed_in, "/device-classes/", at=NOON + MINUTE)
    with time_machine.travel(NOON + HOUR, tick=False):
        now = Page(signed_in.get("/device-classes/").content.decode())

    assert "Of that moment no device classes are known." in then.text
    assert "DeviceClasses were not followed then" in then.text
    assert "kubectl create clusterrole" not in then.text
    assert "kubectl create clusterrole" in now.text


def test_past_says_nothing_of_requests_that_are_made_now(signed_in: Client, churn: Churn) -> None:
    found = page(signed_in, "/pool-status-requests/")
    pool = page(signed_in, f"/pools/{Pool.objects.get().id}/")

    assert "No pool status requests." in found.text
    assert "The server had not been asked about this pool by then." in pool.text
    assert "switched off" not in f"{found.text} {pool.text}".lower()
    assert "within minutes" not in found.text


@pytest.mark.parametrize("path", ["/", "/clusters/"])
def test_before_anything_was_watched_no_page_says_what_to_watch_now(
    signed_in: Client, churn: Churn, path: str
) -> None:
    found = page(signed_in, path, at=NOON - HOUR)

    assert "No cluster was watched" in found.text
    assert "DRADASH_CLUSTERS" not in found.text


def test_what_was_not_there_yet_is_not_found_and_leads_to_now(
    signed_in: Client, churn: Churn
) -> None:
    path = f"/pools/{Pool.objects.get().id}/"

    with time_machine.travel(NOON + HOUR, tick=False):
        response = signed_in.get(path, {"at": moment_text(NOON - HOUR)})

    found = Page(response.content.decode())
    assert response.status_code == 404
    assert "it was not there yet, or had not been read" in found.text
    assert path in found.leaving
    assert f"/pools/?at={moment_text(NOON - HOUR)}" in found.links


def test_missing_page_of_what_is_no_moment_is_not_found(signed_in: Client) -> None:
    response = signed_in.get("/nowhere/", {"at": "soon"})

    assert response.status_code == 404
    assert "There is nothing at this address." in Page(response.content.decode()).text


def test_cluster_of_the_past_has_nothing_to_switch(client: Client, churn: Churn) -> None:
    client.force_login(User.objects.create_superuser("root"))

    then = page(client, f"/clusters/{churn.cluster.pk}/").text
    with time_machine.travel(NOON + HOUR, tick=False):
        now = Page(client.get(f"/clusters/{churn.cluster.pk}/").content.decode()).text

    assert ("Pause reading" in now, "Pause reading" in then) == (True, False)
    assert "Only an administrator" not in then


def test_cluster_of_the_past_shows_nothing_that_is_only_known_of_now(
    signed_in: Client, churn: Churn
) -> None:
    Cluster.objects.update(
        server_version="v1.36.2", capabilities=api_rows.capabilities(), discovered_at=NOON
    )
    path = f"/clusters/{churn.cluster.pk}/"

    listed, then = page(signed_in, "/clusters/").text, page(signed_in, path).text
    with time_machine.travel(NOON + HOUR, tick=False):
        now = Page(signed_in.get(path).content.decode()).text

    words = ("v1.36.2", "Feature gates", "resource.k8s.io/v1", "Asked what it serves")
    assert [word for word in words if word not in now] == []
    assert [word for word in words if word in then or word in listed] == []
    assert "Its address, version, rights and feature gates are not." in then


def test_page_of_the_past_takes_the_same_queries_whatever_the_number_of_clusters(
    signed_in: Client, churn: Churn
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            page(signed_in, "/pools/", at=NOON + MINUTE)
        return len(queries)

    with_one = count()
    api_rows.cluster("two", created_at=NOON)
    api_rows.cluster("three", created_at=NOON)

    assert count() == with_one


@pytest.mark.parametrize("path", ["/nothing/", "/pools/nothing/", "/api/v1/docs/"])
@pytest.mark.parametrize("at", ["soon", "2999-01-01T00:00:00Z", "\0"])
def test_page_that_answers_for_no_moment_takes_no_notice_of_one(
    signed_in: Client, churn: Churn, path: str, at: str
) -> None:
    plain, asked = signed_in.get(path), signed_in.get(path, {"at": at})

    title = plain.content.decode().partition("</title>")[0]
    assert asked.status_code == plain.status_code
    assert asked.content.decode().partition("</title>")[0] == title


def test_moment_at_the_beginning_of_the_calendar_is_refused(
    signed_in: Client, churn: Churn
) -> None:
    response = signed_in.get("/", {"at": "0001-01-01T00:00:00Z"})

    assert response.status_code == 400
    assert "“0001-01-01T00:00:00Z” is no time." in Page(response.content.decode()).text


@pytest.mark.parametrize("path", ["/", "/pools/", "/devices/", "/clusters/"])
def test_what_is_no_moment_is_refused_with_what_to_write(signed_in: Client, path: str) -> None:
    response = signed_in.get(path, {"at": "soon"})

    found = Page(response.content.decode())
    assert response.status_code == 400
    assert "“soon” is no time. Write 2h ago, -2h, or 2026-03-01T12:00:00Z." in found.text
    assert path in found.links


LISTS = ("/pools/", "/devices/", "/resource-slices/", "/nodes/", "/device-classes/")
THING = re.compile(r"/(?:pools|devices|resource-slices|nodes|device-classes)/\d+/")
# What a page of a moment says otherwise: how its figures are known, where the moment is in a chart, and whom nobody asks any more.
OF_THE_MOMENT = re.compile(
    r"computed from (?:what is kept of then|\w+ at \d+(?:, \w+ at \d+)*)"
    r'|"at": (?:null|[\d.]+)'
    r"|the moment that this page is about "
    r"|ha[sd] not been asked about this pool (?:yet\. It is asked every few minutes|by then)\."
)


def figures(client: Client, now: Any, paths: Iterable[str], *, at: str = "") -> dict[str, str]:
    """What pages show, by address."""
    query = {"at": at} if at else {}
    with time_machine.travel(now, tick=False):
        return {
            path: OF_THE_MOMENT.sub("", Page(client.get(path, query).content.decode()).figures)
            for path in paths
        }


def things(client: Client, now: Any) -> set[str]:
    """Addresses of all that a list has."""
    with time_machine.travel(now, tick=False):
        links = [link for path in LISTS for link in page_of(client, path).links]
    return {link for link in links if THING.fullmatch(link)}


def page_of(client: Client, path: str) -> Page:
    return Page(client.get(path).content.decode())


def live_figures(client: Client, made: Churn, count: int) -> dict[Any, dict[str, str]]:
    """By moment, each a dozen changes after the one before: the overview, all lists, and a page of each thing in them."""
    found = {}
    for _ in range(count):
        made.steps(12)
        paths = ("/", *LISTS, *sorted(things(client, made.now)))
        found[made.now] = figures(client, made.now, paths)
    return found


def test_pages_at_five_moments_show_what_they_showed_then(signed_in: Client) -> None:
    made = Churn(3)
    Cluster.objects.update(reach="ok")
    live = live_figures(signed_in, made, 5)

    past = {
        moment: figures(signed_in, made.now + HOUR, shown, at=moment_text(moment))
        for moment, shown in live.items()
    }

    assert past == live
    # They had something to show, and not the same each time.
    assert sum(len(shown) for shown in live.values()) > 5 * (1 + len(LISTS)) + 30
    assert len({repr(found) for found in live.values()}) == 5
