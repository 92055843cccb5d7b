from collections.abc import Callable
from typing import Any

import pytest

from dra.device_classes import DeviceClass, parse_device_class
from dra.nodes import Node, parse_node
from dra.parsing import (
    Parsed,
    parse_resource_claim,
    parse_resource_slice,
    parse_taint_rule,
)
from dra.values import (
    AllocationResult,
    Attribute,
    Capacity,
    ClaimRef,
    ConsumerReference,
    CounterSet,
    CounterUse,
    Device,
    DeviceKey,
    DeviceName,
    DeviceSelector,
    DriverName,
    NodeSelection,
    PoolName,
    RequestPolicy,
    ResourceClaim,
    ResourceSlice,
    Taint,
    TaintRule,
)
from dra.words import statement_words
from tests.unit.dra.objects import quantity


def slice_with(**spec: Any) -> dict[str, Any]:
    pool = {"name": "node-a", "generation": 1, "resourceSliceCount": 1}
    base = {"driver": "gpu.example.com", "nodeName": "node-a", "pool": pool}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "metadata": {"name": "s"},
        "spec": {**base, **spec},
    }


def parsed_slice(**spec: Any) -> ResourceSlice:
    value = parse_resource_slice(slice_with(**spec)).value
    assert value is not None
    return value


def codes(parsed: Parsed[Any]) -> list[str]:
    return [problem.code for problem in parsed.problems]


def messages(parsed: Parsed[Any]) -> list[str]:
    return [statement_words(problem) for problem in parsed.problems]


def test_slice_of_v1_is_read_whole() -> None:
    obj = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "00000-slice", "uid": "u-1", "resourceVersion": "42"},
        "spec": {
            "driver": "gpu.example.com",
            "pool": {"name": "node-a", "generation": 3, "resourceSliceCount": 2},
            "nodeName": "node-a",
            "partitionTypeAttribute": "gpu.example.com/profile",
            "sharedCounters": [{"name": "set", "counters": {"memory": {"value": "80Gi"}}}],
            "devices": [
                {
                    "name": "gpu-0",
                    "attributes": {"model": {"string": "m1"}, "index": {"int": 0}, "ok": {"bool": True}},
                    "capacity": {
                        "memory": {
                            "value": "80Gi",
                            "requestPolicy": {
                                "default": "1Gi",
                                "validValues": ["1Gi", "2Gi"],
                                "validRange": {"min": "1Gi", "max": "4Gi", "step": "1Gi"},
                            },
                        },
                        "cores": {"value": 8},
                    },
                    "consumesCounters": [
                        {"counterSet": "set", "counters": {"memory": {"value": "80Gi"}}}
                    ],
                    "taints": [
                        {"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}
                    ],
                    "allowMultipleAllocations": True,
                    "bindsToNode": True,
                    "bindingConditions": ["Ready"],
                    "bindingFailureConditions": ["Broken"],
                    "nodeAllocatableResources": {"cpu": {}},
                }
            ],
        },
    }  # fmt: skip

    parsed = parse_resource_slice(obj)

    assert parsed.problems == ()
    assert parsed.value == ResourceSlice(
        name="00000-slice",
        uid="u-1",
        driver=DriverName("gpu.example.com"),
        pool=PoolName("node-a"),
        generation=3,
        resource_slice_count=2,
        node=NodeSelection("node", "node-a"),
        devices=(
            Device(
                name=DeviceName("gpu-0"),
                attributes={
                    "model": Attribute("string", "m1"),
                    "index": Attribute("int", 0),
                    "ok": Attribute("bool", True),
                },
                capacity={
                    "memory": Capacity(
                        quantity("80Gi"),
                        RequestPolicy(
                            default=quantity("1Gi"),
                            valid_values=(quantity("1Gi"), quantity("2Gi")),
                            minimum=quantity("1Gi"),
                            maximum=quantity("4Gi"),
                            step=quantity("1Gi"),
                        ),
                    ),
                    "cores": Capacity(quantity("8")),
                },
                consumes_counters=(CounterUse("set", {"memory": quantity("80Gi")}),),
                taints=(Taint("k", "v", "NoExecute", added_at="2026-01-01T00:00:00Z"),),
                allows_multiple_allocations=True,
                binds_to_node=True,
                binding_conditions=("Ready",),
                binding_failure_conditions=("Broken",),
                extra={"nodeAllocatableResources": {"cpu": {}}},
            ),
        ),
        counter_sets=(CounterSet("set", {"memory": quantity("80Gi")}),),
        partition_type_attribute="gpu.example.com/profile",
        resource_version="42",
    )


@pytest.mark.parametrize("version", ["v1alpha3", "v1beta1"])
def test_device_in_basic_is_read_as_a_flat_one(version: str) -> None:
    flat = {"attributes": {"uuid": {"string": "u"}}, "capacity": {"memory": {"value": "1Gi"}}}
    wrapped = slice_with(devices=[{"name": "gpu-0", "basic": flat}])
    wrapped["apiVersion"] = f"resource.k8s.io/{version}"

    parsed = parse_resource_slice(wrapped)

    assert parsed.problems == ()
    assert parsed.value == parsed_slice(devices=[{"name": "gpu-0", **flat}])


def test_capacity_of_v1alpha3_is_the_quantity_alone() -> None:
    device = parsed_slice(
        devices=[{"name": "d", "basic": {"capacity": {"memory": "2Gi"}}}]
    ).devices[0]

    assert device.capacity == {"memory": Capacity(quantity("2Gi"))}


@pytest.mark.parametrize(
    ("own", "given"), [("resource.k8s.io/v1", ""), (None, "resource.k8s.io/v1beta2")]
)
def test_basic_under_a_flat_version_is_tolerated_and_named(own: str | None, given: str) -> None:
    obj = {
        **slice_with(devices=[{"name": "d", "basic": {"attributes": {"a": {"int": 1}}}}]),
        "apiVersion": own,
    }

    parsed = parse_resource_slice(obj, api_version=given)

    assert parsed.value is not None
    assert parsed.value.devices[0].attributes == {"a": Attribute("int", 1)}
    assert codes(parsed) == ["basic_in_flat_version"]
    assert parsed.value.devices[0].problems == parsed.problems


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"version": "1.2.3"}, Attribute("version", "1.2.3")),
        ({"string": ""}, Attribute("string", "")),
        ({"ints": [1, 2]}, Attribute("ints", (1, 2))),
        ({"bools": [True]}, Attribute("bools", (True,))),
        ({"strings": ["a", "b"]}, Attribute("strings", ("a", "b"))),
        ({"versions": ["1.0.0"]}, Attribute("versions", ("1.0.0",))),
    ],
)
def test_attribute_of_every_type_is_read(raw: Any, expected: Attribute) -> None:
    assert parsed_slice(devices=[{"name": "d", "attributes": {"a": raw}}]).devices[
        0
    ].attributes == {"a": expected}


@pytest.mark.parametrize(
    "raw",
    [
        {"durations": ["5s"]}, {"int": True}, {"int": "1"}, {"ints": [1, "2"]}, {"ints": 1}, {},
        {"int": 1, "string": "x"}, None, "text", ["x"],
    ],
)  # fmt: skip
def test_attribute_of_an_unknown_type_keeps_its_raw_value(raw: Any) -> None:
    parsed = parse_resource_slice(slice_with(devices=[{"name": "d", "attributes": {"a": raw}}]))

    assert parsed.value is not None
    assert parsed.value.devices[0].attributes == {"a": Attribute("unknown", raw)}
    assert codes(parsed) == ["unknown_attribute_type"]


def test_true_and_one_stay_apart() -> None:
    attributes = {"a": {"int": 1}, "b": {"bool": True}, "c": {"int": 0}, "d": {"bool": False}}

    found = parsed_slice(devices=[{"name": "x", "attributes": attributes}]).devices[0].attributes

    assert [repr(item.value) for item in found.values()] == ["1", "True", "0", "False"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"nodeName": "n"}, NodeSelection("node", "n")),
        ({"allNodes": True}, NodeSelection("all")),
        ({"perDeviceNodeSelection": True}, NodeSelection("per_device")),
        ({}, NodeSelection("none")),
        ({"nodeSelector": {"nodeSelectorTerms": []}}, NodeSelection("selector")),
        (
            {
                "nodeSelector": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": "gpu", "operator": "In", "values": ["true"]},
                                {"key": "zone", "operator": "In", "values": ["a", "b"]},
                                {"key": "arch", "operator": "NotIn", "values": ["arm"]},
                            ],
                        },
                        {
                            "matchExpressions": [
                                {"key": "x", "operator": "Exists"},
                                {"key": "y", "operator": "DoesNotExist"},
                                {"key": "z", "operator": "Gt", "values": ["5"]},
                                {"key": "w", "operator": "Future", "values": ["5"]},
                            ],
                            "matchFields": [
                                {"key": "metadata.name", "operator": "In", "values": ["node-a"]}
                            ],
                        },
                    ]
                }
            },
            NodeSelection(
                "selector",
                text=(
                    "gpu=true and zone in (a, b) and arch notin (arm) or "
                    "x and !y and z > 5 and w Future 5 and metadata.name=node-a"
                ),
            ),
        ),
    ],
)
def test_node_selection_is_told_in_words(spec: Any, expected: NodeSelection) -> None:
    assert parsed_slice(**{"nodeName": None, **spec}).node == expected


def test_node_of_a_device_is_read_under_per_device_selection() -> None:
    devices = [{"name": "a", "nodeName": "n1"}, {"name": "b", "allNodes": True}, {"name": "c"}]

    found = parsed_slice(nodeName=None, perDeviceNodeSelection=True, devices=devices)

    assert [item.node for item in found.devices] == [
        NodeSelection("node", "n1"),
        NodeSelection("all"),
        None,
    ]


def test_generation_that_is_missing_is_zero_and_unreadable_is_unknown() -> None:
    assert parsed_slice(pool={"name": "p"}).generation == 0
    assert parsed_slice(pool={"name": "p", "generation": 0}).generation == 0
    assert parsed_slice(pool={"name": "p", "generation": "x"}).generation is None
    assert parsed_slice(pool={"name": "p"}).resource_slice_count is None


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"driver": None},
            "a ResourceSlice without spec.driver: it cannot be told what it is, so it is left out",
        ),
        (
            {"pool": {}},
            "a ResourceSlice without spec.pool.name: it cannot be told what it is, so it is left out",
        ),
    ],
)
def test_slice_without_pool_is_unidentified(spec: Any, message: str) -> None:
    parsed = parse_resource_slice(slice_with(**spec))

    assert parsed.value is None
    assert messages(parsed) == [message]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"devices": {}}, "spec.devices should be a list, but is an object"),
        ({"devices": ["gpu"]}, "spec.devices[0] should be an object, but is the text 'gpu'"),
        ({"devices": [{}]}, "spec.devices[0] has no name and is left out"),
        (
            {"devices": [{"name": "d", "capacity": {"m": {"value": "x"}}}]},
            "spec.devices[0].capacity.m should be a quantity, but is the text 'x'",
        ),
        (
            {"devices": [{"name": "d", "capacity": []}]},
            "spec.devices[0].capacity should be an object, but is a list",
        ),
        (
            {"devices": [{"name": "d", "attributes": {1: {}}}]},
            "spec.devices[0].attributes.<key> should be text, but is a number",
        ),
        (
            {"devices": [{"name": "d", "allowMultipleAllocations": "yes"}]},
            "spec.devices[0].allowMultipleAllocations should be true or false, but is the text 'yes'",
        ),
        (
            {"devices": [{"name": "d", "bindingConditions": [True]}]},
            "spec.devices[0].bindingConditions[0] should be text, but is true",
        ),
        (
            {
                "devices": [
                    {"name": "d", "capacity": {"m": {"value": 1, "requestPolicy": {"default": []}}}}
                ]
            },
            "spec.devices[0].capacity.m.requestPolicy.default should be a quantity, but is a list",
        ),
        (
            {
                "devices": [
                    {"name": "d", "capacity": {"m": {"value": 1, "requestPolicy": {"validValues": [None]}}}}
                ]
            },
            "spec.devices[0].capacity.m.requestPolicy.validValues[0] should be a quantity, but is null",
        ),
        (
            {"sharedCounters": [{"name": "s", "counters": {"c": 5}}]},
            "spec.sharedCounters[0].counters.c should be a quantity, but is null",
        ),
        ({"nodeName": False}, "spec.nodeName should be text, but is false"),
        (
            {"pool": {"name": "p", "generation": 2**63}},
            "spec.pool.generation should be a whole number, but is a number",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_left_out_and_named(spec: Any, message: str) -> None:
    parsed = parse_resource_slice(slice_with(**spec))

    assert parsed.value is not None
    assert messages(parsed) == [message]


def test_null_lists_are_empty() -> None:
    assert parsed_slice(devices=None, sharedCounters=None).devices == ()


def test_claim_is_read_whole() -> None:
    obj = {
        "metadata": {
            "name": "c", "namespace": "team", "uid": "u", "resourceVersion": "7",
            "deletionTimestamp": "2026-01-01T00:00:00Z",
        },
        "status": {
            "allocation": {
                "devices": {
                    "results": [
                        {
                            "request": "r/sub", "driver": "d", "pool": "p", "device": "x", "adminAccess": True,
                            "shareID": "s-1", "consumedCapacity": {"memory": "1Gi", "bad": "?"},
                        },
                        {"request": "r", "driver": "d", "pool": "p"},
                    ]
                }
            },
            "reservedFor": [{"apiGroup": "kubevirt.io", "resource": "vms", "name": "vm", "uid": "u-2"}],
        },
    }  # fmt: skip

    parsed = parse_resource_claim(obj)

    ref = ClaimRef("team", "c", "u")
    assert messages(parsed) == [
        "status.allocation.devices.results[0].consumedCapacity.bad should be a quantity, but is the text '?'",
        "status.allocation.devices.results[1] should be a device with driver and pool, but is an object",
    ]
    assert parsed.value == ResourceClaim(
        ref=ref,
        is_allocated=True,
        results=(
            AllocationResult(
                key=DeviceKey(DriverName("d"), PoolName("p"), DeviceName("x")),
                claim=ref,
                request="r/sub",
                share_id="s-1",
                has_admin_access=True,
                consumed_capacity={"memory": quantity("1Gi")},
            ),
        ),
        reserved_for=(ConsumerReference("kubevirt.io", "vms", "vm", "u-2"),),
        deletion_timestamp="2026-01-01T00:00:00Z",
        resource_version="7",
        problems=parsed.problems,
    )


@pytest.mark.parametrize(
    ("status", "is_allocated"),
    [(None, False), ({}, False), ({"allocation": None}, False), ({"allocation": {}}, True),
     ({"allocation": {"devices": {"results": None}}}, True)],
)  # fmt: skip
def test_claim_with_an_empty_allocation_is_allocated(status: Any, is_allocated: bool) -> None:
    claim = parse_resource_claim({"metadata": {"name": "c"}, "status": status}).value

    assert claim is not None
    assert (claim.is_allocated, claim.results) == (is_allocated, ())


@pytest.mark.parametrize(
    ("spec", "selector", "has_unknown"),
    [
        ({}, None, False),
        ({"deviceSelector": None}, None, False),
        ({"deviceSelector": {}}, DeviceSelector(), False),
        (
            {"deviceSelector": {"driver": "d", "device": "x"}},
            DeviceSelector("d", None, "x"),
            False,
        ),
        ({"deviceSelector": {"deviceClassName": "gpu"}}, DeviceSelector(), True),
    ],
)
def test_taint_rule_keeps_absent_and_empty_selectors_apart(
    spec: Any,
    selector: DeviceSelector | None,
    has_unknown: bool,
) -> None:
    obj = {
        "metadata": {"name": "r", "uid": "u", "resourceVersion": "1"},
        "spec": {**spec, "taint": {"key": "k", "effect": "NoSchedule"}},
    }

    assert parse_taint_rule(obj) == Parsed(
        TaintRule(
            name="r",
            uid="u",
            selector=selector,
            taint=Taint("k", "", "NoSchedule", rule="r"),
            has_unknown_selector_fields=has_unknown,
            resource_version="1",
        )
    )


def test_taint_rule_with_an_unreadable_selector_selects_nothing_by_it() -> None:
    parsed = parse_taint_rule({"metadata": {"name": "r"}, "spec": {"deviceSelector": "all"}})

    assert parsed.value is not None
    assert parsed.value.selector is None
    assert messages(parsed) == ["spec.deviceSelector should be an object, but is the text 'all'"]


def test_device_class_is_read() -> None:
    obj = {
        "metadata": {"name": "gpu", "uid": "u", "creationTimestamp": "2026-02-01T10:00:00Z"},
        "spec": {
            "selectors": [{"cel": {"expression": "true"}}, {"cel": {}}],
            "extendedResourceName": "example.com/gpu",
            "config": [
                {"opaque": {"driver": "a.example.com"}},
                {"opaque": {"driver": "b.example.com"}},
                {"opaque": {"driver": "a.example.com"}},
                {"unheardOf": {}},
            ],
        },
    }

    parsed = parse_device_class(obj)

    assert parsed.value == DeviceClass(
        "gpu",
        "u",
        created_at="2026-02-01T10:00:00Z",
        selectors=("true", None),
        extended_resource_name="example.com/gpu",
        config_drivers=("a.example.com", "b.example.com"),
        problems=parsed.problems,
    )
    assert messages(parsed) == ["spec.selectors[1].cel.expression should be text, but is null"]


def test_device_class_with_an_expression_that_is_no_text_names_it_once() -> None:
    obj = {
        "metadata": {"name": "gpu", "uid": "u"},
        "spec": {"selectors": [{"cel": {"expression": 3}}, {"cel": {"expression": "true"}}]},
    }

    parsed = parse_device_class(obj)

    assert parsed.value == DeviceClass(
        "gpu", "u", selectors=(None, "true"), problems=parsed.problems
    )
    assert messages(parsed) == ["spec.selectors[0].cel.expression should be text, but is a number"]


@pytest.mark.parametrize(
    ("conditions", "is_ready"),
    [
        (None, None),
        ([{"type": "DiskPressure", "status": "False"}], None),
        ([{"type": "Ready", "status": "True"}], True),
        ([{"type": "Ready", "status": "False"}], False),
        ([{"type": "Ready", "status": "Unknown"}], None),
        ([{"type": "Ready"}], None),
    ],
)
def test_node_readiness_is_unknown_until_it_is_said(
    conditions: Any, is_ready: bool | None
) -> None:
    obj = {"metadata": {"name": "n", "uid": "u"}, "status": {"conditions": conditions}}

    assert parse_node(obj) == Parsed(Node("n", "u", is_ready))


def test_node_is_read() -> None:
    obj = {
        "metadata": {"name": "n", "uid": "u", "labels": {"zone": "a", "odd": 5}},
        "spec": {"unschedulable": True, "taints": [{"key": "k", "effect": "NoSchedule"}]},
        "status": {
            "addresses": [{"type": "Hostname", "address": "n"}],
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            "nodeInfo": {"kubeletVersion": "v1.37.2", "machineID": "m", "swap": {}},
        },
    }

    parsed = parse_node(obj)

    assert parsed.value == Node(
        "n",
        "u",
        is_ready=True,
        ready_reason="KubeletReady",
        is_unschedulable=True,
        labels={"zone": "a"},
        taints=(Taint("k", "", "NoSchedule"),),
        addresses=(("Hostname", "n"),),
        facts={"kubeletVersion": "v1.37.2"},
        problems=parsed.problems,
    )
    assert messages(parsed) == ["metadata.labels.odd should be text, but is a number"]


@pytest.mark.parametrize(
    ("spec", "is_unschedulable"),
    [
        (None, False),
        ({}, False),
        ({"unschedulable": None}, False),
        ({"unschedulable": True}, True),
        ({"unschedulable": "true"}, None),
        ({"unschedulable": 1}, None),
        ([], None),
        ("cordoned", None),
    ],
)
def test_node_of_which_it_cannot_be_read_is_not_known_to_be_cordoned_or_not(
    spec: Any, is_unschedulable: bool | None
) -> None:
    parsed = parse_node({"metadata": {"name": "n"}, "spec": spec})

    assert parsed.value is not None
    assert parsed.value.is_unschedulable is is_unschedulable
    assert bool(parsed.problems) == (is_unschedulable is None)


@pytest.mark.parametrize(
    ("spec", "selectors"),
    [
        (None, ()),
        ({"selectors": None}, ()),
        ({"selectors": "true"}, (None,)),
        ({"selectors": {"cel": {"expression": "true"}}}, (None,)),
        ({"selectors": [5, {"cel": {"expression": "true"}}]}, (None, "true")),
        ({"selectors": [{"cel": []}]}, (None,)),
        ([], (None,)),
    ],
)
def test_device_class_keeps_the_place_of_a_selector_that_cannot_be_read(
    spec: Any, selectors: tuple[str | None, ...]
) -> None:
    parsed = parse_device_class({"metadata": {"name": "c"}, "spec": spec})

    assert parsed.value is not None
    assert parsed.value.selectors == selectors
    assert bool(parsed.problems) == (None in selectors)


@pytest.mark.parametrize(
    "parse", [parse_resource_claim, parse_taint_rule, parse_device_class, parse_node]
)
@pytest.mark.parametrize("obj", [None, [], 5, {}, {"metadata": {"name": 5}}])
def test_object_without_name_is_unidentified(
    parse: Callable[[Any], Parsed[Any]], obj: Any
) -> None:
    parsed = parse(obj)

    assert parsed.value is None
    assert parsed.problems[-1].code == "unidentified_object"
