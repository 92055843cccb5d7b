"""What the frame around every page shows: navigation, the cluster chooser, freshness and banners."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from ui.lists import CURSOR, with_query
from ui.moments import AT
from ui.past import answers_for_moments

Tone = Literal["info", "warning", "error", "good"]
BannerKind = Literal[
    "simulated",
    "paused",
    "stale",
    "gap",
    "reading",
    "forbidden",
    "read-only",
    "unreachable",
    "note",
]

_TONES: Final[dict[str, Tone]] = {
    "stale": "warning",
    "gap": "warning",
    "forbidden": "warning",
    "unreachable": "error",
}
# Where an icon has another name than the kind.
_ICONS: Final[dict[str, str]] = {
    "paused": "pause",
    "forbidden": "locked",
    "unreachable": "error",
    "note": "info",
}


@dataclass(frozen=True, slots=True)
class Banner:
    """A thin line under the top bar: what is so, and what to do."""

    kind: BannerKind
    text: str
    # What to do about it: a command to copy, or a link.
    command: str = ""
    url: str = ""
    url_label: str = ""
    since: datetime | None = None
    # Of a first read: objects read so far, and how many are expected; None when not known.
    done: int | None = None
    expected: int | None = None

    @property
    def tone(self) -> Tone:
        """Its colour."""
        return _TONES.get(self.kind, "info")

    @property
    def icon(self) -> str:
        return _ICONS.get(self.kind, self.kind)


@dataclass(frozen=True, slots=True)
class ClusterChoice:
    """A cluster in the chooser; `value` is what `?cluster=` takes."""

    value: str
    name: str
    url: str
    is_selected: bool = False
    # A word when it is not plainly fine, such as "paused" or "unreachable".
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Freshness:
    """How old what the page shows is: the oldest of the clusters in view."""

    # None: nothing was read yet.
    synced_at: datetime | None
    tone: Literal["good", "warning", "error"]
    text: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Past:
    """The moment that a page is about, when it is not now."""

    at: datetime
    # The moment in words that no script turns into another zone: for the title of the tab and what is printed.
    text: str
    now_url: str
    # What of that moment is missing, in sentences.
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Preset:
    """A moment to look at, counted back from when it is chosen."""

    label: Promise | str
    url: str


# Words of an address for each preset of the time control.
PRESETS: Final = (
    ("-15m", _("15 minutes ago")),
    ("-1h", _("1 hour ago")),
    ("-6h", _("6 hours ago")),
    ("-1d", _("1 day ago")),
    ("-1w", _("1 week ago")),
)


@dataclass(frozen=True, slots=True)
class TimeControl:
    """Chooses the moment that pages are about; `kept` are the parameters that its form carries on."""

    action: str
    text: str
    presets: Sequence[Preset]
    kept: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Frame:
    """The frame of one answer; `status_url` gives `components/frame_status.html` and is asked again and again."""

    clusters: Sequence[ClusterChoice] = ()
    selected_name: str = ""
    all_url: str = ""
    freshness: Freshness | None = None
    banners: Sequence[Banner] = ()
    # None: the page is about now.
    past: Past | None = None
    # None: the page answers for now only.
    time: TimeControl | None = None
    status_url: str = ""
    # Of each cluster by id, the moment for which its figures hold; scripts keep the ages on the page by it, since a
    # live part is not sent again while nothing changed.
    observed: Sequence[tuple[int, datetime]] = ()
    refresh_seconds: int = 2


@dataclass(frozen=True, slots=True)
class NavItem:
    """One entry of the navigation; `key` is pressed after `g`."""

    label: Promise | str
    icon: str
    url_name: str
    key: str


@dataclass(frozen=True, slots=True)
class NavLink:
    """An entry that has a page."""

    item: NavItem
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class NavGroup:
    """Entries under one heading."""

    label: Promise | str
    links: Sequence[NavLink]


_ROOT: Final = "dashboard:overview"

NAVIGATION: Final = (
    (
        _("Fleet"),
        (
            NavItem(_("Overview"), "overview", _ROOT, "o"),
            NavItem(_("Pools"), "pools", "pools:list", "p"),
            NavItem(_("Devices"), "devices", "pools:device_list", "d"),
            NavItem(_("Nodes"), "nodes", "pools:node_list", "n"),
            NavItem(_("Classes"), "classes", "pools:device_class_list", "l"),
            NavItem(_("Resource slices"), "slices", "pools:slice_list", "s"),
        ),
    ),
    (
        _("System"),
        (
            NavItem(_("Clusters"), "clusters", "clusters:list", "c"),
            NavItem(_("Pool status requests"), "requests", "pools:status_list", "r"),
        ),
    ),
)


def time_control(path: str, query: QueryDict) -> TimeControl | None:
    """The control for the page at `path`, where that answers for moments."""
    if not answers_for_moments(path):
        return None
    return TimeControl(
        action=path,
        text=query.get(AT, ""),
        presets=[Preset(label, with_query(path, query, at=text)) for text, label in PRESETS],
        kept=[
            (name, value)
            for name, values in query.lists()
            for value in values
            if name not in {AT, CURSOR}
        ],
    )


def navigation(*, path: str, cluster: str = "") -> tuple[NavGroup, ...]:
    """Groups with the pages that exist; the chosen cluster goes along in every link."""
    groups = []
    for label, items in NAVIGATION:
        links = tuple(link for item in items if (link := _link(item, path=path, cluster=cluster)))
        if links:
            groups.append(NavGroup(label, links))
    return tuple(groups)


def url_or_empty(name: str, *arguments: object) -> str:
    """The address of a page, or an empty text when there is no such page."""
    try:
        return reverse(name, args=arguments)
    except NoReverseMatch:
        return ""


def _link(item: NavItem, *, path: str, cluster: str) -> NavLink | None:
    url = url_or_empty(item.url_name)
    if not url:
        return None
    # The overview is at the root, which is the start of every path.
    is_current = path == url or (item.url_name != _ROOT and path.startswith(url))
    query = f"?{urlencode({'cluster': cluster})}" if cluster else ""
    return NavLink(item, f"{url}{query}", is_current)
