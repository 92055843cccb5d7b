from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from ui import formatting
from ui.formatting import Reading

NOW = datetime(2026, 11, 28, 3, 12, 4, tzinfo=UTC)
THIN = "\u202f"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "unknown"),
        (0, "0"),
        (999, "999"),
        (13_500, f"13{THIN}500"),
        (-1_234_567, f"-1{THIN}234{THIN}567"),
        (1.5, "1.5"),
        (2.0, "2"),
        (Decimal("1234.567"), f"1{THIN}234.57"),
    ],
)
def test_number_is_grouped_by_thin_spaces(value: int | float | Decimal | None, text: str) -> None:
    assert formatting.number(value) == text


@pytest.mark.parametrize(
    ("raw", "name", "reading"),
    [
        ("80Gi", "", Reading(f"80{THIN}GiB", "80Gi = 85899345920")),
        ("85899345920", "gpu.example.com/memory", Reading(f"80{THIN}GiB", "85899345920")),
        ("1500M", "memory", Reading(f"1.5{THIN}GB", "1500M = 1500000000")),
        ("10G", "bandwidth", Reading(f"10{THIN}G", "10G = 10000000000")),
        ("500m", "cpu", Reading("0.5", "500m = 0.5")),
        ("8", "cores", Reading("8", "8")),
        (8, "cores", Reading("8", "8")),
        ("0", "memory", Reading(f"0{THIN}B", "0")),
        ("many", "", Reading("many", "not a quantity")),
        (None, "memory", Reading("unknown", "not known", is_known=False)),
    ],
)
def test_quantity_is_in_the_unit_people_say(raw: object, name: str, reading: Reading) -> None:
    assert formatting.quantity(raw, name=name) == reading


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (4, "4 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7_199, "119 min"),
        (7_200, "2 h"),
        (2 * 86_400, "2 d"),
        (1_500 * 86_400, f"1{THIN}500 d"),
    ],
)
def test_duration_is_in_one_unit(seconds: int, text: str) -> None:
    assert formatting.duration(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (NOW - timedelta(seconds=4), "4 s ago"),
        (NOW, "0 s ago"),
        (NOW + timedelta(milliseconds=800), "0 s ago"),
        (NOW + timedelta(minutes=3), "3 min"),
        (None, "unknown"),
    ],
)
def test_age_tells_past_from_future(moment: datetime | None, text: str) -> None:
    assert formatting.age(moment, now=NOW).removeprefix("in ") == text


def test_exact_time_is_in_utc_with_its_zone() -> None:
    elsewhere = NOW.astimezone(tz=None)

    assert formatting.exact_time(elsewhere) == "28 Nov 2026 03:12:04 UTC"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("gpu-0", ("gpu-0", "")),
        (
            "ip-10-0-128-203.eu-central-1.compute.internal",
            ("ip-10-0-128-203.eu-central-1.comp", "ute.internal"),
        ),
    ],
)
def test_middle_cut_keeps_the_end(text: str, parts: tuple[str, str]) -> None:
    assert formatting.middle_cut(text) == parts
