"""What the frame around every page shows: navigation, the cluster chooser, freshness and banners."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import urlencode

from django.conf import settings
from django.http import QueryDict
from django.urls import (
    NoReverseMatch,
    URLPattern,
    URLResolver,
    get_resolver,
    get_script_prefix,
    get_urlconf,
    reverse,
)
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
class Entry:
    """The entry of a page in the navigation; `key` is pressed after `g`."""

    label: Promise | str
    icon: str
    key: str
    group: Literal["fleet", "system"] = "fleet"


@dataclass(frozen=True, slots=True)
class NavLink:
    """An entry with the address of its page."""

    item: Entry
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class NavGroup:
    """Entries under one heading."""

    label: Promise | str
    links: Sequence[NavLink]


_GROUPS: Final = {"fleet": _("Fleet"), "system": _("System")}


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
    """The views that have an entry, in the order of their addresses; the chosen cluster goes along in every link."""
    links: dict[str, list[NavLink]] = {}
    for entry, url in _entries(get_urlconf() or settings.ROOT_URLCONF):
        links.setdefault(entry.group, []).append(_link(entry, url, path=path, cluster=cluster))
    return tuple(NavGroup(label, links[group]) for group, label in _GROUPS.items())


@lru_cache(maxsize=1)
def _entries(urlconf: str) -> tuple[tuple[Entry, str], ...]:
    return tuple(_entries_among(get_resolver(urlconf).url_patterns, ()))


def _entries_among(
    patterns: Sequence[URLPattern | URLResolver], within: tuple[str, ...]
) -> Iterator[tuple[Entry, str]]:
    """Entries with the addresses of their pages; `within` names the apps that these patterns are of."""
    for each in patterns:
        if isinstance(each, URLResolver):
            yield from _entries_among(
                each.url_patterns, (*within, *filter(None, [each.namespace]))
            )
        elif entry := getattr(each.callback, "entry", None):
            yield entry, reverse(":".join((*within, str(each.name))))


def url_or_empty(name: str, *arguments: object) -> str:
    """The address of a page, or an empty text when there is no such page."""
    try:
        return reverse(name, args=arguments)
    except NoReverseMatch:
        return ""


def _link(entry: Entry, url: str, *, path: str, cluster: str) -> NavLink:
    # The overview is at the root, which is the start of every path.
    is_current = path == url or (url != get_script_prefix() and path.startswith(url))
    query = f"?{urlencode({'cluster': cluster})}" if cluster else ""
    return NavLink(entry, f"{url}{query}", is_current)
