"""Rows of long lists, and the frame around all pages and lists: Jinja2 templates under `templates/rows` and `templates/frame`.

They cost a seventh of Django's own (docs/adr/0080, 0110). Everything is escaped; what a template needs beside its values are the few
functions below. Words are looked up by `_`, as everywhere.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import jinja2
from django.template import engines
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from ui import formatting
from ui.templatetags import ui as tags

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

ENGINE = "jinja2"


def environment(
    *, loader: jinja2.BaseLoader, auto_reload: bool = False, **_: Any
) -> jinja2.Environment:
    """What Django makes its Jinja2 backend of. A name that a line does not have raises, rather than leave a cell empty."""
    made = jinja2.Environment(
        loader=loader,
        auto_reload=auto_reload,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        _=gettext, addresses=addresses, url=reverse, icon=tags.icon, state_badge=tags.state_badge
    )
    made.filters.update(
        middle_cut=formatting.middle_cut,
        number=tags.number,
        age=age,
        moment=moment,
        query=query,
        state_bar=tags.state_bar_svg,
    )
    return made


def render(template: str, context: Mapping[str, Any]) -> SafeString:
    """A whole template, such as the rows of a list."""
    return mark_safe(_template(template).render(context))  # noqa: S308 -- Jinja2 has escaped it


def render_part(template: str, macro: str, *values: Any) -> SafeString:
    """One macro of a file of parts, for a page of Django's own templates that shows the same."""
    made: str = getattr(_template(template).module, macro)(*values)
    return mark_safe(made)  # noqa: S308 -- Jinja2 has escaped it


def addresses(name: str) -> Callable[[int], str]:
    """Addresses of pages that differ in an id; the name is resolved once for all rows."""
    before, after = reverse(name, args=[0]).rsplit("0", 1)
    return lambda number: f"{before}{number}{after}"


@lru_cache(maxsize=4096)
def query(text: str) -> str:
    """Text as the value of a parameter."""
    return quote(text, safe="")


def age(at: datetime | None, now: datetime) -> SafeString:
    """`4 s ago`, which counts up by itself, with the exact time on hover."""
    return tags.age({"now": now}, at)


def moment(at: datetime | None, now: datetime) -> SafeString:
    """The exact time, with its age on hover."""
    return tags.moment({"now": now}, at)


def _template(name: str) -> jinja2.Template:
    backend: Any = engines[ENGINE]
    template: jinja2.Template = backend.env.get_template(name)
    return template
