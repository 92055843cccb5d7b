from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from clusters import services
from clusters.models import Cluster
from kube.identity import Identity
from tests.factories import api_rows
from tests.factories.api_rows import NOON
from tests.integration.conftest import Ask, Visit
from tests.pages import heading, main, parse
from tests.series import for_each


@pytest.fixture
def cluster(db: None) -> Cluster:
    return api_rows.cluster(
        capabilities=api_rows.capabilities(), server_version="v1.36.2", discovered_at=NOON
    )


def banners(client: Client, path: str = "/clusters/") -> list[str]:
    section = parse(client.get(path)).one(id="frame-banners")
    return [banner.text for banner in section.all("div", class_="banner")]


def submit(client: Client, page: str, button: str) -> Any:
    """Press a button of a page, with the token that its form holds."""
    form = next(
        form
        for form in parse(client.get(page)).one("main").all("form")
        if button in [each.text for each in form.all("button")]
    )
    pressed = next(each for each in form.all("button") if each.text == button)
    fields = {each.attributes["name"]: each.attributes["value"] for each in form.all("input")}
    if "name" in pressed.attributes:
        fields[pressed.attributes["name"]] = pressed.attributes["value"]
    return client.post(form.attributes["action"], fields)


def test_cluster_list_says_how_each_is_reached_and_how_fresh(visit: Visit) -> None:
    api_rows.cluster("fine", server_version="v1.36.2")
    api_rows.cluster(
        "lost",
        reach="unreachable",
        reach_failure=api_rows.said("Nobody is there."),
        synced_at=None,
    )
    api_rows.cluster("paused", is_paused=True, synced_at=NOON - timedelta(hours=2))

    page = visit("/clusters/")

    assert page.rows() == [
        {
            "Cluster": "fine kubeconfig",
            "Reach": "reachable",
            "Version": "v1.36.2",
            "Known as of": "4 s ago",
            "Objects": "6",
            "Open gaps": "0",
        },
        {
            "Cluster": "lost kubeconfig",
            "Reach": "unreachable Nobody is there.",
            "Version": "unknown",
            "Known as of": "not read yet",
            "Objects": "6",
            "Open gaps": "0",
        },
        {
            "Cluster": "paused kubeconfig paused",
            "Reach": "reachable",
            "Version": "unknown",
            "Known as of": "2 h ago stale",
            "Objects": "6",
            "Open gaps": "0",
        },
    ]
    assert page.answer == "3 clusters, 1 of them read and current."


def test_cluster_list_without_a_cluster_says_what_to_do(visit: Visit) -> None:
    page = visit("/clusters/")

    assert page.answer == (
        "No cluster is watched. Name one in DRADASH_CLUSTERS, or start with --simulated."
    )


def test_cluster_list_all_fine(visit: Visit, cluster: Cluster) -> None:
    assert visit("/clusters/").answer == "1 cluster, read and current."


def test_cluster_list_counts_nothing_before_anything_was_read(visit: Visit) -> None:
    api_rows.cluster(reach="unknown").kinds.update(object_count=None)

    row = visit("/clusters/").rows()[0]

    assert (row["Objects"], row["Reach"]) == ("unknown", "not tried yet")


def test_cluster_list_names_kinds_that_cannot_be_read_and_gaps(visit: Visit) -> None:
    cluster = api_rows.cluster()
    cluster.kinds.filter(kind="ResourceClaim").update(state="forbidden")
    api_rows.gap(cluster)

    row = visit("/clusters/").rows()[0]

    assert (row["Reach"], row["Open gaps"]) == ("reachable ResourceClaim: not allowed", "1")


def test_cluster_list_that_is_no_longer_watched_is_left_out_unless_chosen(visit: Visit) -> None:
    api_rows.cluster("old", is_watched=False)

    assert visit("/clusters/").one("tbody").text == "No cluster is watched."
    assert visit("/clusters/?cluster=old").rows()[0]["Cluster"] == (
        "old kubeconfig no longer watched"
    )


@pytest.mark.parametrize("rows", [1, 3])
def test_cluster_list_whatever_its_length_takes_the_same_queries(
    visit: Visit, django_assert_num_queries: Any, rows: int
) -> None:
    for_each(range(rows), lambda number: api_rows.gap(api_rows.cluster(f"c-{number}")))

    # Session and person 2, the snapshot 4, clusters with kinds and gaps 3.
    with django_assert_num_queries(9):
        page = visit("/clusters/")

    assert len(page.rows()) == rows


def test_cluster_list_live_part(ask: Ask, visit: Visit, cluster: Cluster) -> None:
    first = ask("/clusters/")

    same = ask("/clusters/", **{"If-None-Match": first["ETag"]})

    assert (first.status_code, same.status_code) == (200, 304)
    part = parse(first)
    assert part.one(id="cluster-list").text == visit("/clusters/").one(id="cluster-list").text


def test_cluster_page_says_what_is_served_allowed_and_read(visit: Visit, cluster: Cluster) -> None:
    page = visit(f"/clusters/{cluster.pk}/")

    assert page.answer == "Runs v1.36.2. All that we need is read and current."
    rows = {row["Kind"]: row for row in page.one("section", aria_labelledby="kinds-title").rows()}
    assert rows["ResourceSlice"] == {
        "Kind": "ResourceSlice",
        "Served as": "resource.k8s.io/v1",
        "Rights": "list",
        "State": "watching",
        "Objects": "2",
        "Known as of": "4 s ago",
        "Read anew": "0",
    }
    assert rows["ResourceClaim"]["Served as"] == "not served"
    assert rows["Node"] == {
        "Kind": "Node",
        "Served as": "not served",
        "Rights": "unknown",
        "State": "not read yet",
    }
    gates = page.one("section", aria_labelledby="gates-title").one("tbody")
    assert [cell.text for cell in gates.all("tr")[0].all()] == ["DRAPartitionableDevices", "on"]
    assert page.facts()["Nodes"] == "unknown"


def test_cluster_page_of_one_made_anew_says_so_and_leads_to_the_one_before(
    visit: Visit, cluster: Cluster
) -> None:
    name = cluster.name
    services.recognise(cluster.pk, Identity("uid-1", "", "http://a"), now=NOON)
    services.recognise(cluster.pk, Identity("uid-2", "", "http://a"), now=NOON)
    successor = Cluster.objects.get(name=name, replaced_at=None)

    page, before = visit(f"/clusters/{successor.pk}/"), visit(f"/clusters/{cluster.pk}/")

    assert [
        (link.text, link.attributes["href"]) for link in page.all("a") if "until" in link.text
    ] == [(f"{name} (until 1 Mar 2026 12:00:00 UTC)", f"/clusters/{cluster.pk}/")]
    assert "another cluster answers under this name" in page.text
    assert "another cluster answers under its name" in before.text
    assert "No longer watched. This is what was stored." in before.text


def test_lists_of_a_cluster_made_anew_are_its_own_and_those_of_the_one_before_stay(
    viewer: Client, cluster: Cluster
) -> None:
    api_rows.pool(cluster, "of-before")
    earlier = {"kube_system_uid": "uid-1", "server": "http://a"}
    Cluster.objects.filter(pk=cluster.pk).update(**earlier)
    services.recognise(cluster.pk, Identity("uid-2", "", "http://a"), now=NOON)
    successor = Cluster.objects.get(name=cluster.name, replaced_at=None)
    api_rows.pool(successor, "of-now")
    pools = {
        named: main(viewer.get(f"/pools/?cluster={named}")).text
        for named in (cluster.name, str(cluster.pk))
    }

    assert ("of-now" in pools[cluster.name], "of-before" in pools[cluster.name]) == (True, False)
    before = pools[str(cluster.pk)]
    assert ("of-now" in before, "of-before" in before) == (False, True)
    assert banners(viewer, f"/pools/?cluster={cluster.pk}") == [
        f"{cluster.name} (until 1 Mar 2026 12:00:00 UTC) is no longer watched. This is what was stored of it."
    ]


def test_cluster_page_before_discovery_knows_nothing(visit: Visit) -> None:
    cluster = api_rows.cluster(synced_at=None, server_version="")

    page = visit(f"/clusters/{cluster.pk}/")

    facts = page.facts()
    assert (facts["Version"], facts["Known as of"], facts["Asked what it serves"]) == (
        "unknown",
        "unknown",
        "not yet",
    )
    rows = page.one("section", aria_labelledby="kinds-title").rows()
    assert {row["Served as"] for row in rows} == {"unknown"}
    assert page.one("section", aria_labelledby="gates-title").one("p").text.startswith("Unknown")
    assert page.answer == (
        "Runs a version that is not known yet. It was not read for longer than it should be."
    )


def test_cluster_page_names_missing_rights_with_the_line_that_grants_them(visit: Visit) -> None:
    found = api_rows.capabilities()
    found["rights"] = [["ResourceClaim", "list", False], ["ResourceClaim", "watch", False]]
    cluster = api_rows.cluster(capabilities=found)

    rows = visit(f"/clusters/{cluster.pk}/").one("section", aria_labelledby="kinds-title").rows()

    (claims,) = [row for row in rows if row["Kind"] == "ResourceClaim"]
    assert claims["Rights"].startswith(
        "may not list, watch kubectl create clusterrole dradash-resourceclaims --verb="
    )


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"is_watched": False}, "No longer watched. This is what was stored."),
        ({"is_paused": True}, "Paused: nothing new is read."),
        ({"reach": "tls", "reach_failure": api_rows.said("Its name differs.")}, "Certificate problem. Its name differs."),
    ],
)  # fmt: skip
def test_cluster_page_answers_by_what_matters_most(
    visit: Visit, fields: dict[str, Any], answer: str
) -> None:
    cluster = api_rows.cluster(**fields)

    assert visit(f"/clusters/{cluster.pk}/").answer == answer


def test_cluster_page_names_what_cannot_be_read(visit: Visit, cluster: Cluster) -> None:
    cluster.kinds.filter(kind="ResourceClaim").update(
        state="failing", failure=api_rows.said("Broken."), failing_since=NOON
    )

    page = visit(f"/clusters/{cluster.pk}/")

    assert page.answer == "Runs v1.36.2. Not everything can be read: ResourceClaim."
    (row,) = [
        row
        for row in page.one("section", aria_labelledby="kinds-title").rows()
        if row["Kind"] == "ResourceClaim"
    ]
    assert row["State"] == "failing Broken. since 4 s ago"


def test_cluster_page_joins_gaps_of_several_kinds(visit: Visit, cluster: Cluster) -> None:
    half_past, after = NOON - timedelta(minutes=30), NOON - timedelta(minutes=29)
    three = timedelta(minutes=3)
    api_rows.gap(cluster, kind="ResourceSlice", started_at=half_past, ended_at=half_past + three)
    api_rows.gap(cluster, kind="ResourceClaim", started_at=after, ended_at=after + three)
    api_rows.gap(cluster, kind="Node", started_at=NOON, reason="relist")

    section = visit(f"/clusters/{cluster.pk}/").one("section", aria_labelledby="gaps-title")

    assert section.rows() == [
        {
            "From": "1 Mar 2026 12:00:00 UTC",
            "For": "it lasts",
            "What": "Node Everything had to be read anew; what changed and changed back before that was not seen.",
        },
        {
            "From": "1 Mar 2026 11:30:00 UTC",
            "For": "4 min",
            "What": "ResourceSlice, ResourceClaim The API server could not be read.",
        },
    ]


@pytest.mark.parametrize(
    ("unread", "text"),
    [
        ([], "None: every change since the first read was seen."),
        (
            ["ResourceClaim"],
            "None in what is read: every change since its first read was seen. Not read yet: ResourceClaims.",
        ),
        (
            ["ResourceSlice", "ResourceClaim", "DeviceTaintRule"],
            "Not read yet, so nothing is known of changes.",
        ),
    ],
)
def test_cluster_page_without_gaps_says_so_only_of_what_was_read(
    visit: Visit, cluster: Cluster, unread: list[str], text: str
) -> None:
    cluster.kinds.filter(kind__in=unread).update(state="waiting", last_synced_at=None)

    section = visit(f"/clusters/{cluster.pk}/").one("section", aria_labelledby="gaps-title")

    assert section.one("p", class_="card-text").text == text


@pytest.mark.parametrize(
    ("fields", "why"),
    [({"is_paused": True}, "paused"), ({"is_watched": False}, "no longer watched")],
)
def test_cluster_page_of_what_is_left_unread_calls_nothing_watched_or_seen(
    visit: Visit, cluster: Cluster, fields: dict[str, Any], why: str
) -> None:
    Cluster.objects.filter(pk=cluster.pk).update(**fields)

    page = visit(f"/clusters/{cluster.pk}/")

    kinds = page.one("section", aria_labelledby="kinds-title").rows()
    (slices,) = [row for row in kinds if row["Kind"] == "ResourceSlice"]
    gaps = page.one("section", aria_labelledby="gaps-title")
    assert slices["State"] == why
    assert gaps.one("p", class_="card-text").text == (
        f"None noted so far. Nothing is read now: {why}."
    )


def test_cluster_page_names_nodes_that_are_not_ready(visit: Visit, cluster: Cluster) -> None:
    cluster.kinds.create(kind="Node", state="watching", last_synced_at=NOON, object_count=3)
    api_rows.node(cluster, "a")
    api_rows.node(cluster, "b", is_ready=False)
    api_rows.node(cluster, "c", is_ready=None)

    page = visit(f"/clusters/{cluster.pk}/")

    assert page.facts()["Nodes"] == "3, 1 not ready: b"
    assert page.links()["b"] == "/nodes/?cluster=prod&name=b"


@pytest.mark.parametrize("gaps", [1, 3])
def test_cluster_page_whatever_happened_takes_the_same_queries(
    visit: Visit, cluster: Cluster, django_assert_num_queries: Any, gaps: int
) -> None:
    for_each(range(gaps), lambda number: api_rows.gap(cluster, kind=f"Kind{number}"))
    for_each(range(gaps), lambda number: api_rows.node(cluster, f"n-{number}", is_ready=False))

    # Session, person and their rights 4, the snapshot 4, the cluster with kinds 2, the frame 3, nodes and gaps 2.
    with django_assert_num_queries(15):
        visit(f"/clusters/{cluster.pk}/")


def test_cluster_page_live_part(ask: Ask, visit: Visit, cluster: Cluster) -> None:
    first = ask(f"/clusters/{cluster.pk}/")

    same = ask(f"/clusters/{cluster.pk}/", **{"If-None-Match": first["ETag"]})

    assert (first.status_code, same.status_code) == (200, 304)
    part = parse(first)
    assert part.all("form") == []
    assert part.one(id="cluster").text == visit(f"/clusters/{cluster.pk}/").one(id="cluster").text


def test_cluster_that_does_not_exist_is_not_found(viewer: Client) -> None:
    answer = viewer.get("/clusters/4711/")

    assert (answer.status_code, heading(answer)) == (404, "Not found")


def test_viewer_sees_no_buttons_and_may_change_nothing(
    visit: Visit, viewer: Client, cluster: Cluster
) -> None:
    page = visit(f"/clusters/{cluster.pk}/")

    answers = [
        viewer.post(f"/clusters/{cluster.pk}/{action}/", {"mode": "on"}).status_code
        for action in ("pause", "resume", "pool-status-requests")
    ]

    assert (page.all("form"), answers) == ([], [403, 403, 403])
    cluster.refresh_from_db()
    assert (cluster.is_paused, cluster.pool_status_mode) == (False, "auto")


def test_operator_pauses_and_resumes(operator: Client, cluster: Cluster) -> None:
    address = f"/clusters/{cluster.pk}/"

    paused = submit(operator, address, "Pause reading")
    cluster.refresh_from_db()
    was_paused = cluster.is_paused
    resumed = submit(operator, address, "Resume reading")
    cluster.refresh_from_db()

    assert (paused.status_code, paused["Location"]) == (302, address)
    assert (resumed.status_code, was_paused, cluster.is_paused) == (302, True, False)


def test_operator_switches_pool_status_requests(operator: Client, cluster: Cluster) -> None:
    address = f"/clusters/{cluster.pk}/"

    submit(operator, address, "Switch on")
    cluster.refresh_from_db()
    switched_on = cluster.pool_status_mode
    submit(operator, address, "Switch off")
    cluster.refresh_from_db()

    assert (switched_on, cluster.pool_status_mode) == ("on", "off")


def test_change_without_the_token_of_its_form_is_refused(
    operator: Client, cluster: Cluster
) -> None:
    answer = operator.post(f"/clusters/{cluster.pk}/pause/")

    cluster.refresh_from_db()
    assert (answer.status_code, cluster.is_paused) == (403, False)


def test_change_to_a_mode_that_does_not_exist_is_not_found(
    operator: Client, cluster: Cluster
) -> None:
    token = parse(operator.get(f"/clusters/{cluster.pk}/")).one("main").all("input")[0]

    answer = operator.post(
        f"/clusters/{cluster.pk}/pool-status-requests/",
        {"mode": "maybe", "csrfmiddlewaretoken": token.attributes["value"]},
    )

    cluster.refresh_from_db()
    assert (answer.status_code, cluster.pool_status_mode) == (404, "auto")


def test_resuming_a_cluster_that_does_not_exist_is_not_found(
    operator: Client, cluster: Cluster
) -> None:
    token = parse(operator.get(f"/clusters/{cluster.pk}/")).one("main").all("input")[0]

    answer = operator.post(
        f"/clusters/{cluster.pk + 1}/resume/",
        {"csrfmiddlewaretoken": token.attributes["value"]},
    )

    assert (answer.status_code, answer["Content-Type"]) == (404, "text/html; charset=utf-8")


def test_changes_are_made_by_post_alone(operator: Client, cluster: Cluster) -> None:
    answer = operator.get(f"/clusters/{cluster.pk}/pause/")

    cluster.refresh_from_db()
    assert (answer.status_code, answer["Allow"], cluster.is_paused) == (405, "POST", False)


def test_anonymous_is_asked_to_sign_in(
    client: Client, plain_static: None, cluster: Cluster
) -> None:
    answer = client.post(f"/clusters/{cluster.pk}/pause/")

    cluster.refresh_from_db()
    assert (answer.status_code, cluster.is_paused) == (302, False)
    assert answer["Location"].startswith("/accounts/login/?next=")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"source": "simulated", "name": "simulated"}, ["This is the simulated cluster: nothing in it is real."]),
        ({"source": "simulated", "name": "toy"}, ["toy is a simulated cluster: nothing in it is real."]),
        ({"is_paused": True}, ["prod is paused: nothing new is read. Resume it on its page"]),
        (
            {"reach": "timeout", "reach_failure": api_rows.said("No answer in 5 s."), "reach_changed_at": NOON},
            [
                ("prod: too slow. No answer in 5 s. What is shown is the latest that was read."
                " Since 1 Mar 2026 12:00:00 UTC, 4 s ago. Details")
            ],
        ),
        (
            {"synced_at": NOON - timedelta(hours=2)},
            [
                ("prod was not read for longer than it should be. Is the worker running?"
                " Since 1 Mar 2026 10:00:00 UTC, 2 h ago. Details")
            ],
        ),
        ({}, []),
    ],
)  # fmt: skip
def test_banners_say_what_must_be_known_first(
    viewer: Client, fields: dict[str, Any], said: list[str]
) -> None:
    api_rows.cluster(**fields)

    assert banners(viewer) == said


def test_banner_of_a_first_read_shows_its_progress(viewer: Client) -> None:
    cluster = api_rows.cluster(synced_at=None)
    cluster.kinds.filter(kind="ResourceSlice").update(state="reading", read_count=1234)

    assert banners(viewer, "/pools/") == ["prod is read for the first time. 1 234 objects so far"]


def test_banner_of_a_missing_right_has_the_line_that_grants_it(viewer: Client) -> None:
    cluster = api_rows.cluster()
    cluster.kinds.filter(kind="ResourceClaim").update(state="forbidden")

    (text,) = banners(viewer, "/pools/")

    assert text.startswith(
        "prod: we may not read ResourceClaims. What depends on them is unknown. kubectl create"
    )


LATEST = (
    "What is shown of them is the latest that was read. Since 1 Mar 2026 12:00:00 UTC, 4 s ago."
)
UNKNOWN = "What depends on them is unknown."


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        ("ResourceSlice", {"state": "forbidden"}, f"prod: we may not read ResourceSlices. {LATEST}"),
        (
            "ResourceSlice",
            {"state": "forbidden", "last_synced_at": None},
            f"prod: we may not read ResourceSlices. {UNKNOWN}",
        ),
        ("DeviceTaintRule", {"state": "forbidden"}, f"prod: we may not read DeviceTaintRules. {UNKNOWN}"),
        (
            "ResourceClaim",
            {"state": "failing", "failure": api_rows.said("Garbled.")},
            f"prod: ResourceClaims cannot be read. Garbled. {LATEST}",
        ),
        (
            "ResourceClaim",
            {"state": "failing", "failure": api_rows.said("Garbled."), "last_synced_at": None},
            f"prod: ResourceClaims cannot be read. Garbled. {UNKNOWN}",
        ),
        (
            "DeviceClass",
            {"state": "failing", "failure": api_rows.said("Garbled.")},
            f"prod: DeviceClasses cannot be read. Garbled. {LATEST}",
        ),
    ],
)  # fmt: skip
def test_banner_of_a_kind_that_cannot_be_read_says_what_is_shown_and_how_old(
    viewer: Client, kind: str, fields: dict[str, Any], said: str
) -> None:
    cluster = api_rows.cluster()
    cluster.kinds.update_or_create(kind=kind, defaults={"last_synced_at": NOON, **fields})

    (text,) = banners(viewer, "/pools/")

    assert text.partition(" kubectl create")[0].removesuffix(" Details") == said


def test_banner_of_a_cluster_that_was_never_reached_says_that_nothing_was_read(
    viewer: Client,
) -> None:
    api_rows.cluster(
        reach="timeout", reach_failure=api_rows.said("No answer in 5 s."), synced_at=None
    )

    assert banners(viewer) == [
        "prod: too slow. No answer in 5 s. Nothing was read of it yet. Details"
    ]


def test_banner_of_a_gap(viewer: Client) -> None:
    api_rows.gap(api_rows.cluster("gappy"))

    assert banners(viewer) == [
        "gappy: changes of ResourceSlices may be missing. Since 1 Mar 2026 12:00:00 UTC, 4 s ago. Details",
    ]


def test_banner_of_a_cluster_that_does_not_exist(viewer: Client) -> None:
    api_rows.cluster()

    assert banners(viewer, "/pools/?cluster=absent") == [
        "There is no cluster called absent. All clusters"
    ]


def test_frame_offers_clusters_and_says_what_each_is_like(viewer: Client) -> None:
    api_rows.cluster("a")
    api_rows.cluster("b", is_paused=True)
    api_rows.cluster("c", reach="tls")
    api_rows.cluster("d", synced_at=NOON - timedelta(hours=1))
    api_rows.cluster("e", source="simulated")
    api_rows.cluster("f", is_watched=False)
    reading = api_rows.cluster("g")
    reading.kinds.filter(kind="ResourceSlice").update(state="reading")

    menu = parse(viewer.get("/pools/?cluster=f&sort=name")).one(
        "details", class_="cluster-chooser"
    )

    assert [entry.text for entry in menu.all("a")] == [
        "All clusters",
        "a",
        "b paused",
        "c certificate problem",
        "d stale",
        "e simulated",
        "f no longer watched",
        "g first read",
    ]
    assert menu.one("a", aria_current="true").attributes["href"] == "/pools/?cluster=f&sort=name"


def test_status_fragment_brings_freshness_and_banners(ask: Ask) -> None:
    api_rows.cluster("one", is_paused=True)
    api_rows.cluster("two")

    first = ask("/clusters/status/?cluster=one")
    same = ask("/clusters/status/?cluster=one", **{"If-None-Match": first["ETag"]})

    part = parse(first)
    assert part.one(id="frame-freshness").text == "Read 4 s ago"
    assert part.one(id="frame-banners").attributes["hx-swap-oob"] == "true"
    assert [b.text for b in part.all("div", class_="banner")] == [
        "one is paused: nothing new is read. Resume it on its page"
    ]
    assert same.status_code == 304


def test_status_fragment_without_clusters(ask: Ask) -> None:
    assert parse(ask("/clusters/status/")).one(id="frame-freshness").text == "No cluster"
