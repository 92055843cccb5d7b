"""Why figures of a server differ from ours, why a pool status request stays open, why something was not seen: codes and words."""

from collections.abc import Mapping
from typing import Final

from dra.catalogue import SAID_BEFORE, Entry, Number, Text, by_code, ngettext_lazy
from dra.catalogue import gettext_noop as _

_NUMBER: Final = Number()
_TEXT: Final = Text()

UNEXPLAINED: Final = "unexplained"

_DIFFERENCES: Final = (
    Entry(
        UNEXPLAINED,
        _("not explained: the objects may have changed between the two readings"),
    ),
    Entry("not_readable", _("claims or taint rules could not be read here")),
    Entry(
        "pool_not_taken",
        _("the scheduler does not accept this pool, which the server does not check"),
    ),
    Entry(
        "server_counts_names_twice",
        _("the server counts a device name that is published twice as two devices"),
    ),
    Entry(
        "server_counts_unpublished",
        _("the server counts allocations of devices that are not published"),
    ),
    Entry(
        "server_counts_admin_access",
        _("the server counts results with admin access (1.36)"),
    ),
    Entry("server_counts_shares", _("the server counts each share of a device (1.36)")),
    Entry("server_ignores_taints", _("the server ignores taints (1.36)")),
    Entry(
        "server_counts_allocated_as_unavailable",
        _("the server counts tainted devices that are allocated as unavailable"),
    ),
    Entry(
        "server_subtracts_twice",
        _("the server subtracts a device that is allocated and tainted twice"),
    ),
    Entry(
        "server_knows_no_blocked",
        _("blocked does not exist on the server: it does not look at counters here"),
    ),
    Entry(
        "server_groups_otherwise",
        _("the server groups by another attribute, which the request named"),
    ),
    Entry(
        "server_counts_tainted_as_allocatable",
        _("the server counts tainted devices as allocatable"),
    ),
    Entry(
        "server_looks_at_needed_counters",
        _("the server looks only at the counters a device needs, the scheduler at all"),
    ),
    Entry(
        "server_counts_unpublished_consumption",
        _("the server counts what allocations of unpublished devices consume"),
    ),
    Entry(
        "server_counts_no_whole_device",
        _("the server counts nothing for a device that is held as a whole"),
    ),
    Entry(
        "server_counts_unshared_consumption",
        _("the server counts what devices that cannot be shared consume"),
    ),
)

# Why a pool keeps requests of its driver unanswered.
_BLOCKERS: Final = (
    Entry(
        "blocked_by_generation_zero",
        _("generation 0, which the server cannot write into its answer"),
    ),
    Entry(
        "blocked_by_missing_slices",
        _("incomplete: %(seen)s of %(expected)s slices"),
        {"seen": _NUMBER, "expected": _NUMBER},
    ),
)

# What became of a pool status request, beside its outcome.
_REQUESTS: Final = (
    Entry(
        "request_not_served",
        _("The cluster does not serve ResourcePoolStatusRequest."),
    ),
    Entry(
        "answer_truncated",
        _("%(answered)s of %(total)s pools were returned."),
        {"answered": _NUMBER, "total": _NUMBER},
    ),
    Entry(
        "gate_off",
        _("The feature gate %(gate)s is off in %(component)s."),
        {"gate": _TEXT, "component": _TEXT},
    ),
    Entry(
        "pools_block_answer",
        _(
            "The server writes no answer while a pool of the driver is incomplete or of generation 0."
        ),
    ),
    Entry(
        "never_answered",
        _(
            "No request of this cluster was ever answered: most likely %(gate)s is off in %(component)s."
        ),
        {"gate": _TEXT, "component": _TEXT},
    ),
    Entry("no_answer_came", _("No answer came in time.")),
    Entry(
        "pools_not_compared",
        ngettext_lazy(
            "%(pools)s pool was changed meanwhile, so not compared this time.",
            "%(pools)s pools were changed meanwhile, so not compared this time.",
            "pools",
        ),
        {"pools": _NUMBER},
    ),
    Entry("server_said", "%(text)s", {"text": _TEXT}),
)

# Why changes may have been missed.
_GAPS: Final = (
    Entry("api_unreachable", _("The API server could not be read.")),
    Entry("worker_away", _("No worker was running that read this cluster.")),
    Entry(
        "relist",
        _(
            "Everything had to be read anew; what changed and changed back before that was not seen."
        ),
    ),
    Entry("database_away", _("The database could not be reached.")),
    Entry("forbidden", _("The cluster did not let us read this.")),
    Entry("disk_full", _("The database had no room left.")),
    Entry("paused", _("Somebody had paused the reading of this cluster.")),
    Entry(
        "not_watched",
        _("The configuration named this cluster no more, or another cluster had its name."),
    ),
    Entry("restored", _("The cluster's own store was set back to an earlier state.")),
)

# What a figure is called that both the server and we have: no statements, so no part of what follows.
FIGURES: Final[Mapping[str, Entry]] = by_code(
    Entry("generation", _("generation")),
    Entry("slices", _("slices")),
    Entry("total", _("total")),
    Entry("allocated", _("allocated")),
    Entry("unavailable", _("unavailable")),
    Entry("available", _("available")),
    Entry("node", _("node")),
    Entry("partition", _("partition %(attribute)s=%(type)s"), {"attribute": _TEXT, "type": _TEXT}),
    Entry(
        "partition_total",
        _("partition %(attribute)s=%(type)s total"),
        {"attribute": _TEXT, "type": _TEXT},
    ),
    Entry(
        "partition_allocatable",
        _("partition %(attribute)s=%(type)s allocatable"),
        {"attribute": _TEXT, "type": _TEXT},
    ),
    Entry("capacity", _("capacity %(capacity)s"), {"capacity": _TEXT}),
    Entry("capacity_consumed", _("capacity %(capacity)s consumed"), {"capacity": _TEXT}),
)

# What an earlier release stored in words.
_BEFORE: Final = (Entry(SAID_BEFORE, "%(said_before)s", {SAID_BEFORE: _TEXT}),)

REASONS: Final[Mapping[str, Entry]] = by_code(
    *_DIFFERENCES, *_BLOCKERS, *_REQUESTS, *_GAPS, *_BEFORE
)
