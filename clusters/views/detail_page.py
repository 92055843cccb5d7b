"""The page of one thing that is in a list: its name, its answer in words, what is known of it, and the object as YAML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from clusters.views.live import live_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.utils.functional import Promise

    from clusters.queries import Freshness

one_of_a_list = live_page(page="details/page.html", fragment="details/_detail.html")
"""Of a view that answers with a `DetailPage`."""


@dataclass(frozen=True, slots=True)
class Said:
    """A part of a fact: a text as it stands in the object, or a word of ours."""

    text: Promise | str
    url: str = ""
    # A name or an expression, a label, a word for a state, or words that matter less.
    look: Literal["", "mono", "line", "tag", "badge", "muted"] = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is known: what is said of it, or that there is nothing; `under` explains it."""

    label: Promise | str
    said: Sequence[Said]
    nothing: Promise | str = ""
    under: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailContent:
    """What an app says of one thing."""

    # The page's question answered in a sentence or two.
    answer: str
    facts: Sequence[Fact]
    problems: Sequence[Any]
    # Prints the same object.
    command: str
    manifest: str = ""
    # A template that stands under the facts, and its values.
    below: str = ""
    more: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailPage:
    """What details/page.html shows."""

    # Id of its element on the page.
    id: str
    # What it is, in a word.
    kind: Promise | str
    list_title: Promise | str
    list_url: str
    fresh: Freshness
    # It has `name`, `cluster_id`, `created_at` and `since`.
    row: Any
    content: DetailContent
