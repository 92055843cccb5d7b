"""Every problem that we tell of pools, slices, devices, taint rules and dumps: its code, how bad it is, its words, what to do."""

from collections.abc import Mapping
from typing import Final

from dra.catalogue import Choice, Entry, Number, Several, Severity, Text, by_code, ngettext_lazy
from dra.catalogue import gettext_noop as _

_TEXT: Final = Text()
_NUMBER: Final = Number()

_TAKING: Final = Choice({
    "nothing": _("the scheduler takes no device from this pool"),
    "perhaps": _(
        "depending on release, node and order the scheduler takes devices from it all the same"
    ),
})  # fmt: skip
_EXPECTED: Final = Choice({
    "object": _("an object"),
    "list": _("a list"),
    "text": _("text"),
    "integer": _("a whole number"),
    "boolean": _("true or false"),
    "quantity": _("a quantity"),
    "device": _("a device with driver and pool"),
})  # fmt: skip
_FOUND: Final = Choice({
    "null": _("null"),
    "true": _("true"),
    "false": _("false"),
    "number": _("a number"),
    "text": _("the text %(text)r"),
    "list": _("a list"),
    "object": _("an object"),
})  # fmt: skip
_TAINTED: Final = Choice({
    "device": _("device %(name)s"),
    "rule": _("DeviceTaintRule %(name)s"),
})  # fmt: skip
_EMPTIED: Final = Choice({
    "perhaps_dropped": _("perhaps because the API server dropped fields that it does not know"),
    "others_ignored": _("as the API server ignores the other fields in it"),
})  # fmt: skip

_WAIT_OR_RESTART: Final = _(
    "Where this lasts, look at the driver's pod: it has not published all of the pool, or not taken away what is old."
)
_PUBLISH_ANEW: Final = _("The driver has to publish the pool anew; restart or upgrade it.")

# What could not be read of an object.
_READING: Final = (
    Entry(
        "unreadable_field",
        _("%(field)s should be %(expected)s, but is %(found)s"),
        {"field": _TEXT, "expected": _EXPECTED, "found": _FOUND, "text": _TEXT},
        "warning",
    ),
    Entry(
        "unidentified_object",
        _("a %(kind)s without %(missing)s: it cannot be told what it is, so it is left out"),
        {"kind": _TEXT, "missing": _TEXT},
        "error",
    ),
    Entry(
        "unidentified_device",
        _("%(field)s has no name and is left out"),
        {"field": _TEXT},
        "error",
    ),
    Entry(
        "basic_in_flat_version",
        _("device %(device)s is wrapped in `basic`, which this version of the API does not have"),
        {"device": _TEXT},
    ),
    Entry(
        "unknown_attribute_type",
        _("attribute %(attribute)s is of a type that is not known here; it is shown as published"),
        {"attribute": _TEXT},
    ),
)

# What is wrong with the slices of a pool, as the scheduler takes them.
_SLICES: Final = (
    Entry(
        "no_slices",
        _("no slice of this pool is published"),
        {},
        "warning",
    ),
    Entry(
        "incomplete_pool",
        _("%(seen)s of %(expected)s slices of generation %(generation)s are there: %(taking)s"),
        {"seen": _NUMBER, "expected": _NUMBER, "generation": _NUMBER, "taking": _TAKING},
        "error",
        _WAIT_OR_RESTART,
    ),
    Entry(
        "more_slices_than_declared",
        ngettext_lazy(
            "%(seen)s slices are there where %(expected)s is declared: %(taking)s",
            "%(seen)s slices are there where %(expected)s are declared: %(taking)s",
            "expected",
        ),
        {"seen": _NUMBER, "expected": _NUMBER, "taking": _TAKING},
        "error",
        _WAIT_OR_RESTART,
    ),
    Entry(
        "slice_counts_disagree",
        _("the slices disagree on their number (%(declared)s; %(seen)s are there): %(taking)s"),
        {"declared": Several(), "seen": _NUMBER, "taking": _TAKING},
        "error",
        _WAIT_OR_RESTART,
    ),
    Entry(
        "slice_count_unknown",
        _("no slice says how many slices the pool has: %(taking)s"),
        {"taking": _TAKING},
        "error",
        _PUBLISH_ANEW,
    ),
    Entry(
        "generation_unknown",
        _("the generation of this pool cannot be read"),
        {},
        "error",
        _PUBLISH_ANEW,
    ),
    Entry(
        "generation_zero",
        _(
            "generation 0 is valid, but every pool status request for driver %(driver)s that includes this pool stays unanswered"
        ),
        {"driver": _TEXT},
    ),
    Entry(
        "older_generation_published",
        _("slices of older generations (%(generations)s) are still published; they are ignored"),
        {"generations": Several()},
    ),
    Entry(
        "older_generation_in_use",
        _(
            "slices of older generations (%(generations)s) are still published, and the newest has none for %(nodes)s:"
            " there the scheduler still takes devices from them"
        ),
        {"generations": Several(), "nodes": Several("node_count"), "node_count": _NUMBER},
        "warning",
        _WAIT_OR_RESTART,
    ),
    Entry(
        "duplicate_device_name",
        _(
            "duplicate device name %(device)s: the scheduler rejects the pool on nodes that see it, status requests do not notice"
        ),
        {"device": _TEXT},
        "error",
        _PUBLISH_ANEW,
    ),
    Entry(
        "same_device_on_several_nodes",
        _(
            "device %(device)s is published on several nodes (%(nodes)s): one allocation holds all of them"
        ),
        {"device": _TEXT, "nodes": Several("node_count"), "node_count": _NUMBER},
        "error",
        _("Each node needs a pool of its own: let the driver name its pools by node."),
    ),
    Entry(
        "duplicate_counter_set",
        _(
            "duplicate counter set name %(counter_set)s: the scheduler rejects the pool on nodes that see it,"
            " status requests do not notice"
        ),
        {"counter_set": _TEXT},
        "error",
        _PUBLISH_ANEW,
    ),
    Entry(
        "counter_set_not_found",
        _(
            "counter set %(counter_set)s not found: the scheduler rejects the pool on nodes that see it,"
            " status requests do not notice"
        ),
        {"counter_set": _TEXT},
        "error",
        _PUBLISH_ANEW,
    ),
    Entry(
        "counter_not_found",
        _(
            "counter %(counter)s not found in counter set %(counter_set)s: the scheduler rejects the pool on nodes that see it,"
            " status requests do not notice"
        ),
        {"counter": _TEXT, "counter_set": _TEXT},
        "error",
        _PUBLISH_ANEW,
    ),
    Entry(
        "no_node_selection",
        _("slice %(slice)s names no node that can use it: the scheduler ignores it"),
        {"slice": _TEXT},
        "warning",
        _PUBLISH_ANEW,
    ),
    Entry(
        "counters_beside_devices",
        _(
            "slices with both counters and devices (%(slices)s) are refused since 1.35, and its scheduler leaves out their devices:"
            " the driver has to publish them anew"
        ),
        {"slices": Several("slice_count"), "slice_count": _NUMBER},
        "warning",
        _("Upgrade the driver to a release that is made for Kubernetes 1.35."),
    ),
    Entry(
        "no_devices",
        _("the pool is complete and has no device: its driver is up and has found none"),
    ),
    Entry(
        "mixed_nodes",
        _("the slices of this pool name different nodes: %(nodes)s"),
        {"nodes": Several("node_count"), "node_count": _NUMBER},
        "warning",
    ),
    Entry(
        "figures_not_stored",
        _("The figures are older than what the cluster says: they could not be stored (%(why)s)"),
        {"why": _TEXT},
        "error",
    ),
)

# What devices, their claims and their counters contradict each other in.
_DEVICES: Final = (
    Entry(
        "unknown_capacity",
        _("%(capacity)s is published as 0: its size is not known"),
        {"capacity": _TEXT},
    ),
    Entry(
        "device_allocated_twice",
        _("device %(device)s is allocated %(times)s times, to %(claims)s, and cannot be shared"),
        {
            "device": _TEXT,
            "times": _NUMBER,
            "claims": Several("claim_count"),
            "claim_count": _NUMBER,
        },
        "error",
        _("Delete the pods of all but one of these claims, then the claims."),
    ),
    Entry(
        "capacity_overdrawn",
        _("device %(device)s has %(total)s of %(capacity)s, but %(consumed)s are consumed"),
        {"device": _TEXT, "capacity": _TEXT, "total": _TEXT, "consumed": _TEXT},
        "error",
    ),
    Entry(
        "counter_overdrawn",
        _(
            "allocated devices draw %(amount)s more of %(counter)s in counter set %(counter_set)s than there is"
        ),
        {"amount": _TEXT, "counter": _TEXT, "counter_set": _TEXT},
        "error",
    ),
    Entry(
        "unpublished_allocation",
        ngettext_lazy(
            "claim %(claim)s holds device %(devices)s of %(driver)s/%(pool)s, which is not published any more",
            "claim %(claim)s holds %(device_count)s devices of %(driver)s/%(pool)s that are not published any more: %(devices)s",
            "device_count",
        ),
        {
            "claim": _TEXT,
            "driver": _TEXT,
            "pool": _TEXT,
            "devices": Several("device_count"),
            "device_count": _NUMBER,
        },
        "warning",
        _(
            "The claim keeps the device until its pods are gone. Delete them, and the claim if nothing made it for a pod."
        ),
    ),
    Entry(
        "unseen_allocation",
        ngettext_lazy(
            "claim %(claim)s holds device %(devices)s of %(driver)s/%(pool)s, which is in none of the slices that are there",
            "claim %(claim)s holds %(device_count)s devices of %(driver)s/%(pool)s that are in none of the slices that are there:"
            " %(devices)s",
            "device_count",
        ),
        {
            "claim": _TEXT,
            "driver": _TEXT,
            "pool": _TEXT,
            "devices": Several("device_count"),
            "device_count": _NUMBER,
        },
        "warning",
    ),
    Entry(
        "overlapping_devices",
        _(
            "device %(device)s and its parts %(parts)s are the same hardware, and no shared counter says so:"
            " what is free cannot be relied on"
        ),
        {"device": _TEXT, "parts": Several("part_count"), "part_count": _NUMBER},
        "warning",
        _(
            "Let the driver publish either the whole device or its parts, or counters that both draw from."
        ),
    ),
    Entry(
        "available_devices_compete",
        _(
            "the counters that are left do not cover all %(available)s available devices at once:"
            " at least %(together)s of them can be allocated together"
        ),
        {"available": _NUMBER, "together": _NUMBER},
    ),
)

# What people overlook in taints and taint rules.
_TAINTS: Final = (
    Entry(
        "unknown_taint_effect",
        _(
            "%(of)s has taint %(taint)s with the effect %(effect)r, which Kubernetes does not know: it does nothing"
        ),
        {"of": _TAINTED, "name": _TEXT, "taint": _TEXT, "effect": _TEXT},
    ),
    Entry(
        "rule_without_selector",
        _(
            "DeviceTaintRule %(rule)s has no deviceSelector: since 1.37 it selects nothing; earlier releases apply it to every device"
        ),
        {"rule": _TEXT},
        "warning",
        _("Give the rule a deviceSelector, or delete it."),
    ),
    Entry(
        "rule_taints_every_device",
        _(
            "DeviceTaintRule %(rule)s has no deviceSelector: this release of Kubernetes applies it to every device when it schedules"
        ),
        {"rule": _TEXT},
        "error",
        _("Give the rule a deviceSelector, or delete it."),
    ),
    Entry(
        "rule_marks_every_device",
        _(
            "DeviceTaintRule %(rule)s has no deviceSelector: this release of Kubernetes shows its taint on every device;"
            " it keeps nothing from being scheduled"
        ),
        {"rule": _TEXT},
    ),
    Entry(
        "rule_with_empty_selector",
        _(
            "DeviceTaintRule %(rule)s has an empty deviceSelector, %(why)s: it selects every device of the cluster"
        ),
        {"rule": _TEXT, "why": _EMPTIED},
        "warning",
        _("Name a driver, a pool or a device in the rule, or delete it."),
    ),
    Entry(
        "rule_selector_not_evaluated",
        _(
            "DeviceTaintRule %(rule)s selects by class or CEL, which is not evaluated here:"
            " whether the devices it may select are tainted is not known"
        ),
        {"rule": _TEXT},
        "warning",
    ),
)

# What a reader of dumps must know about what is not in them.
_DUMPS: Final = (
    Entry(
        "no_kind",
        _("has no kind, so it cannot be told what it is"),
        {},
        "warning",
    ),
    Entry(
        "slices_not_given",
        _(
            "There are no ResourceSlices here, so which devices there are is unknown. Add the output of"
            " `kubectl get resourceslices -o yaml`, or say --complete if there are none."
        ),
        {},
        "warning",
    ),
    Entry(
        "claims_not_given",
        _(
            "There are no ResourceClaims here, so who holds what is unknown. Add the output of"
            " `kubectl get resourceclaims -A -o yaml`, or say --complete if there are none."
        ),
        {},
        "warning",
    ),
    Entry(
        "taint_rules_not_given",
        _(
            "There are no DeviceTaintRules here: devices that one taints are shown as if it were not there."
            " Add the output of `kubectl get devicetaintrules -o yaml` where the cluster serves them."
        ),
    ),
)

PROBLEMS: Final[Mapping[str, Entry]] = by_code(*_READING, *_SLICES, *_DEVICES, *_TAINTS, *_DUMPS)
CODES: Final = tuple(sorted(PROBLEMS))
"""The closed set of codes, for filters and for the description of the API."""


def severity_of(code: str) -> Severity:
    """How bad a problem is. A code of another release is a warning."""
    entry = PROBLEMS.get(code)
    return entry.severity if entry else "warning"
