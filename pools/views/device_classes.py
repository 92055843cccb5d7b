"""DeviceClasses: what does each stand for?"""

from dataclasses import dataclass

from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from clusters.views.detail_page import DetailPage, one_of_a_list
from clusters.views.frame import Scope
from clusters.views.kubectl import kubectl
from clusters.views.list_page import Asked, Content, list_page
from clusters.views.live import Live
from kube.kinds import DEVICE_CLASS
from pools.listings.device_class_list import DEVICE_CLASSES
from pools.models import DeviceClass
from pools.queries.device_classes import DeviceClassFilter, device_class
from pools.views.manifests import manifest_of
from pools.views.shared import ShownProblem, problems_of
from ui.formatting import number


@dataclass(frozen=True, slots=True)
class DeviceClassLine:
    """One DeviceClass in the list."""

    device_class: DeviceClass
    cluster: str
    problems: tuple[ShownProblem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClassPage(DetailPage):
    """The page of one DeviceClass."""

    device_class: DeviceClass
    # To which it answers where extended resources are switched on, whatever its own name for one is.
    implicit_resource: str


def _content(asked: Asked[DeviceClass, DeviceClassFilter]) -> Content:
    count = asked.found.count()
    text = ngettext("%(n)s device class.", "%(n)s device classes.", count)
    return Content(
        answer=text % {"n": number(count)} if count else "",
        lines=[
            DeviceClassLine(row, asked.scope.name_of(row.cluster_id), problems_of(row))
            for row in asked.rows
        ],
        count=count,
        kubectl=kubectl(asked.scope.only, "get", "deviceclasses"),
    )


device_class_list = list_page(DEVICE_CLASSES, _content)


@one_of_a_list
def device_class_detail(request: HttpRequest, scope: Scope, class_id: int) -> Live:
    """One DeviceClass, also one that is gone."""
    del request
    try:
        row = device_class(scope.snapshot, class_id)
    except DeviceClass.DoesNotExist:
        raise Http404(_("There is no such device class.")) from None
    only = scope.about(row.cluster_id)
    return Live((row.id, only.state(DEVICE_CLASS.name)), lambda: {"page": _page(row, only)})


def _page(row: DeviceClass, scope: Scope) -> DeviceClassPage:
    return DeviceClassPage(
        id="device-class",
        kind=_("Device class"),
        name=row.name,
        answer=_answer(row),
        list_title=_("Device classes"),
        list_url=reverse("pools:device_class_list"),
        fresh=scope.fresh[row.cluster_id],
        template="pools/_device_class_facts.html",
        problems=problems_of(row),
        command=kubectl(scope.chosen, "get", "deviceclass", row.name, "-o", "yaml"),
        manifest=manifest_of(row, scope),
        device_class=row,
        implicit_resource=f"deviceclass.resource.kubernetes.io/{row.name}",
    )


def _answer(row: DeviceClass) -> str:
    if row.vanished_at:
        return _("No longer in the cluster. This is what was stored.")
    if not row.selectors:
        return _("It has no expression: any device of any driver is of it.")
    if None in row.selectors:
        return _(
            "Not all of its expressions could be read, so fewer devices may be of it than the others say."
        )
    text = ngettext(
        "A device is of it if its expression is true of the device.",
        "A device is of it if all %(n)s expressions are true of the device.",
        len(row.selectors),
    )
    return text % {"n": number(len(row.selectors))}
