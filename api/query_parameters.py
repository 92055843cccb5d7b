"""Query parameters as the OpenAPI document has them: those of lists from their declarations, and the few that the API adds.

None has a default: what a client leaves out is left to the server, so that no two are sent that exclude each other.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter

from api.parameters import DEFAULT_LIMIT, DURATION, LONGEST_CURSOR
from ui.listing import Listing
from ui.moments import AGO, BACK, PLAIN
from ui.paging import MAX_PAGE_SIZE
from ui.parameters import Choice, Flag, Parameter

Json = dict[str, Any]

# NUL is in no name, and refused; so is nothing at all.
_TEXT: Json = {"type": "string", "minLength": 1, "pattern": r"^[^\u0000]*$"}
_MOMENT: Json = {
    "type": "string",
    "anyOf": [
        {"format": "date-time"},
        *({"pattern": f"^{pattern}$"} for pattern in (BACK, AGO, PLAIN)),
    ],
}


def _one(name: str, description: str, schema: Json, *, example: Any = None) -> OpenApiParameter:
    examples = [OpenApiExample(name, value=example)] if example else []
    return OpenApiParameter(
        name, schema, OpenApiParameter.QUERY, description=description, examples=examples
    )


MOMENT = _one(
    "at",
    "Everything as it was then: RFC 3339, or `-2h` or `2h ago`, counted back from now; not in the future, nor older than "
    "what is kept. What it came to is in the header "
    "Dradash-At. Without it: now.",
    _MOMENT,
    example="-2h",
)


def format_parameter(formats: Sequence[str]) -> OpenApiParameter:
    """Which representation, by name."""
    words = {"type": "string", "enum": list(formats)}
    return _one("format", "Like Accept, for links. Goes before it.", words)


def filter_parameters(listing: Listing[Any, Any]) -> Iterator[OpenApiParameter]:
    """The filters of a list."""
    for each in listing.parameters:
        yield _several(each) if each.is_several else _single(each)


def _single(declared: Parameter) -> OpenApiParameter:
    return _one(declared.name, str(declared.meaning), _schema(declared), example=declared.example)


def _several(declared: Parameter) -> OpenApiParameter:
    how = "all of them must hold" if declared.is_all else "one of them must hold"
    example = [declared.example]
    return OpenApiParameter(
        declared.name,
        {"type": "array", "items": _schema(declared)},
        OpenApiParameter.QUERY,
        description=f"{declared.meaning} May be given several times; {how}.",
        style="form",
        explode=True,
        examples=[OpenApiExample(declared.name, value=example)] if declared.example else [],
    )


def _schema(declared: Parameter) -> Json:
    match declared:
        case Flag():
            return {"type": "boolean"}
        case Choice():
            return {"type": "string", "enum": list(declared.choices)}
        case _:
            return _TEXT


def order_parameter(listing: Listing[Any, Any]) -> OpenApiParameter:
    """What a list can be sorted by."""
    words = [word for name in listing.orders for word in (name, f"-{name}")]
    description = f"Sort order; a minus turns it round. Without it: {listing.default_order}."
    return _one("ordering", description, {"type": "string", "enum": words})


PAGING = (
    _one(
        "limit",
        f"Rows of a page. Without it: {DEFAULT_LIMIT} as JSON, and all rows as CSV.",
        {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE},
    ),
    _one(
        "cursor",
        "Where a page begins; comes with `next` and `previous`.",
        {"type": "string", "minLength": 1, "maxLength": LONGEST_CURSOR},
    ),
)
RANGE = (
    _one(
        "from",
        "Beginning: RFC 3339, or `-24h`, `7d ago`, counted back from now. Without it: 24 hours before `to`.",
        _MOMENT,
        example="-24h",
    ),
    _one("to", "End, in the same words; later than now is now. Without it: now.", _MOMENT),
    _one(
        "step",
        "Length of a step: seconds, or 5m, 1h, 1d. Above 8 days whole hours.",
        {"type": "string", "pattern": f"^{DURATION}$"},
        example="5m",
    ),
)
