"""DeviceClasses: what does each stand for?"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from clusters.views.detail_page import DetailContent, Fact, Said
from clusters.views.frame import Scope
from clusters.views.kubectl import kubectl
from clusters.views.list_page import Asked, Content
from clusters.views.object_pages import ObjectPages
from pools.listings.device_classes import DEVICE_CLASSES, DeviceClassFilter
from pools.models import DeviceClass
from pools.views.manifests import manifest_of
from pools.views.shared import ShownProblem, problems_of
from ui.formatting import number
from ui.frame import Entry


@dataclass(frozen=True, slots=True)
class DeviceClassLine:
    """One DeviceClass in the list."""

    device_class: DeviceClass
    cluster: str
    problems: tuple[ShownProblem, ...]


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


def _content_of_one(row: DeviceClass, scope: Scope) -> DetailContent:
    resource, pools = row.extended_resource_name, reverse("pools:list")
    implicit = f"deviceclass.resource.kubernetes.io/{row.name}"
    return DetailContent(
        answer=_answer(row),
        facts=(
            Fact(
                _("A device is of it if"),
                [_expression(each) for each in row.selectors],
                nothing=_("It is any device."),
                under=_(
                    "DRA-Dash does not evaluate these expressions yet, so it does not say which devices those are."
                ),
            ),
            Fact(
                _("Extended resource"),
                [Said(resource, look="mono")] if resource else (),
                nothing=_("none"),
                under=_("Where extended resources are switched on, also %(name)s.")
                % {"name": implicit},
            ),
            Fact(
                _("Configures"),
                [
                    Said(driver, url=f"{pools}?{urlencode({'driver': driver})}")
                    for driver in row.config_drivers
                ],
                nothing=_("no driver"),
            ),
        ),
        problems=problems_of(row),
        command=kubectl(scope.chosen, "get", "deviceclass", row.name, "-o", "yaml"),
        manifest=manifest_of(row, scope),
    )


def _expression(text: str | None) -> Said:
    if text is None:
        return Said(_("one that could not be read"), look="muted")
    return Said(text, look="line")


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


PAGES: Final = ObjectPages(
    kind=DEVICE_CLASSES,
    content=_content,
    content_of_one=_content_of_one,
    entry=Entry(gettext_lazy("Classes"), "classes", "l"),
)
