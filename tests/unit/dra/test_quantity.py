import copy
import json
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra.quantity import Quantity, QuantityFormat, parse_quantity

FIXTURE = Path(__file__).parents[2] / "fixtures" / "quantities.ndjson"
VECTORS = [json.loads(line) for line in FIXTURE.read_text().splitlines()]
# Kubernetes reads a text without any digit as zero; here it is unreadable.
WITHOUT_DIGIT = {".", "+", "-", "n", "Gi"}
# Kubernetes trims blanks when it reads JSON, not in the function that the vectors come from.
BLANK_AT_END = {"1 "}


def text_of(quantity: Quantity | None) -> str | None:
    return None if quantity is None else str(quantity)


def test_parse_quantity_agrees_with_kubernetes_on_every_vector() -> None:
    vectors = [v for v in VECTORS if v["text"] not in WITHOUT_DIGIT | BLANK_AT_END]

    ours = [(v["text"], text_of(parse_quantity(v["text"]))) for v in vectors]

    assert ours == [(v["text"], v["canonical"]) for v in vectors]
    assert len(ours) > 780


def test_arithmetic_agrees_with_kubernetes_on_every_vector() -> None:
    vectors = [v for v in VECTORS if v.get("after", "n") not in WITHOUT_DIGIT]
    vectors = [v for v in vectors if v["text"] not in WITHOUT_DIGIT]

    pairs = [(parse_quantity(v["after"]), parse_quantity(v["text"])) for v in vectors]
    ours = [
        (str(a + b), str(a - b), (a > b) - (a < b))
        for a, b in pairs
        if a is not None and b is not None
    ]

    assert ours == [(v["sum"], v["difference"], v["order"]) for v in vectors]
    assert len(ours) > 680


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (5, "5"),
        (0, "0"),
        (0.5, "500m"),
        (1e21, "1e21"),
        (-3, "-3"),
        (" 1Gi ", "1Gi"),
        ("1000M", "1G"),
        ("0.1n", "1n"),
        ("-0.1n", "-1n"),
        ("100Ei", "9223372036854775807"),
        ("1000E", "1000E"),
    ],
)
def test_parse_quantity_of_json_gives_canonical_text(raw: Any, expected: str) -> None:
    assert str(parse_quantity(raw)) == expected


@pytest.mark.parametrize(
    "raw",
    [
        None, True, False, [], {}, "", ".", "n", "abc", "1 k", "1kk", "1e400", "1e-400", "9" * 201,
        10**70, float("nan"), float("inf"), "१", "1e99999999999999999999",
    ],
)  # fmt: skip
def test_parse_quantity_of_anything_else_is_none(raw: Any) -> None:
    assert parse_quantity(raw) is None


def test_sum_keeps_format_of_first_unless_it_is_zero() -> None:
    binary, decimal, zero = (
        Quantity(2048 * 10**9, QuantityFormat.BINARY_SI),
        Quantity(10**12),
        Quantity(0),
    )

    assert [str(binary + decimal), str(decimal + binary), str(zero + binary), str(zero - binary)] == [
        "3048", "3048", "2Ki", "-2Ki",
    ]  # fmt: skip
    assert [str(binary - decimal), (binary + decimal).format] == ["1048", QuantityFormat.BINARY_SI]


def test_equal_amounts_are_equal_whatever_their_format() -> None:
    one, other = parse_quantity("1Gi"), parse_quantity("1073741824")

    assert one == other
    assert hash(one) == hash(other)
    assert one != "1Gi"
    assert (str(one), str(other)) == ("1Gi", "1073741824")


def test_order_against_something_else_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        assert Quantity(1) < "1"  # type: ignore[operator]


def test_quantity_cannot_be_changed_and_copies_stay_equal() -> None:
    original = Quantity(5, QuantityFormat.BINARY_SI)

    with pytest.raises(AttributeError, match="nanos"):
        original.nanos = 6

    twins = [copy.deepcopy(original), pickle.loads(pickle.dumps(original))]
    assert [(twin.nanos, twin.format) for twin in twins] == [(5, QuantityFormat.BINARY_SI)] * 2


@pytest.mark.parametrize(
    ("text", "number"),
    [("1500m", "1.5"), ("-1n", "-0.000000001"), ("2Ki", "2048"), ("0", "0"), ("100", "100")],
)
def test_number_is_the_exact_decimal(text: str, number: str) -> None:
    quantity = parse_quantity(text)

    assert quantity is not None
    assert quantity.number == Decimal(number)


def test_repr_shows_the_canonical_form() -> None:
    assert repr(Quantity(1500 * 10**6)) == "Quantity('1500m')"


quantities = st.builds(
    Quantity, st.integers(-(10**30), 10**30), st.sampled_from([QuantityFormat.DECIMAL_SI, QuantityFormat.DECIMAL_EXPONENT])
)  # fmt: skip
binaries = st.builds(
    lambda amount: Quantity(amount * 10**9, QuantityFormat.BINARY_SI), st.integers(-(2**63) + 1, 2**63 - 1)
)  # fmt: skip


@given(quantities)
def test_printing_and_parsing_changes_nothing(quantity: Quantity) -> None:
    again = parse_quantity(str(quantity))

    assert again == quantity
    assert str(again) == str(quantity)


@given(binaries)
def test_printing_and_parsing_binary_keeps_the_amount(quantity: Quantity) -> None:
    """The text may change: 125000 in binary format has no suffix, and is read as decimal, which prints 125k."""
    assert parse_quantity(str(quantity)) == quantity


@given(st.text(alphabet="0123456789.+-eEinumkKMGTP ", max_size=12))
def test_parsing_any_text_gives_none_or_a_canonical_quantity(text: str) -> None:
    quantity = parse_quantity(text)

    assert text_of(quantity) == text_of(parse_quantity(text_of(quantity)))


@given(quantities | binaries, quantities | binaries)
def test_sum_less_one_summand_is_the_other(one: Quantity, other: Quantity) -> None:
    assert one + other - other == one
    assert (one < other) == (one.number < other.number)
