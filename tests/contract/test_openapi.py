"""The API against its own description: schemathesis asks with good and bad input, and holds each answer to what is written down."""

import copy
from datetime import timedelta
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from hypothesis import HealthCheck, Phase, settings

from api import tokens
from api.views.schema import openapi
from tests.factories import api_rows

# What is good for these depends on the data, on each other, or is a small language, which no schema can say.
DEPENDENT = (
    "cluster", "fits", "cursor", "at", "from", "to", "step", "sort", "attribute", "capacity", "q",
)  # fmt: skip


def without_dependent(document: Any) -> Any:
    found = copy.deepcopy(document)
    for methods in found["paths"].values():
        operation = methods["get"]
        operation["parameters"] = [
            each for each in operation["parameters"] if each["name"] not in DEPENDENT
        ]
    return found


whole = schemathesis.openapi.from_dict(openapi())
independent = schemathesis.openapi.from_dict(without_dependent(openapi()))
plain: dict[str, Any] = {
    "derandomize": True,
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
}


@pytest.fixture
def headers(transactional_db: None) -> dict[str, str]:
    """One of everything, under the ids that the description gives as examples, and a token that was used a moment ago."""
    cluster = api_rows.cluster(id=42, capabilities=api_rows.capabilities())
    pool = api_rows.pool(cluster, id=42)
    api_rows.unknown_pool(cluster)
    device = api_rows.device(pool, id=42)
    api_rows.allocation(device)
    api_rows.node(cluster, id=42)
    api_rows.device_class(cluster, id=42)
    api_rows.resource_slice(pool, object_id=41)
    api_rows.status_answer(api_rows.status_request(cluster, id=42))
    row, token = tokens.create_token(
        User.objects.create_user("ada"), name="", expires_at=None, now=api_rows.NOON
    )
    row.last_used_at = api_rows.NOON + timedelta(days=100_000)
    row.save()
    return {"Authorization": f"Bearer {token}"}


@whole.parametrize()
@settings(max_examples=5, phases=[Phase.explicit, Phase.generate], **plain)
def test_every_answer_is_as_described(
    case: Any, headers: dict[str, str], live_server: Any, redis_client: Any
) -> None:
    # Wrong tokens are tried with each case; they must not add up to a throttled address.
    redis_client.flushdb()
    case.call_and_validate(
        base_url=live_server.url,
        headers=headers,
        excluded_checks=[schemathesis.checks.positive_data_acceptance],
    )


@independent.parametrize()
@settings(max_examples=15, phases=[Phase.generate], **plain)
def test_every_request_that_is_as_described_is_answered(
    case: Any, headers: dict[str, str], live_server: Any, redis_client: Any
) -> None:
    # Wrong tokens are tried with each case; they must not add up to a throttled address.
    redis_client.flushdb()
    case.call_and_validate(base_url=live_server.url, headers=headers)
