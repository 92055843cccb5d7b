"""What is stored of problems, failures, gaps and requests holds no words of the catalogue."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from django.db import connection

from clusters.models import Cluster, Gap
from dra.catalogue import Choice, Entry, Plural, Statement
from dra.words import CATALOGUE
from ingest import pool_status, services
from kube.failures import Unreachable
from pools.models import Pool, PoolStatusAnswer, PoolStatusRequest
from tests.factories import kube
from tests.integration.ingest.test_pool_status import wait_for_pools, with_timeout

if TYPE_CHECKING:
    from collections.abc import Callable

    from ingest.services import SyncResult
    from simulator.cluster import Simulator

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
KINDS = {"ResourceSlice", "ResourceClaim", "DeviceTaintRule", "DeviceClass"}
LEAST_WORDS = 3


def clock() -> datetime:
    return datetime.now(UTC)


def texts(entry: Entry) -> list[str]:
    forms = (
        [entry.words.one, entry.words.many] if isinstance(entry.words, Plural) else [entry.words]
    )
    choices = [kind for kind in entry.parameters.values() if isinstance(kind, Choice)]
    return [*forms, entry.remedy, *(text for choice in choices for text in choice.words.values())]


def pieces() -> list[str]:
    """What of the catalogue's words is the same whatever the parameters are, where that is a few words at least."""
    found = {
        piece.strip()
        for entry in CATALOGUE.values()
        for text in texts(entry)
        for piece in re.split(r"%\(\w+\)[sr]", text)
    }
    return sorted(piece for piece in found if len(piece.split()) >= LEAST_WORDS)


def text_columns() -> list[tuple[str, str]]:
    """Every column of ours that may hold words."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
            " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')"
            " AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped"
            " AND a.atttypid IN ('text'::regtype, 'varchar'::regtype, 'jsonb'::regtype)"
            " ORDER BY 1, 2"
        )
        return [(table, column) for table, column in cursor.fetchall()]


def stored_sentences() -> set[tuple[str, str]]:
    """Columns in which a piece of the catalogue's words stands, with the piece."""
    found = set()
    with connection.cursor() as cursor:
        for table, column in text_columns():
            cursor.execute(
                f"SELECT DISTINCT piece FROM {table} t"
                f" JOIN unnest(%s::text[]) piece ON position(piece IN t.{column}::text) > 0",
                [pieces()],
            )
            found |= {(f"{table}.{column}", piece) for (piece,) in cursor.fetchall()}
    return found


def objects() -> list[dict[str, object]]:
    return [
        each
        for path in sorted(CASES.glob("*.yaml"))
        for each in yaml.safe_load_all(path.read_text())
        if each["kind"] in KINDS
    ]


def test_no_words_are_stored_of_what_a_cluster_says(
    simulator: Simulator, cluster: Cluster, sync: Callable[[], SyncResult]
) -> None:
    simulator.put_all(objects())
    sync()
    failure = Unreachable(Statement.of("cannot_be_reached", host="h", error="refused"))
    services.fail_cluster(cluster.pk, failure, now=clock())

    codes = {code for row in Pool.objects.all() for code in row.problem_codes}
    assert len(codes) > 9
    assert Gap.objects.exclude(failure={}).exists()
    assert Cluster.objects.exclude(reach_failure={}).exists()
    assert stored_sentences() == set()


@pytest.mark.usefixtures("following")
def test_no_words_are_stored_of_status_requests(
    simulator: Simulator, cluster: Cluster, settings: Any
) -> None:
    tainted = [{"name": "gpu-0", "taints": [{"key": "k", "effect": "NoSchedule"}]}]
    simulator.put_all(
        [
            kube.resource_slice("slice-a", pool="node-1", devices=tainted),
            kube.resource_claim("claim-a", holds=["gpu-0"], pool="node-1"),
            kube.resource_slice("slice-b", pool="node-2", count=3, driver="short.example.com"),
        ]
    )
    wait_for_pools(2)
    with_timeout(settings, seconds=2)

    pool_status.request_pool_status(cluster.pk, clock=clock)

    assert PoolStatusRequest.objects.exclude(notes=[]).exclude(blocked_by=[]).exists()
    assert PoolStatusAnswer.objects.exclude(differences=[]).exists()
    assert stored_sentences() == set()


def test_sentence_that_is_stored_is_found(cluster: Cluster) -> None:
    problem = {"message": "claim a/b holds 7 devices of d/p that are not published any more: x"}
    PoolStatusRequest.objects.create(
        cluster=cluster, name="a", driver="d", created_at=clock(), notes=[problem]
    )

    assert stored_sentences() == {
        ("pools_poolstatusrequest.notes", "that are not published any more:")
    }
