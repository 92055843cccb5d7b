"""One device: what is it, who holds it, and since when is it so?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from clusters.choices import POOLS
from clusters.queries import Freshness
from clusters.views.frame import Scope
from clusters.views.live import Live, live_page
from pools import queries
from pools.models import Allocation, Device, Pool, ResourceSlice
from pools.views.device_list import attribute_reading
from pools.views.shared import ShownProblem, problems_of
from ui.formatting import Reading

# Other names of the same hardware that the page lists.
MOST_TWINS = 12


@dataclass(frozen=True, slots=True)
class DevicePage:
    """What the page of one device shows."""

    device: Device
    pool: Pool
    slice: ResourceSlice | None
    fresh: Freshness
    is_stale: bool
    answer: str
    holders: tuple[Allocation, ...]
    admin_holders: tuple[Allocation, ...]
    attributes: tuple[tuple[str, Reading], ...]
    capacity: Sequence[dict[str, Any]]
    # Whether shares of the capacity are, or could be, consumed one by one.
    is_shared: bool
    problems: tuple[ShownProblem, ...]
    twins: tuple[Device, ...]
    has_more_twins: bool


@live_page(page="pools/device_detail.html", fragment="pools/_device.html")
def device_detail(request: HttpRequest, scope: Scope, device_id: int) -> Live:
    """The page; htmx gets what is live in it."""
    try:
        device = queries.device(scope.snapshot, device_id)
        pool = queries.pool(scope.snapshot, device.pool_id)
    except (Device.DoesNotExist, Pool.DoesNotExist):
        raise Http404(_("There is no such device.")) from None
    only = scope.about(device.cluster_id)
    return Live(only.state(POOLS), lambda: {"page": _page(device, pool, scope=only)})


def _page(device: Device, pool: Pool, *, scope: Scope) -> DevicePage:
    holders = queries.holders(scope.snapshot, [device]).get(device.id, [])
    twins = queries.same_hardware(scope.snapshot, device, limit=MOST_TWINS + 1)
    shares = [each for each in holders if each.share_id or each.consumed_capacity]
    return DevicePage(
        device=device,
        pool=pool,
        slice=queries.slice_of_device(scope.snapshot, device),
        fresh=scope.fresh[device.cluster_id],
        is_stale=scope.is_stale,
        answer=device_answer(device, holders),
        holders=tuple(each for each in holders if not each.has_admin_access),
        admin_holders=tuple(each for each in holders if each.has_admin_access),
        attributes=tuple(
            (name, attribute_reading(value)) for name, value in sorted(device.attributes.items())
        ),
        capacity=queries.capacity_of(device),
        is_shared=bool(device.is_partly_used or shares),
        problems=problems_of(device),
        twins=tuple(twins[:MOST_TWINS]),
        has_more_twins=len(twins) > MOST_TWINS,
    )


def device_answer(device: Device, holders: Sequence[Allocation]) -> str:
    """The device's state in a sentence, with its reason."""
    if device.vanished_at:
        return _("No pool publishes this device any more. This is what was last published of it.")
    claims = {
        (each.claim_namespace, each.claim_name) for each in holders if not each.has_admin_access
    }
    if device.state == "allocated":
        text = ngettext("Held by %(n)s claim.", "Held by %(n)s claims.", len(claims))
        held = text % {"n": len(claims)}
        return f"{held} {_('It has room for another share.')}" if device.is_partly_used else held
    if device.state == "unavailable":
        return _unavailable_answer(device)
    reasons = {
        "available": _("Free: a claim that asks for this device alone could get it now."),
        "blocked": _(
            "Free, but other devices have used up the counters that it shares with them."
        ),
        "unknown": _("Nothing is known of its use. The problems of its pool say why."),
    }
    return reasons[device.state]


def _unavailable_answer(device: Device) -> str:
    keeping = [taint for taint in device.taints if taint["effect"] in {"NoSchedule", "NoExecute"}]
    if not keeping:
        return _("Not allocated, and tainted.")
    taint = keeping[0]
    words = {"taint": taint["key"], "rule": taint.get("rule")}
    if taint.get("rule"):
        return _("Not allocated, and tainted with %(taint)s by the rule %(rule)s.") % words
    return _("Not allocated, and tainted with %(taint)s by its driver.") % words
