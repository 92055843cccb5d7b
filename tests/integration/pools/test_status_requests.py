"""What a server answers is stored whatever it is."""

from typing import Any

import pytest

from pools.choices import Outcome
from pools.models import PoolStatusAnswer, PoolStatusRequest
from pools.services import status_requests
from tests.factories import api_rows
from tests.factories.api_rows import NOON

pytestmark = pytest.mark.django_db

POOL = {"driver": "gpu.example.com", "poolName": "node-1"}


@pytest.mark.parametrize(
    ("status", "counts", "pools"),
    [
        ({"poolCount": 2, "pools": [POOL]}, (2, 1), [POOL]),
        (
            {"poolCount": 1, "pools": [{**POOL, "validationError": "a\x00b"}]},
            (1, 1),
            [{**POOL, "validationError": "a\ufffdb"}],
        ),
        ({"poolCount": 10**12, "pools": [POOL, "node-2"]}, (None, 1), [POOL]),
        ({"poolCount": True, "pools": {"a": POOL}}, (None, 0), []),
        ("no object", (None, 0), []),
        (None, (None, 0), []),
    ],
)
def test_answer_is_stored_whatever_the_server_wrote(
    status: Any, counts: tuple[int | None, int], pools: list[Any]
) -> None:
    cluster = api_rows.cluster()
    asked = status_requests.begin_request(cluster.pk, "gpu.example.com", name="a", now=NOON)

    status_requests.end_request(
        asked, outcome=Outcome.ANSWERED, answer={"status": status}, now=NOON
    )

    row = PoolStatusRequest.objects.get()
    assert (row.pool_count, row.pools_answered) == counts
    assert list(PoolStatusAnswer.objects.values_list("server", flat=True)) == pools
