"""Where our own figures differ from the server's on purpose: checked by hand, case by case."""

# pool, figure, ours, the server's, why
Row = tuple[str, str, int | str | None, int | str | None, str]

NOT_TAKEN = "the scheduler does not accept this pool, which the server does not check"
NAMED_TWICE = "the server counts a device name that is published twice as two devices"
NO_BLOCKED = "blocked does not exist on the server: it does not look at counters here"
TAINTED_IN_USE = "the server counts tainted devices that are allocated as unavailable"
SUBTRACTED_TWICE = "the server subtracts a device that is allocated and tainted twice"
UNPUBLISHED = "the server counts allocations of devices that are not published"
CONSUMED_UNPUBLISHED = "the server counts what allocations of unpublished devices consume"
TAINTED_FITS = "the server counts tainted devices as allocatable"
OTHER_ATTRIBUTE = "the server groups by another attribute, which the request named"

INTENDED: dict[str, list[Row]] = {
    "C03-same-pool-name-on-three-nodes": [
        ("dx-dummy", "total", None, 3, f"{NOT_TAKEN}; {NAMED_TWICE}"),
        ("dx-dummy", "unavailable", None, 0, NOT_TAKEN),
        ("dx-dummy", "available", 0, 2, f"{NOT_TAKEN}; {NAMED_TWICE}"),
    ],
    "C11-mig-only-pool-split-slices": [
        ("node-a", "available", 3, 4, NO_BLOCKED),
    ],
    "C19-toleration-lost-in-allocation-result": [
        ("node-a", "unavailable", 0, 1, TAINTED_IN_USE),
    ],
    "C21-extended-resource-pod-not-evicted": [
        ("node-a", "unavailable", 0, 1, TAINTED_IN_USE),
    ],
    "extra-allocated-and-tainted-device": [
        ("pool-1", "unavailable", 0, 1, TAINTED_IN_USE),
        ("pool-1", "available", 2, 1, SUBTRACTED_TWICE),
    ],
    "extra-allocated-more-than-total": [
        ("pool-1", "allocated", 1, 3, UNPUBLISHED),
    ],
    "extra-claim-for-vanished-device": [
        ("pool-1", "allocated", 0, 1, UNPUBLISHED),
        ("pool-1", "available", 2, 1, UNPUBLISHED),
    ],
    "extra-consumed-by-vanished-shareable-device": [
        ("pool-0", "allocated", 0, 1, UNPUBLISHED),
        ("pool-0", "available", 1, 0, UNPUBLISHED),
        ("pool-0", "capacity memory consumed", "0", "4Gi", CONSUMED_UNPUBLISHED),
    ],
    "extra-duplicate-device-names": [
        ("pool-1", "total", None, 4, f"{NOT_TAKEN}; {NAMED_TWICE}"),
        ("pool-1", "unavailable", None, 0, NOT_TAKEN),
        ("pool-1", "available", 0, 3, f"{NOT_TAKEN}; {NAMED_TWICE}"),
    ],
    "extra-more-slices-than-declared": [
        ("pool-1", "total", None, 3, NOT_TAKEN),
        ("pool-1", "unavailable", None, 0, NOT_TAKEN),
        ("pool-1", "available", 0, 3, NOT_TAKEN),
    ],
    "extra-one-device-allocated-and-tainted-floor-zero": [
        ("pool-1", "unavailable", 0, 1, TAINTED_IN_USE),
    ],
    "extra-partition-tainted-still-allocatable": [
        ("pool-0", "partition gpu.example.com/profile=Half allocatable", 1, 2, TAINTED_FITS),
    ],
    "extra-slices-disagree-on-count-both-orders": [
        ("pool-1", "total", None, 2, NOT_TAKEN),
        ("pool-1", "unavailable", None, 0, NOT_TAKEN),
        ("pool-1", "available", None, 2, NOT_TAKEN),
    ],
    "extra-unknown-counter": [
        ("pool-0", "total", None, 1, NOT_TAKEN),
        ("pool-0", "unavailable", None, 0, NOT_TAKEN),
        ("pool-0", "available", 0, 1, NOT_TAKEN),
        ("pool-0", "partition gpu.example.com/profile=Full allocatable", None, 0, NOT_TAKEN),
    ],
    "extra-unknown-counter-set": [
        ("pool-0", "total", None, 1, NOT_TAKEN),
        ("pool-0", "unavailable", None, 0, NOT_TAKEN),
        ("pool-0", "available", 0, 1, NOT_TAKEN),
        ("pool-0", "partition gpu.example.com/profile=Full allocatable", None, 0, NOT_TAKEN),
    ],
    "kep-three-claims-on-one-shareable-partition": [
        ("pool-0", "available", 1, 2, NO_BLOCKED),
    ],
    "multiple-slices-same-pool": [
        ("pool-1", "total", None, 8, NOT_TAKEN),
        ("pool-1", "unavailable", None, 0, NOT_TAKEN),
        ("pool-1", "available", 0, 8, NOT_TAKEN),
    ],
    "resolve-request-fills": [
        ("pool-0", "partition gpu.example.com/shape=Small", None, 1, OTHER_ATTRIBUTE),
    ],
    "sync-request-writes-structural-view-error": [
        ("pool-0", "total", None, 1, NOT_TAKEN),
        ("pool-0", "unavailable", None, 0, NOT_TAKEN),
        ("pool-0", "available", 0, 1, NOT_TAKEN),
    ],
    "type-foreign-domain-explicit-key": [
        ("pool-0", "partition other.com/x=X", None, 1, OTHER_ATTRIBUTE),
    ],
    "view-in-use-full-consumes-counter": [
        ("pool-0", "available", 0, 2, NO_BLOCKED),
    ],
    "view-kep-one-half-in-use": [
        ("pool-0", "available", 1, 2, NO_BLOCKED),
    ],
}
