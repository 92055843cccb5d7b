"""What pools were when a server answered, and what that takes."""

from datetime import timedelta

import pytest

from dra.values import DriverName, PoolKey, PoolName, Release
from objects.models import Body
from objects.services.staging import open_cursor
from pools.models import ResourceSlice
from pools.services import taint_rules
from pools.services.derive import Knowledge
from pools.services.moments import Moment, pools_at
from tests.factories import kube
from tests.factories.churn import Churn
from tests.series import for_each
from tests.statements import sent_statements

pytestmark = pytest.mark.django_db

KEYS = [PoolKey(DriverName(kube.DRIVER), PoolName(name)) for name in ("node-1", "node-2")]


@pytest.fixture
def churn() -> Churn:
    made = Churn(seed=1)
    made.tell("ResourceSlice", "a", kube.resource_slice("a", pool="node-1", devices=8))
    made.tell("ResourceSlice", "b", kube.resource_slice("b", pool="node-2", devices=8))
    made.now += timedelta(minutes=5)
    return made


def hold(churn: Churn, number: int, *, pool: str) -> None:
    claim = kube.resource_claim(f"claim-{number}", holds=[f"gpu-{number}"], pool=pool)
    churn.tell("ResourceClaim", claim["metadata"]["name"], claim)


def figures(churn: Churn, moment: Moment) -> dict[str, int | None]:
    """Of each pool that did not change, how many of its devices were allocated at the answer."""
    knowledge = Knowledge(
        are_claims_known=True,
        taint_rules=taint_rules.taint_rules(churn.cluster.pk),
        release=Release(1, 37),
    )
    with open_cursor() as cursor:
        found = pools_at(cursor, churn.cluster.pk, KEYS, knowledge, moment=moment)
    return {str(key.pool): pool.counts.allocated for key, pool in found.items()}


@pytest.mark.parametrize("answered", ["9" * 5000, "next"])
def test_pools_at_an_answer_leave_out_what_changed_where_its_version_is_no_number(
    churn: Churn, answered: str
) -> None:
    moment = Moment(churn.now, str(churn.version), answered)
    hold(churn, 0, pool="node-1")

    assert figures(churn, moment) == {"node-2": 0}


def test_pools_at_an_answer_are_none_where_a_slice_of_them_cannot_be_read(churn: Churn) -> None:
    moment = Moment(churn.now, str(churn.version), str(churn.version))
    Body.objects.filter(digest=ResourceSlice.objects.get(name="a").digest).delete()

    assert figures(churn, moment) == {}


@pytest.mark.parametrize("claims", [1, 3])
def test_pools_at_an_answer_take_the_same_statements_whatever_has_changed(
    churn: Churn, claims: int
) -> None:
    asked_at, created = churn.now, str(churn.version)
    for_each(range(claims), lambda number: hold(churn, number, pool="node-1"))
    answered = str(churn.version)
    for_each(range(claims), lambda number: hold(churn, 4 + number, pool="node-2"))
    moment = Moment(asked_at, created, answered)

    with sent_statements() as sent:
        found = figures(churn, moment)

    # Of node-1 it is not known what the server saw; of node-2 nothing was held yet.
    # Rules 1, what happened 1, what was before 2, bodies 1; slices 1, their bodies 1, allocations 1.
    assert (found, len(sent)) == ({"node-2": 0}, 8)
