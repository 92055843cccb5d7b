"""Objects in the first beta, whose shape differs."""

from typing import Any

import pytest

from simulator import server
from tests.unit.simulator.client import Api, resource_slice

BETA = "/apis/resource.k8s.io/v1beta1"
V1 = "/apis/resource.k8s.io/v1"
NESTED = {"name": "r", "exactly": {"deviceClassName": "a", "count": 1}}
FLAT = {"name": "r", "deviceClassName": "a", "count": 1}
LISTED = {"name": "l", "firstAvailable": [{"name": "s", "deviceClassName": "a"}]}
FIELDS = {"attributes": {"a": {"int": 1}}, "allowMultipleAllocations": True}

SAME: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "namespaces/default/resourceclaims",
        {"devices": {"requests": [NESTED, LISTED]}},
        {"devices": {"requests": [FLAT, LISTED]}},
    ),
    (
        "namespaces/default/resourceclaimtemplates",
        {"spec": {"devices": {"requests": [NESTED]}}},
        {"spec": {"devices": {"requests": [FLAT]}}},
    ),
    (
        "resourceslices",
        resource_slice("x", devices=[{"name": "d", **FIELDS}])["spec"],
        resource_slice("x", devices=[{"name": "d", "basic": FIELDS}])["spec"],
    ),
]


@pytest.mark.parametrize(("plural", "spec", "spec_of_beta"), SAME)
def test_object_written_in_one_version_is_read_in_the_other(
    plural: str, spec: dict[str, Any], spec_of_beta: dict[str, Any]
) -> None:
    with server.start(versions=("v1", "v1beta1")) as simulator:
        api = Api(simulator.url)
        api.post(f"{V1}/{plural}", {"metadata": {"name": "of-v1"}, "spec": spec})
        api.post(f"{BETA}/{plural}", {"metadata": {"name": "of-beta"}, "spec": spec_of_beta})

        read = [
            api.get(f"{path}/{plural}/{name}").json()["spec"]
            for path, name in ((V1, "of-beta"), (BETA, "of-v1"))
        ]

    assert read == [spec, spec_of_beta]
