"""Our own figures for the cases of the controller's own unit tests and for the traps around them.

Each row was checked by hand against what the objects mean; `None` is unknown. The same objects give the same figures in both releases,
unless a taint rule has no selector.
"""

import pytest

from dra.pools import assess_fleet
from tests.unit.dra import recorded

Row = tuple[str, int | None, int, int, int | None, int | None, int | None]

# pool, total, allocated, partly used, unavailable, blocked, available
FIGURES: dict[str, list[Row]] = {
    "all-pools-complete-no-validation-errors": [("pool-1", 8, 0, 0, 0, 0, 8)],
    "cap-at-one-per-device": [("pool-1", 4, 1, 0, 0, 0, 3)],
    "extra-allocated-and-tainted-device": [("pool-1", 3, 1, 0, 0, 0, 2)],
    "extra-allocated-more-than-total": [("pool-1", 1, 1, 0, 0, 0, 0)],
    "extra-claim-for-vanished-device": [("pool-1", 2, 0, 0, 0, 0, 2)],
    "extra-claim-with-deletion-timestamp-counts": [("pool-1", 2, 1, 0, 0, 0, 1)],
    "extra-consumed-by-vanished-shareable-device": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "extra-consumed-on-unknown-key": [("pool-0", 1, 1, 1, 0, 0, 0)],
    "extra-consumed-over-total": [("pool-0", 1, 1, 0, 0, 0, 0)],
    "extra-declaration-on-counters-only-slice": [("pool-0", None, 0, 0, None, None, 0)],
    "extra-duplicate-counter-set-names": [("pool-0", None, 0, 0, None, None, 0)],
    "extra-duplicate-device-names": [("pool-1", None, 1, 0, None, None, 0)],
    "extra-fully-consumed-shareable-device": [("pool-0", 1, 1, 0, 0, 0, 0)],
    "extra-generation-zero": [("pool-1", 2, 0, 0, 0, 0, 2)],
    "extra-generation-zero-and-good-pool": [
        ("pool-1", 2, 0, 0, 0, 0, 2),
        ("pool-2", 2, 0, 0, 0, 0, 2),
    ],
    "extra-incomplete-pool-beyond-limit": [
        ("pool-1", 2, 0, 0, 0, 0, 2),
        ("pool-2", None, 0, 0, None, None, 0),
    ],
    "extra-incomplete-pool-within-limit": [
        ("a-pool", None, 0, 0, None, None, 0),
        ("pool-2", 2, 0, 0, 0, 0, 2),
    ],
    "extra-key-domain-not-normalised": [("pool-0", 2, 1, 0, 0, 0, 1)],
    "extra-more-slices-than-declared": [("pool-1", None, 0, 0, None, None, 0)],
    "extra-node-selector-pool": [("pool-1", 1, 0, 0, 0, 0, 1)],
    "extra-nodename-and-allnodes-mixed": [("pool-1", 2, 0, 0, 0, 0, 2)],
    "extra-one-device-allocated-and-tainted-floor-zero": [("pool-1", 1, 1, 0, 0, 0, 0)],
    "extra-partition-and-plain-devices-in-pool": [("pool-0", 4, 0, 0, 0, 0, 4)],
    "extra-partition-cost-canonical-quantities": [("pool-0", 2, 0, 0, 0, 0, 2)],
    "extra-partition-cost-decimal-and-binary-differ": [("pool-0", 2, 0, 0, 0, 0, 2)],
    "extra-partition-error-keeps-shareable": [("pool-0", 2, 0, 0, 0, 0, 2)],
    "extra-partition-summary-at-cap": [("pool-0", 32, 0, 0, 0, 0, 32)],
    "extra-partition-summary-over-cap": [("pool-0", 33, 0, 0, 0, 0, 33)],
    "extra-partition-tainted-still-allocatable": [("pool-0", 3, 0, 0, 1, 0, 2)],
    "extra-per-device-node-selection": [("pool-1", 2, 0, 0, 0, 0, 2)],
    "extra-quantity-formats": [("pool-0", 2, 1, 0, 0, 0, 1)],
    "extra-request-default-mixed-plain-and-partitioned-pools": [
        ("plain", 2, 0, 0, 0, 0, 2),
        ("pool-0", 3, 0, 0, 0, 0, 3),
    ],
    "extra-request-default-on-plain-pool": [("plain", 2, 0, 0, 0, 0, 2)],
    "extra-rule-and-embedded-taint-count-once": [("pool-1", 3, 0, 0, 1, 0, 2)],
    "extra-rule-device-only-across-pools": [
        ("pool-1", 3, 0, 0, 1, 0, 2),
        ("pool-2", 3, 0, 0, 1, 0, 2),
    ],
    "extra-rule-driver-only": [("pool-1", 3, 0, 0, 3, 0, 0)],
    "extra-rule-effect-none": [("pool-1", 3, 0, 0, 0, 0, 3)],
    "extra-rule-empty-selector": [("pool-1", 3, 0, 0, 3, 0, 0)],
    "extra-rule-nil-selector": [("pool-1", 3, 0, 0, 0, 0, 3)],
    "extra-rule-other-driver": [("pool-1", 3, 0, 0, 0, 0, 3)],
    "extra-same-pool-name-two-drivers": [
        ("pool-1", 3, 1, 0, 0, 0, 2),
        ("pool-1", 2, 0, 0, 0, 0, 2),
    ],
    "extra-shareable-admin-access-only": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "extra-shareable-summary-over-cap": [("pool-0", 2, 0, 0, 0, 0, 2)],
    "extra-shareable-without-capacity": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "extra-slice-without-devices": [("pool-1", 0, 0, 0, 0, 0, 0)],
    "extra-slices-disagree-declared-more": [("pool-1", None, 0, 0, None, None, 0)],
    "extra-slices-disagree-on-count-both-orders": [("pool-1", None, 0, 0, None, None, None)],
    "extra-tolerated-taint-still-counts": [("pool-1", 2, 0, 0, 1, 0, 1)],
    "extra-unknown-counter": [("pool-0", None, 0, 0, None, None, 0)],
    "extra-unknown-counter-set": [("pool-0", None, 0, 0, None, None, 0)],
    "extra-unknown-taint-effect": [],
    "filter-by-driver": [("pool-1", 8, 0, 0, 0, 0, 8), ("pool-1", 4, 0, 0, 0, 0, 4)],
    "filter-by-pool-name": [("pool-1", 4, 0, 0, 0, 0, 4), ("pool-2", 8, 0, 0, 0, 0, 8)],
    "incomplete-pool-has-validation-error": [("pool-1", None, 0, 0, None, None, 0)],
    "kep-heterogeneous-keys": [("pool-0", 2, 0, 0, 0, 0, 2)],
    "kep-plain-pool-neither-block": [("pool-1", 2, 0, 0, 0, 0, 2)],
    "kep-three-claims-on-one-shareable-partition": [("pool-0", 3, 1, 0, 0, 1, 1)],
    "kep-three-nics": [("pool-0", 3, 2, 0, 0, 0, 1)],
    "limit-pools": [("pool-1", 4, 0, 0, 0, 0, 4), ("pool-2", 4, 0, 0, 0, 0, 4)],
    "mix-of-complete-and-incomplete-pools": [
        ("pool-1", 4, 0, 0, 0, 0, 4),
        ("pool-2", None, 0, 0, None, None, 0),
    ],
    "mixed-node-pool-clears-nodename": [("pool-1", 8, 0, 0, 0, 0, 8)],
    "multiple-pools": [("pool-1", 4, 0, 0, 0, 0, 4), ("pool-2", 8, 0, 0, 0, 0, 8)],
    "multiple-slices-same-pool": [("pool-1", None, 0, 0, None, None, 0)],
    "nil-nodename-slices-no-nodename": [("pool-1", 8, 0, 0, 0, 0, 8)],
    "no-matching-pools": [("pool-1", 4, 0, 0, 0, 0, 4)],
    "older-generation-slices-ignored": [("pool-1", 8, 0, 0, 0, 0, 8)],
    "partition-summary": [("pool-0", 3, 0, 0, 0, 0, 3)],
    "pool-attribute-beats-request-default": [("pool-0", 3, 0, 0, 0, 0, 3)],
    "request-partition-attribute": [("pool-0", 3, 0, 0, 0, 0, 3)],
    "resolve-differing-slice-attributes-kept": [("pool-0", 2, 0, 0, 0, 0, 2)],
    "resolve-neither-names-one": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "resolve-request-fills": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "resolve-request-ignored-when-any-declares": [("pool-0", 2, 0, 0, 0, 0, 2)],
    "resolve-slice-beats-request": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "same-node-pool-sets-nodename": [("pool-1", 8, 0, 0, 0, 0, 8)],
    "shareable-summary": [("pool-0", 1, 1, 0, 0, 0, 0)],
    "shareable-summary-multiple-capacities": [("pool-0", 1, 1, 0, 0, 0, 0)],
    "single-pool-no-allocations": [("pool-1", 4, 0, 0, 0, 0, 4)],
    "single-pool-with-allocations": [("pool-1", 4, 2, 0, 0, 0, 2)],
    "skip-admin-access": [("pool-1", 4, 1, 0, 0, 0, 3)],
    "sync-request": [("pool-1", 4, 0, 0, 0, 0, 4)],
    "sync-request-requeues-incomplete-pool": [("pool-1", None, 0, 0, None, None, 0)],
    "sync-request-writes-structural-view-error": [("pool-0", None, 0, 0, None, None, 0)],
    "type-bare-key-resolves-for-driver-domain": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "type-explicit-beats-bare": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "type-foreign-domain-bare-key-does-not-match": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "type-foreign-domain-explicit-key": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "type-non-string-counts-as-missing": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "unavailable-from-taint-rule": [("pool-1", 4, 0, 0, 1, 0, 3)],
    "unavailable-from-taint-rule-gate-off": [("pool-1", 4, 0, 0, 0, 0, 4)],
    "unavailable-from-taints-noexecute": [("pool-1", 5, 0, 0, 2, 0, 3)],
    "unavailable-from-taints-none": [("pool-1", 5, 0, 0, 0, 0, 5)],
    "unavailable-from-taints-noschedule": [("pool-1", 5, 0, 0, 2, 0, 3)],
    "view-all-fresh-independent-per-type": [("pool-0", 3, 0, 0, 0, 0, 3)],
    "view-cost-mismatch-within-type": [("pool-0", 2, 0, 0, 0, 0, 2)],
    "view-fresh-device-clamp": [("pool-0", 3, 0, 0, 0, 0, 3)],
    "view-gates-with-attribute": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "view-gates-without-attribute": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "view-hybrid": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "view-in-use-full-consumes-counter": [("pool-0", 3, 1, 0, 0, 2, 0)],
    "view-kep-one-half-in-use": [("pool-0", 3, 1, 0, 0, 1, 1)],
    "view-missing-attribute": [("pool-0", 2, 0, 0, 0, 0, 2)],
    "view-missing-attribute-declared-by-slice": [("pool-0", None, 0, 0, None, None, 0)],
    "view-multi-counter-set": [("pool-0", 2, 0, 0, 0, 0, 2)],
    "view-no-shareable-devices": [("pool-0", 1, 0, 0, 0, 0, 1)],
    "view-shareable-summary": [("pool-0", 3, 1, 0, 0, 0, 2)],
    "view-shareable-summary-multiple-capacities": [("pool-0", 2, 1, 0, 0, 0, 1)],
}

# type, total, allocatable; Half costs 40Gi and Full 80Gi of a counter of 80Gi, unless the name says otherwise
PARTITIONS = {
    "extra-declaration-on-counters-only-slice": [("Full", 1, None), ("Half", 2, None)],
    "extra-duplicate-counter-set-names": [("Full", 1, None), ("Half", 2, None)],
    "extra-partition-and-plain-devices-in-pool": [("Full", 1, 1), ("Half", 2, 2)],
    "extra-partition-cost-canonical-quantities": [("Half", 2, 2)],
    "extra-partition-cost-decimal-and-binary-differ": [("Half", 2, 2)],
    "extra-partition-error-keeps-shareable": [("Half", 2, 1)],
    "extra-partition-tainted-still-allocatable": [("Full", 1, 1), ("Half", 2, 1)],
    "extra-request-default-mixed-plain-and-partitioned-pools": [("Full", 1, 1), ("Half", 2, 2)],
    "extra-unknown-counter": [("Full", 1, None)],
    "extra-unknown-counter-set": [("Full", 1, None)],
    "kep-three-claims-on-one-shareable-partition": [("Full", 1, 0), ("Half", 2, 1)],
    "partition-summary": [("Full", 1, 1), ("Half", 2, 2)],
    "pool-attribute-beats-request-default": [("Full", 1, 1), ("Half", 2, 2)],
    "request-partition-attribute": [("Full", 1, 1), ("Half", 2, 2)],
    "resolve-differing-slice-attributes-kept": [("Full", 1, 1), ("Small", 1, 1)],
    "resolve-neither-names-one": [("Full", 1, 1)],
    "resolve-request-fills": [("Full", 1, 1)],
    "resolve-request-ignored-when-any-declares": [("Full", 1, 1)],
    "resolve-slice-beats-request": [("Full", 1, 1)],
    "sync-request-writes-structural-view-error": [("Full", 1, None)],
    "type-bare-key-resolves-for-driver-domain": [("Full", 1, 1)],
    "type-explicit-beats-bare": [("Explicit", 1, 1)],
    "view-all-fresh-independent-per-type": [("Full", 1, 1), ("Half", 2, 2)],
    "view-cost-mismatch-within-type": [("Half", 2, 1)],
    "view-fresh-device-clamp": [("Full", 3, 3)],
    "view-gates-with-attribute": [("Full", 1, 1)],
    "view-hybrid": [("Full", 1, 1)],
    "view-in-use-full-consumes-counter": [("Full", 1, 0), ("Half", 2, 0)],
    "view-kep-one-half-in-use": [("Full", 1, 0), ("Half", 2, 1)],
    "view-multi-counter-set": [("Full", 2, 1)],
}


# 1.36 applies a rule without selector to every device when it schedules. It dropped the declaration for which 1.37
# refused a slice, so there the pool is whole.
FIGURES_BY_RELEASE: dict[tuple[str, str], list[Row]] = {
    ("1.36.3", "extra-rule-nil-selector"): [("pool-1", 3, 0, 0, 3, 0, 0)],
    ("1.36.3", "extra-declaration-on-counters-only-slice"): [("pool-0", 3, 0, 0, 0, 0, 3)],
    ("1.36.3", "view-missing-attribute-declared-by-slice"): [("pool-0", 2, 0, 0, 0, 0, 2)],
}


def release_and_name() -> list[tuple[str, str]]:
    names = [name.split("/") for name in recorded.pool_status_names()]
    return [(release, name) for release, name in names if name in FIGURES]


@pytest.mark.parametrize(("release", "name"), release_and_name())
def test_figures_are_ours(release: str, name: str) -> None:
    objects = recorded.read_objects(recorded.pool_status(f"{release}/{name}")["objects"])

    fleet = assess_fleet(
        objects.slices,
        claims=objects.claims,
        taint_rules=[] if name == "unavailable-from-taint-rule-gate-off" else objects.rules,
        release=recorded.RELEASES[release],
    )

    assert [
        (
            pool.key.pool,
            pool.counts.total,
            pool.counts.allocated,
            pool.counts.partly_used,
            pool.counts.unavailable,
            pool.counts.blocked,
            pool.counts.available,
        )
        for pool in fleet.pools
    ] == (FIGURES_BY_RELEASE.get((release, name)) or FIGURES[name])


@pytest.mark.parametrize("name", PARTITIONS)
def test_partitions_are_ours(name: str) -> None:
    objects = recorded.read_objects(recorded.pool_status(f"1.37.2/{name}")["objects"])

    fleet = assess_fleet(
        objects.slices,
        claims=objects.claims,
        taint_rules=objects.rules,
        release=recorded.RELEASES["1.37.2"],
    )

    assert [
        (item.type, item.total, item.allocatable)
        for pool in fleet.pools
        for item in pool.partitions
    ] == PARTITIONS[name]
