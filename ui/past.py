"""A rendered page about a moment: its links lead to other pages of that moment, and nothing in it asks for news.

Done in one place on what templates have made, since links are made in many: no page can forget it. Names of a cluster are escaped
there already, so none of them can look like a tag.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from django.urls import Resolver404, resolve

from ui.moments import AT

if TYPE_CHECKING:
    from collections.abc import Callable

# On a link that is meant to leave the moment.
LEAVES: Final = "data-leaves-moment"
# On a view that answers for a moment.
ANSWERS: Final = "answers_for_moments"

_TAG: Final = re.compile(r"<(?:a|button|div|form|section|span|tr)\b[^<>]*>")
_ADDRESS: Final = re.compile(r'(\s(?:href|hx-get|action)=")(/[^"]*)(")')
_FORM: Final = re.compile(r"(<form\b[^<>]*>)(.*?</form>)", re.DOTALL)
_LIVE: Final = re.compile(r'\sdata-live="[^"]*"')


def set_in_the_past(html: str, *, at: str) -> str:
    """The same HTML with `at` in each address that answers for a moment, and without live parts."""
    return _FORM.sub(_field_of(at), _TAG.sub(_addresses_of(at), html))


def carry_moment(address: str, *, at: str) -> str:
    """The address with the moment, if its page answers for one and it does not name one itself."""
    parts = urlsplit(address)
    if not answers_for_moments(parts.path):
        return address
    query = parse_qsl(parts.query, keep_blank_values=True)
    if any(name == AT for name, _ in query):
        return address
    return urlunsplit(parts._replace(query=urlencode([*query, (AT, at)], safe="/:")))


@lru_cache(maxsize=4096)
def answers_for_moments(path: str) -> bool:
    """Whether the view at this path takes `at`."""
    try:
        view = resolve(path).func
    except Resolver404:
        return False
    return bool(getattr(getattr(view, "view_class", view), ANSWERS, False))


def _addresses_of(at: str) -> Callable[[re.Match[str]], str]:
    def change(tag: re.Match[str]) -> str:
        text = _LIVE.sub("", tag[0])
        # A form has the moment in a field.
        return text if LEAVES in text or text.startswith("<form") else _ADDRESS.sub(carried, text)

    def carried(match: re.Match[str]) -> str:
        return f"{match[1]}{escape(carry_moment(unescape(match[2]), at=at))}{match[3]}"

    return change


def _field_of(at: str) -> Callable[[re.Match[str]], str]:
    """A form's address loses its query when it is sent, or has each field added, so the moment is a field of it alone."""
    field = f'<input type="hidden" name="{AT}" value="{escape(at)}">'

    def change(form: re.Match[str]) -> str:
        is_post = 'method="post"' in form[1]
        has_field = f'name="{AT}"' in form[2]
        return form[0] if is_post or has_field else f"{form[1]}{field}{form[2]}"

    return change
