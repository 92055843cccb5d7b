"""What each query parameter means and takes. Views name those they know; others are refused."""

from typing import Any

from api.parameters import DEFAULT_LIMIT, LONGEST_CURSOR
from pools.choices import DeviceState, Outcome
from ui.paging import MAX_PAGE_SIZE

Json = dict[str, Any]

# NUL is in no name, and refused.
_TEXT: Json = {"type": "string", "pattern": r"^[^\u0000]*$"}
_MOMENT: Json = {
    "type": "string",
    "anyOf": [{"format": "date-time"}, {"pattern": "^-[0-9]{1,8}[smhd]$"}],
}
# The first three are what to write; the others are understood all the same. Forms send the empty value for "not restricted".
_FLAG: Json = {
    "type": "string",
    "enum": ["true", "false", "any", "yes", "no", "1", "0", "on", "off", ""],
}


def _single(name: str, description: str, schema: Json, *, example: str | None = None) -> Json:
    shown = {} if example is None else {"example": example}
    return {"name": name, "in": "query", "description": description, "schema": schema, **shown}


def _several(name: str, description: str, items: Json, *, example: str) -> Json:
    return {
        "name": name,
        "in": "query",
        "description": f"{description} May be given several times",
        "schema": {"type": "array", "items": items},
        "style": "form",
        "explode": True,
        "example": [example],
    }


def _any_of(name: str, description: str, items: Json, *, example: str) -> Json:
    found = _several(name, description, items, example=example)
    return {**found, "description": found["description"] + "; one of them must hold."}


def _all_of(name: str, description: str, items: Json, *, example: str) -> Json:
    found = _several(name, description, items, example=example)
    return {**found, "description": found["description"] + "; all of them must hold."}


_ALL = (
    _any_of(
        "cluster",
        "Name or id of a cluster; one that there is not is refused.",
        _TEXT,
        example="prod-eu",
    ),
    _any_of("driver", "Name of a driver.", _TEXT, example="gpu.example.com"),
    _any_of("pool", "Name of a pool.", _TEXT, example="node-7"),
    _any_of("node", "Name of the one node that can use it.", _TEXT, example="node-7"),
    _single("complete", "Whether all slices of the pool are there.", _FLAG),
    _any_of("problem", "Code of a problem; `any` or `none`.", _TEXT, example="incomplete"),
    _any_of(
        "fits",
        "A partition type of which one could be allocated now; `device`: any device.",
        _TEXT,
        example="1g.10gb",
    ),
    _single("vanished", "Whether the pool's last slice has gone. Default: false.", _FLAG),
    _any_of(
        "state",
        "State of the device.",
        {"type": "string", "enum": [*DeviceState.values, ""]},
        example="available",
    ),
    _single("partly_used", "Whether it is allocated and has room for another share.", _FLAG),
    _single("tainted", "Whether it has any taint.", _FLAG),
    _all_of(
        "attribute",
        "An attribute: `name`, `name=value`, `name!=value`, or `>=` `<=` `>` `<` and a whole number.",
        _TEXT,
        example="model=A100",
    ),
    _all_of(
        "capacity",
        "A capacity, compared by `=` `>=` `<=` `>` or `<` with a quantity of Kubernetes.",
        _TEXT,
        example="memory>=40Gi",
    ),
    _any_of(
        "outcome",
        "What became of the request.",
        {"type": "string", "enum": [*Outcome.values, ""]},
        example="answered",
    ),
    _single("differing", "Whether the server counts some pool otherwise.", _FLAG),
    _single(
        "q",
        "The filter box of the pages: text that a name contains, and terms such as `driver:NAME`.",
        _TEXT,
        example="node:node-7 memory>=40Gi",
    ),
    _single("ordering", "Sort order; a minus turns it round.", _TEXT),
    _single("sort", "The same in the word of the pages, so that their URLs fit.", _TEXT),
    _single(
        "limit",
        "Rows of a page. CSV without it and without `cursor` has all rows.",
        {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE, "default": DEFAULT_LIMIT},
    ),
    _single(
        "cursor",
        "Where a page begins; comes with `next` and `previous`.",
        {"type": "string", "minLength": 1, "maxLength": LONGEST_CURSOR},
    ),
    _single("format", "Like Accept, for links. Goes before it.", _TEXT),
    _single(
        "from",
        "Beginning: RFC 3339, or `-24h`, `-7d` counted back from now. Default: 24 hours before `to`.",
        _MOMENT,
        example="-24h",
    ),
    _single("to", "End, in the same words; later than now is now. Default: now.", _MOMENT),
    _single(
        "step",
        "Length of a step: seconds, or 5m, 1h, 1d. Above 8 days whole hours.",
        {"type": "string", "pattern": "^[0-9]{1,8}[smhd]?$"},
        example="5m",
    ),
)
QUERY_PARAMETERS: dict[str, Json] = {each["name"]: each for each in _ALL}
