from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from django import template
from django.template import Context
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from ui import formatting, states
from ui.words import cluster_words, source_words, words_of
from ui.yaml_lines import Line
from ui.yaml_lines import yaml_lines as split_yaml

register = template.Library()

_HATCH: Final = mark_safe(' fill="url(#hatch)"')


@register.simple_tag
def icon(name: str, css_class: str = "") -> SafeString:
    """An icon of the vendored file; always beside a word, so screen readers skip it."""
    return _icon(name, css_class)


# A page of rows shows the same few icons a hundred times.
@lru_cache(maxsize=512)
def _icon(name: str, css_class: str) -> SafeString:
    return format_html(
        '<svg class="icon {}" width="16" height="16" aria-hidden="true" focusable="false"><use href="{}#{}"/></svg>',
        css_class,
        static("vendor/tabler-icons/icons.svg"),
        name,
    )


@register.simple_tag(takes_context=True)
def age(context: Context | Mapping[str, datetime], moment: datetime | None) -> SafeString:
    """`4 s ago`, which counts up by itself, with the exact time on hover."""
    if moment is None:
        return format_html(
            '<span class="unknown">{}</span>', formatting.age(None, now=_now(context))
        )
    return _age(moment, formatting.exact_time(moment), formatting.age(moment, now=_now(context)))


@lru_cache(maxsize=4096)
def _age(moment: datetime, exact: str, text: str) -> SafeString:
    return format_html(
        '<time class="age" datetime="{}" data-age title="{}">{}</time>',
        moment.isoformat(timespec="seconds"),
        exact,
        text,
    )


@register.simple_tag(takes_context=True)
def moment(context: Context | Mapping[str, datetime], value: datetime | None) -> SafeString:
    """The exact time, in UTC or, with the script and by choice, in the person's zone; its age on hover."""
    if value is None:
        return format_html('<span class="unknown">{}</span>', formatting.exact_time(None))
    return format_html(
        '<time datetime="{}" data-exact title="{}">{}</time>',
        value.isoformat(timespec="seconds"),
        formatting.age(value, now=_now(context)),
        formatting.exact_time(value),
    )


@register.filter
def number(value: int | float | Decimal | None) -> SafeString | str:
    """`13 500`; "unknown" in grey for None."""
    text = formatting.number(value)
    return text if value is not None else format_html('<span class="unknown">{}</span>', text)


@register.filter
def quantity(raw: Any, name: str = "") -> SafeString:
    """`80 GiB` with the exact amount on hover. The argument is the capacity's name: `{{ raw|quantity:name }}`."""
    reading = formatting.quantity(raw, name=name)
    if not reading.is_known:
        return format_html('<span class="unknown">{}</span>', reading.text)
    return format_html('<span class="quantity" title="{}">{}</span>', reading.exact, reading.text)


@register.filter
def duration(length: timedelta | None) -> str:
    return formatting.duration(length)


@register.filter
def words(stored: Mapping[str, Any]) -> str:
    """What is stored of a statement, in the reader's language."""
    return words_of(stored)


@register.filter
def until(name: str, replaced_at: datetime | None) -> str:
    """The name of a cluster, with until when it was there where another one has the name now."""
    return cluster_words(name, replaced_at)


@register.filter
def source(versions: Mapping[str, str], observed_at: datetime | None) -> str:
    """What the figures of a cluster were computed from."""
    return source_words(versions, observed_at)


@register.filter
def head(text: str) -> str:
    """What may be cut of a long name."""
    return formatting.middle_cut(str(text))[0]


@register.filter
def tail(text: str) -> str:
    """What stays of a long name."""
    return formatting.middle_cut(str(text))[1]


@register.simple_tag
def state_badge(code: str, is_partly_used: bool | None = False) -> SafeString:  # noqa: FBT001, FBT002 -- a tag of a template
    """Icon, word and colour of a device's state; `is_partly_used` adds that one's."""
    badge = _badge(str(code), get_language())
    if not is_partly_used:
        return badge
    return format_html("{} {}", badge, _badge("partly_used", get_language()))


# There are seven of them, and a page of devices shows a hundred.
@lru_cache(maxsize=512)
def _badge(code: str, _language: str | None) -> SafeString:
    look = states.state_of(code)
    return format_html(
        '<span class="state state-{}" title="{}">{}{}</span>',
        look.code,
        look.meaning,
        icon(look.icon),
        look.word,
    )


@register.filter
def state_bar(devices: Mapping[str, int | None]) -> states.StateBar:
    """A bar of the counts in the shape `devices` of the REST API."""
    return states.state_bar(devices)


@register.simple_tag
def state_bar_svg(devices: Mapping[str, int | None], is_thick: bool = False) -> SafeString:  # noqa: FBT001, FBT002 -- a tag of a template
    """The drawing of a bar, with what it says in words; pools of the same make have the same figures, so it is kept."""
    return _bar_svg(tuple(devices.items()), bool(is_thick), get_language())


@lru_cache(maxsize=4096)
def _bar_svg(
    counts: tuple[tuple[str, int | None], ...],
    is_thick: bool,  # noqa: FBT001 -- a part of the key of what is kept
    _language: str | None,
) -> SafeString:
    bar = states.state_bar(dict(counts))
    parts = format_html_join(
        "",
        '<rect x="{}" y="0" width="{}" height="100%" class="fill-{}"{} />',
        (
            (part.x, part.width, part.state.code, _HATCH if part.state.code == "blocked" else "")
            for part in bar.segments
        ),
    )
    return format_html(
        '<svg width="100%" height="{}" role="img" aria-label="{}"><title>{}</title>{}</svg>',
        16 if is_thick else 8,
        bar.text,
        bar.text,
        parts,
    )


@register.filter
def yaml_lines(text: str) -> tuple[Line, ...]:
    return split_yaml(text)


@register.simple_tag
def all_states() -> tuple[states.State, ...]:
    """Every state in the order of bars and legends."""
    return tuple(states.STATES.values())


@register.simple_tag(takes_context=True)
def server_now(context: Context) -> str:
    """The clock that ages are counted from, for scripts on machines whose own clock is wrong."""
    return _now(context).isoformat(timespec="milliseconds")


def _now(context: Context | Mapping[str, datetime]) -> datetime:
    """The moment the view answered for, or else the moment of the request (ui.context_processors)."""
    now: datetime = context["now"]
    return now
