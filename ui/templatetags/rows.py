from collections.abc import Mapping
from typing import Any, Final

from django import template
from django.template import Context
from django.utils.safestring import SafeString

from ui import rows
from ui.frame import Frame

register = template.Library()

# Of the page's values, those that parts of the frame are made of.
_OF_THE_PAGE: Final = (
    "frame",
    "navigation",
    "preferences",
    "user",
    "request",
    "csrf_token",
    "now",
)


@register.simple_tag(name="rows")
def rows_tag(name: str, values: Mapping[str, Any]) -> SafeString:
    """All rows of a list by its template under templates/rows."""
    return rows.render(name, values)


@register.simple_tag
def part(name: str, macro: str, *values: Any) -> SafeString:
    """What rows or the frame show too: a macro of a file under templates/rows or templates/frame."""
    return rows.render_part(name, macro, *values)


@register.simple_tag(takes_context=True)
def frame_part(context: Context, name: str, **values: Any) -> SafeString:
    """A part of the frame of pages by its template under templates/frame, with what it takes of the page and `values`."""
    given = {each: context[each] for each in _OF_THE_PAGE if each in context}
    return rows.render(name, {"frame": Frame(), **given, **values})
