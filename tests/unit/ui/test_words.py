from datetime import UTC, datetime

import pytest

from ui.words import cluster_words, source_words

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("versions", "observed_at", "expected"),
    [
        (
            {"ResourceSlice": "7", "ResourceClaim": "9"},
            NOON,
            "computed from ResourceSlices at 7, ResourceClaims at 9",
        ),
        (
            {"DeviceClass": "7", "Gadget": "9"},
            NOON,
            "computed from DeviceClasses at 7, Gadget at 9",
        ),
        # Not all of it was read yet.
        ({"ResourceSlice": "7"}, None, "computed from ResourceSlices at 7"),
        ({}, NOON, "computed from what is kept of then"),
        ({}, None, "nothing read yet"),
    ],
)
def test_source_of_figures_in_words(
    versions: dict[str, str], observed_at: datetime | None, expected: str
) -> None:
    assert source_words(versions, observed_at) == expected


@pytest.mark.parametrize(
    ("replaced_at", "expected"), [(None, "one"), (NOON, "one (until 1 Mar 2026 12:00:00 UTC)")]
)
def test_cluster_of_whose_name_is_another_says_until_when_it_was_there(
    replaced_at: datetime | None, expected: str
) -> None:
    assert cluster_words("one", replaced_at) == expected
