from dataclasses import fields
from enum import IntEnum
from typing import Any, Protocol

from django.db import models
from django.utils.translation import gettext_lazy as _

from dra.values import DeviceCounts

# Of a pool's devices, each a column after `devices_`.
COUNTS = tuple(field.name for field in fields(DeviceCounts))


class HasCounts(Protocol):
    """A row that has the figures of a pool."""

    devices_total: Any


def counts_of(row: HasCounts) -> dict[str, Any]:
    """Devices by state, as the API names them."""
    return {name: getattr(row, f"devices_{name}") for name in COUNTS}


class DeviceState(models.TextChoices):
    """The state of a device; always shown in this order."""

    ALLOCATED = "allocated", _("allocated")
    AVAILABLE = "available", _("available")
    BLOCKED = "blocked", _("blocked")
    UNAVAILABLE = "unavailable", _("unavailable")
    UNKNOWN = "unknown", _("unknown")


class Severity(IntEnum):
    """Of a pool's worst problem, as its row has it, to sort by; the names are the words of `dra.catalogue.Severity`."""

    NONE = 0
    INFO = 1
    WARNING = 2
    ERROR = 3


class NodeKind(models.TextChoices):
    """How a pool or slice says where its devices can be used."""

    NODE = "node", _("one node")
    SELECTOR = "selector", _("by selector")
    ALL = "all", _("all nodes")
    PER_DEVICE = "per_device", _("per device")
    MIXED = "mixed", _("mixed")
    NONE = "none", _("not said")


class Outcome(models.TextChoices):
    """What became of a pool status request."""

    PENDING = "pending", _("waiting for an answer")
    ANSWERED = "answered", _("answered")
    UNANSWERED = "unanswered", _("not answered")
    NOT_SERVED = "not_served", _("not served")
    REFUSED = "refused", _("refused (RBAC)")
    NOBODY_ANSWERS = "nobody_answers", _("served, but nobody answers")
    BLOCKED = "blocked", _("blocked by an incomplete pool")
    FAILED = "failed", _("failed")
