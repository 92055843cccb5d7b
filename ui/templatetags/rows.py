from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.safestring import SafeString

from ui import rows

register = template.Library()


@register.simple_tag(name="rows")
def rows_tag(name: str, values: Mapping[str, Any]) -> SafeString:
    """All rows of a list by its template under templates/rows."""
    return rows.render_rows(name, values)


@register.simple_tag
def part(name: str, macro: str, *values: Any) -> SafeString:
    """What rows show too: a macro of a file under templates/rows."""
    return rows.render_part(name, macro, *values)
