from decimal import Decimal

import pytest

from pools.filters import (
    FilterProblem,
    read_device_filter,
    read_pool_filter,
    read_slice_filter,
    read_status_filter,
)
from pools.queries import (
    AttributeMatch,
    CapacityMatch,
    DeviceFilter,
    PoolFilter,
    SliceFilter,
    StatusFilter,
)


def test_pool_filter_empty_leaves_out_vanished_pools() -> None:
    assert read_pool_filter({}).wanted == PoolFilter(has_vanished=False)


def test_pool_filter_reads_every_parameter() -> None:
    read = read_pool_filter(
        {
            "cluster": ["east"],
            "driver": ["a.example.com", "b.example.com"],
            "node": ["192.0.2.248"],
            "complete": ["no"],
            "problem": ["any"],
            "fits": ["3g.40gb"],
            "vanished": ["any"],
            "q": ["rack 7"],
        }
    )

    assert read.problems == ()
    assert read.wanted == PoolFilter(
        clusters=("east",),
        drivers=("a.example.com", "b.example.com"),
        nodes=("192.0.2.248",),
        is_complete=False,
        problems=("any",),
        fits=("3g.40gb",),
        text="rack 7",
        has_vanished=None,
    )


def test_pool_filter_box_takes_typed_terms() -> None:
    read = read_pool_filter({"q": ['node:node-7 driver:a.example.com "rack 7" memory>=40Gi']})

    assert read.wanted == PoolFilter(
        drivers=("a.example.com",), nodes=("node-7",), text="rack 7 memory>=40Gi"
    )


def test_pool_filter_wrong_boolean_says_what_to_write() -> None:
    read = read_pool_filter({"complete": ["maybe"]})

    assert read.problems == (FilterProblem("complete", "Write true, false or any, not “maybe”."),)


def test_device_filter_attribute_text_may_be_a_number_or_a_boolean() -> None:
    read = read_device_filter({"attribute": ["rdma=true", "numa=0", "model=H100"]})

    assert read.wanted.matches == (
        (AttributeMatch("rdma", "=", ("true", True)),),
        (AttributeMatch("numa", "=", ("0", 0)),),
        (AttributeMatch("model", "=", ("H100",)),),
    )


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("index>=3", AttributeMatch("index", ">=", (3,))),
        ("index!=3", AttributeMatch("index", "!=", ("3", 3))),
        (
            "resource.kubernetes.io/pcieRoot",
            AttributeMatch("resource.kubernetes.io/pcieRoot", "exists"),
        ),
        ("a=b=c", AttributeMatch("a", "=", ("b=c",))),
        ("id=00", AttributeMatch("id", "=", ("00", 0))),
    ],
)
def test_device_filter_attribute_conditions(text: str, match: AttributeMatch) -> None:
    assert read_device_filter({"attribute": [text]}).wanted.matches == ((match,),)


def test_device_filter_capacity_is_compared_in_plain_units() -> None:
    read = read_device_filter({"capacity": ["memory>=40Gi", "bandwidth<100M"]})

    assert read.wanted.matches == (
        (CapacityMatch("memory", ">=", Decimal(40 * 2**30)),),
        (CapacityMatch("bandwidth", "<", Decimal(100_000_000)),),
    )


def test_device_filter_box_term_is_attribute_or_capacity() -> None:
    read = read_device_filter({"q": ["state:available cores>=4 gpu"]})

    assert read.wanted == DeviceFilter(
        states=("available",),
        matches=(
            (
                AttributeMatch("cores", ">=", (4,)),
                CapacityMatch("cores", ">=", Decimal(4)),
            ),
        ),
        text="gpu",
    )


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        (
            {"capacity": ["memory>=much"]},
            FilterProblem("capacity", "“much” is no quantity; write one such as 40Gi, 100M or 8."),
        ),
        (
            {"capacity": ["memory"]},
            FilterProblem(
                "capacity",
                "Write a capacity as name>=quantity, such as memory>=40Gi, not “memory”.",
            ),
        ),
        (
            {"attribute": ["model>=H100"]},
            FilterProblem(
                "attribute",
                "model can be compared with a whole number only, not with “H100”.",
            ),
        ),
        (
            {"state": ["busy"]},
            FilterProblem(
                "state",
                "“busy” is not one of allocated, available, blocked, unavailable, unknown.",
            ),
        ),
        (
            {"q": ["model>=H100"]},
            FilterProblem(
                "q",
                "“model>=H100” is neither a condition on an attribute nor on a capacity.",
            ),
        ),
    ],
)
def test_device_filter_wrong_value_says_what_to_write(
    params: dict[str, list[str]], problem: FilterProblem
) -> None:
    read = read_device_filter(params)

    assert read.problems == (problem,)
    assert read.wanted == DeviceFilter()


def test_device_filter_survives_lone_quotes() -> None:
    assert read_device_filter({"q": ["it's"]}).wanted == DeviceFilter(text="it's")


def test_pool_filter_with_nul_says_so_and_still_restricts() -> None:
    read = read_pool_filter({"driver": ["\0", ""], "node": ["node\0-7"], "q": ["a\0"]})

    message = "Nothing holds the character NUL (%00), so this matches nothing."
    assert read.problems == tuple(FilterProblem(p, message) for p in ("driver", "node", "q"))
    assert read.wanted == PoolFilter(drivers=("\ufffd",), nodes=("node\ufffd-7",), text="a\ufffd")


def test_slice_filter_reads_every_parameter() -> None:
    read = read_slice_filter(
        {
            "cluster": ["east"],
            "driver": ["d"],
            "pool": ["a/b"],
            "node": ["n"],
            "q": ["x"],
        }
    )

    assert read.wanted == SliceFilter(("east",), ("d",), ("a/b",), ("n",), "x")


def test_status_filter_unknown_outcome_says_which_there_are() -> None:
    read = read_status_filter({"outcome": ["answered", "nope"], "differing": ["yes"]})

    assert read.wanted == StatusFilter(outcomes=("answered",), is_differing=True)
    assert [problem.param for problem in read.problems] == ["outcome"]
