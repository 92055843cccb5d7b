import dataclasses
from decimal import Decimal
from typing import Any

import pytest

from pools.listings import DEVICES, POOLS, SLICES, STATUS_REQUESTS
from pools.queries import (
    AttributeMatch,
    CapacityMatch,
    DeviceFilter,
    PoolFilter,
    SliceFilter,
    StatusFilter,
)
from tools.list_filters import declared_lists
from ui.listing import Listing, Read
from ui.parameters import Refusal


def test_pool_filter_empty_leaves_out_vanished_pools() -> None:
    assert POOLS.read({}).wanted == PoolFilter(has_vanished=False)


def test_pool_filter_reads_every_parameter() -> None:
    read = POOLS.read(
        {
            "cluster": ["east"],
            "driver": ["a.example.com", "b.example.com", "a.example.com"],
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
    read = POOLS.read({"q": ['node:node-7 driver:a.example.com "rack 7"']})

    assert read == Read(
        PoolFilter(drivers=("a.example.com",), nodes=("node-7",), text="rack 7"), problems=()
    )


POOL_TERMS = (
    "cluster:, driver:, fits:, problem:, complete:, pool:, node:, vanished:, include_vanished:"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foo:bar", f"There is no filter “foo:”. There are: {POOL_TERMS}."),
        ("q:x", f"There is no filter “q:”. There are: {POOL_TERMS}."),
        ("driver:", "Write what to look for after “driver:”."),
        (
            "memory>=40Gi",
            f"“memory>=40Gi” compares something, and nothing of this list can be compared. Filters: {POOL_TERMS}.",
        ),
    ],
)
def test_filter_box_refuses_terms_that_the_list_does_not_have(text: str, message: str) -> None:
    read = POOLS.read({"q": [f"{text} rack"]})

    assert read == Read(PoolFilter(text="rack"), (Refusal("q", message),))


def test_filter_box_attribute_may_hold_a_colon() -> None:
    read = DEVICES.read({"q": ["pci=0000:17:00.0 attribute:a=b:c"]})

    assert read.problems == ()
    assert read.wanted.matches == (
        (AttributeMatch("a", "=", ("b:c",)),),
        (AttributeMatch("pci", "=", ("0000:17:00.0",)),),
    )


@pytest.mark.parametrize(
    ("listing", "params", "problem"),
    [
        (
            SLICES,
            {"colour": ["red"], "driver": ["d"], "sort": ["name"]},
            Refusal(
                "colour",
                "There is no such filter here; there are: cluster, driver, pool, name, node, q.",
            ),
        ),
        (
            STATUS_REQUESTS,
            {"column": ["x"]},
            Refusal(
                "column",
                "There is no such filter here; there are: cluster, driver, pool, name, outcome, differing, q.",
            ),
        ),
    ],
)
def test_page_refuses_parameters_that_the_list_does_not_have(
    listing: Listing[Any, Any], params: dict[str, list[str]], problem: Refusal
) -> None:
    assert listing.unknown(params) == (problem,)


def test_page_takes_the_columns_of_devices() -> None:
    assert DEVICES.unknown({"column": ["model"], "cursor": ["x"], "attribute": ["a"]}) == ()


@pytest.mark.parametrize("word", ["name", "-state"])
def test_list_is_sorted_by_its_own_words(word: str) -> None:
    assert DEVICES.order_problem(word) is None


@pytest.mark.parametrize("word", ["colour", "--name", ""])
def test_list_refuses_to_be_sorted_by_other_words(word: str) -> None:
    message = "Write one of name, node, state, or the same after a minus."

    assert DEVICES.order_problem(word) == Refusal("sort", message)


@pytest.mark.parametrize("listing", declared_lists(), ids=lambda each: each.id)
def test_parameters_fill_every_member_of_the_filter(listing: Listing[Any, Any]) -> None:
    fields = {each.name for each in dataclasses.fields(listing.wanted)}

    assert {each.field for each in listing.parameters} == fields


@pytest.mark.parametrize("listing", declared_lists(), ids=lambda each: each.id)
def test_columns_that_can_be_sorted_by_have_an_order(listing: Listing[Any, Any]) -> None:
    words = {column.key for column in listing.columns if column.is_sortable}

    assert words - set(listing.orders) == set()
    assert listing.default_order in listing.orders


def test_pool_filter_wrong_boolean_says_what_to_write() -> None:
    read = POOLS.read({"complete": ["maybe"]})

    assert read.problems == (Refusal("complete", "Write true, false or any, not “maybe”."),)


def test_device_filter_attribute_text_may_be_a_number_or_a_boolean() -> None:
    read = DEVICES.read({"attribute": ["rdma=true", "numa=0", "model=H100"]})

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
    assert DEVICES.read({"attribute": [text]}).wanted.matches == ((match,),)


def test_device_filter_capacity_is_compared_in_plain_units() -> None:
    read = DEVICES.read({"capacity": ["memory>=40Gi", "bandwidth<100M"]})

    assert read.wanted.matches == (
        (CapacityMatch("memory", ">=", Decimal(40 * 2**30)),),
        (CapacityMatch("bandwidth", "<", Decimal(100_000_000)),),
    )


def test_device_filter_box_term_is_attribute_or_capacity() -> None:
    read = DEVICES.read({"q": ["state:available cores>=4 gpu"]})

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
            Refusal("capacity", "“much” is no quantity; write one such as 40Gi, 100M or 8."),
        ),
        (
            {"attribute": [">=4"]},
            Refusal(
                "attribute",
                "Write the name of an attribute before “>=4”, without blanks: model=A100.",
            ),
        ),
        (
            {"q": [">="]},
            Refusal(
                "q",
                "“>=” is no condition on an attribute or a capacity. Write one such as model=A100 or memory>=40Gi, without blanks.",
            ),
        ),
        (
            {"capacity": ["memory!=40Gi"]},
            Refusal(
                "capacity", "memory is a capacity: compare it by =, >=, <=, > or <, not by !=."
            ),
        ),
        (
            {"capacity": ["memory"]},
            Refusal(
                "capacity",
                "Write a capacity as name>=quantity, such as memory>=40Gi, not “memory”.",
            ),
        ),
        (
            {"attribute": ["model>=H100"]},
            Refusal(
                "attribute",
                "model can be compared with a whole number only, not with “H100”.",
            ),
        ),
        (
            {"state": ["busy"]},
            Refusal(
                "state",
                "“busy” is not one of allocated, available, blocked, unavailable, unknown.",
                ("allocated", "available", "blocked", "unavailable", "unknown"),
            ),
        ),
        (
            {"q": ["model>=H100"]},
            Refusal(
                "q",
                "“model>=H100” is no condition on an attribute or a capacity. Write one such as model=A100 or memory>=40Gi, without blanks.",
            ),
        ),
    ],
)
def test_device_filter_wrong_value_says_what_to_write(
    params: dict[str, list[str]], problem: Refusal
) -> None:
    read = DEVICES.read(params)

    assert read.problems == (problem,)
    assert read.wanted == DeviceFilter()


def test_device_filter_survives_lone_quotes() -> None:
    assert DEVICES.read({"q": ["it's"]}).wanted == DeviceFilter(text="it's")


def test_pool_filter_with_nul_says_so_and_still_restricts() -> None:
    read = POOLS.read({"driver": ["\0", ""], "node": ["node\0-7"], "q": ["a\0"]})

    message = "Nothing holds the character NUL (%00), so this matches nothing."
    assert read.problems == tuple(Refusal(p, message) for p in ("driver", "node", "q"))
    assert read.wanted == PoolFilter(drivers=("\ufffd",), nodes=("node\ufffd-7",), text="a\ufffd")


def test_slice_filter_reads_every_parameter() -> None:
    read = SLICES.read(
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
    read = STATUS_REQUESTS.read({"outcome": ["answered", "nope"], "differing": ["yes"]})

    assert read.wanted == StatusFilter(outcomes=("answered",), is_differing=True)
    assert [problem.param for problem in read.problems] == ["outcome"]


def test_status_filter_looks_for_text() -> None:
    assert STATUS_REQUESTS.read({"q": ["node-7"]}).wanted == StatusFilter(text="node-7")
