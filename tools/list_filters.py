"""Write docs/filters.md: what every list can be asked for, from its declaration."""

import os
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import django
from django.apps import apps
from django.utils.module_loading import module_has_submodule

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dradash.settings")

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "filters.md"
_HEAD = """\
# Filters

What each list can be asked for, in the address of its page and of the API alike. In the filter box of a page, and in `q`,
`driver:NAME` stands for the parameter `driver`; quotes hold blanks together; every other word is text that a name must contain.
Of several values of one parameter one must hold, unless it says all; different parameters must all hold. What a list does not
understand is refused with what is allowed: on the page beside the box, by the API with 400.

`sort` (in the API also `ordering`) takes one of the orders; a minus before it turns it round. `cursor` begins a further page.

`python -m tools.list_filters` writes this page.
"""


def document() -> str:
    """The page as it should be."""
    lists = (each for each in declared_lists() if each.rows)
    return "\n".join([_HEAD, *(line for each in lists for line in _section(each))])


def declared_lists() -> list[Any]:
    """Every list that an app declares in its `listings`, by its title; one without rows has no page of this form."""
    from ui.listing import Listing

    values = [value for module in _modules() for value in vars(module).values()]
    lists = {each.id: each for each in values if isinstance(each, Listing)}
    return sorted(lists.values(), key=lambda each: str(each.title))


def _modules() -> Iterator[ModuleType]:
    for app in apps.get_app_configs():
        if app.module is not None and module_has_submodule(app.module, "listings"):
            listings = import_module(f"{app.name}.listings")
            yield listings
            for each in pkgutil.iter_modules(
                getattr(listings, "__path__", ()), f"{app.name}.listings."
            ):
                yield import_module(each.name)


def _section(listing: Any) -> Iterator[str]:
    yield f"## {listing.title}"
    yield ""
    orders = ", ".join(f"`{word}`" for word in listing.orders)
    yield f"Orders: {orders}; `{listing.default_order}` unless one is given."
    yield ""
    yield "| parameter | takes | what it means | example |"
    yield "|---|---|---|---|"
    for each in listing.parameters:
        yield f"| `{each.name}` | {_kind(each)} | {_cell(each.meaning)} | {_example(each)} |"
    yield ""


def _kind(parameter: Any) -> str:
    from ui.parameters import Box, Choice, Flag, Match

    match parameter:
        case Choice(choices=choices):
            return f"one of {len(choices)} words: " + ", ".join(f"`{word}`" for word in choices)
        case Flag():
            return "`true`, `false` or `any`"
        case Match():
            return "conditions; all must hold"
        case Box():
            return "words and terms"
        case _:
            return "names; one must be met"


def _cell(text: Any) -> str:
    return str(text).replace("|", "\\|")


def _example(parameter: Any) -> str:
    return f"`{parameter.name}={parameter.example}`" if parameter.example else ""


if __name__ == "__main__":
    django.setup()
    DOCUMENT.write_text(document())
