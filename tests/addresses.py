"""Every address that the URL patterns serve."""

import re
from collections.abc import Iterator, Sequence

from django.urls import URLPattern, URLResolver, get_resolver

from api.views.base import SnapshotView
from clusters.views.live import LivePage

_PARAMETER = re.compile(r"<(\w+):\w+>")


def views(
    patterns: Sequence[URLPattern | URLResolver] | None = None, prefix: str = "/"
) -> Iterator[tuple[str, object]]:
    """Each route as it is written, with its view."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from views(pattern.url_patterns, path)
        else:
            yield path, pattern.callback


def addresses(*, number: int) -> list[str]:
    """Each route with `number` for an id and a word for anything else."""
    words = {"int": str(number)}
    return [
        _PARAMETER.sub(lambda found: words.get(found[1], "something"), path) for path, _ in views()
    ]


def reading_routes() -> set[str]:
    """Routes whose answers are read from one snapshot of the database."""
    return {path for path, view in views() if _reads_one_snapshot(view)}


def _reads_one_snapshot(view: object) -> bool:
    return isinstance(view, LivePage) or issubclass(getattr(view, "cls", object), SnapshotView)
