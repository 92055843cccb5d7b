from datetime import UTC, datetime, timedelta

import pytest

from ui.moments import EARLIEST, NotAMoment, moment_text, read_moment, read_time

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01T11:00:00Z", NOW - timedelta(hours=1)),
        ("2026-03-01t11:00:00.25z", NOW - timedelta(minutes=59, seconds=59, microseconds=750_000)),
        ("2026-03-01T12:00:00+01:00", NOW - timedelta(hours=1)),
        # As a browser reads a plus sign in an address.
        ("2026-03-01T12:00:00 01:00", NOW - timedelta(hours=1)),
        ("2026-03-01 11:00", NOW - timedelta(hours=1)),
        ("2026-03-01 11:00 UTC", NOW - timedelta(hours=1)),
        ("2026-03-01T11:00", NOW - timedelta(hours=1)),
        ("2026-03-01 11:00:30", NOW - timedelta(minutes=59, seconds=30)),
        ("-2h", NOW - timedelta(hours=2)),
        ("-1w", NOW - timedelta(days=7)),
        ("2h ago", NOW - timedelta(hours=2)),
        ("15 min ago", NOW - timedelta(minutes=15)),
        (" 3  Days ago ", NOW - timedelta(days=3)),
        ("1 minute ago", NOW - timedelta(minutes=1)),
        ("2026-03-01T12:00:00Z", NOW),
        ("1970-01-01T00:00:00Z", EARLIEST),
    ],
)
def test_moment_is_read(text: str, expected: datetime) -> None:
    assert read_moment(text, now=NOW) == expected


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "2h",
        "ago",
        "-2x",
        "2026-02-30 11:00",
        "2026-03-01T25:00:00Z",
        "-99999999d",
        "99999999 weeks ago",
        "0001-01-01T00:00:00Z",
        "1969-12-31 23:59",
        "-6000w",
        "\0",
        "1" * 5000,
    ],
)
def test_what_is_no_time_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(NotAMoment) as refused:
        read_moment(text, now=NOW)

    assert str(refused.value) == (
        f"“{text}” is no time. Write 2h ago, -2h, or 2026-03-01T12:00:00Z."
    )


def test_future_is_refused() -> None:
    with pytest.raises(NotAMoment) as refused:
        read_moment("2026-03-01T12:00:01Z", now=NOW)

    assert str(refused.value) == (
        "2026-03-01T12:00:01Z is in the future. Write a time before now, such as 2h ago."
    )


def test_text_of_a_moment_is_read_as_the_same() -> None:
    moment = NOW - timedelta(microseconds=1)

    assert moment_text(moment) == "2026-03-01T11:59:59.999999Z"
    assert read_moment(moment_text(moment), now=NOW) == moment


@pytest.mark.parametrize("text", ["", "nonsense", "0001-01-01T00:00:00Z", "-6000w"])
def test_what_is_no_time_is_no_end_of_a_range(text: str) -> None:
    assert read_time(text, now=NOW) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2h ago", NOW - timedelta(hours=2)),
        ("-1w", NOW - timedelta(days=7)),
        ("2026-03-01 11:00", NOW - timedelta(hours=1)),
        ("2026-03-01T13:00:00Z", NOW + timedelta(hours=1)),
    ],
)
def test_end_of_a_range_is_written_as_any_moment_and_may_be_after_now(
    text: str, expected: datetime
) -> None:
    assert read_time(text, now=NOW) == expected
