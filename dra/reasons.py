"""Why figures of a server differ from ours, why a pool status request stays open, why something was not seen: codes and words."""

from collections.abc import Mapping
from typing import Final

from dra.catalogue import SAID_BEFORE, Entry, Number, Text, by_code
from dra.catalogue import gettext_noop as _

_NUMBER: Final = Number()

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

# What an earlier release stored in words.
_BEFORE: Final = (Entry(SAID_BEFORE, "%(said_before)s", {SAID_BEFORE: Text()}),)

REASONS: Final[Mapping[str, Entry]] = by_code(*_DIFFERENCES, *_BLOCKERS, *_BEFORE)
