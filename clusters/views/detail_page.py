"""The page of one thing that is in a list: its name, its answer in words, what an app shows of it, and the object as YAML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clusters.views.live import live_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.utils.functional import Promise

    from clusters.queries import Freshness

one_of_a_list = live_page(page="details/page.html", fragment="details/_detail.html")
"""Of a view that answers with a `DetailPage`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailPage:
    """What details/page.html shows; what `template` shows beside it is in a class of its own that has more."""

    # Id of its element on the page.
    id: str
    # What it is, in a word.
    kind: Promise | str
    name: str
    answer: str
    list_title: Promise | str
    list_url: str
    fresh: Freshness
    # The app's part of the page.
    template: str
    problems: Sequence[Any] = ()
    # Prints the same object.
    command: str
    manifest: str = ""
