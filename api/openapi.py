"""OpenAPI 3.1 of the API.

drf-spectacular walks the URLs; each view names its parameters and its shapes, which are written down in `api.components` and
`api.query_parameters`.
"""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ComponentRegistry

from api.components import SCHEMAS
from api.json_schema import ref
from api.problems import MEDIA_TYPE
from api.query_parameters import QUERY_PARAMETERS

Json = dict[str, Any]

TAGS = ("Clusters", "Pools", "Devices", "ResourceSlices", "Pool status requests")
# Bearer first; the session is for people who look at the API from the pages.
SECURITY: list[Json] = [{"token": []}, {"session": []}]
SECURITY_SCHEMES: Json = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token from `dradash token create --user NAME`; it begins with `dradash_`.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "sessionid",
        "description": "The sign-in of the pages.",
    },
}
HEADERS: Json = {
    "ETag": {
        "description": "Weak. The same while figures and trust in them are the same.",
        "schema": {"type": "string"},
    },
    "Dradash-Stale": {
        "description": "Whether any cluster asked for was read longer ago than it should have been, or never.",
        "schema": {"type": "string", "enum": ["true", "false"]},
    },
    "Dradash-Observed-At": {
        "description": (
            "As of when the figures hold, newer than `observed_at` of an answer kept since. "
            "Absent when that is not known."
        ),
        "schema": {"type": "string", "format": "date-time"},
    },
}
PROBLEMS: Json = {
    "400": ("BadRequest", "A parameter that is not known, or a value that cannot be used."),
    "401": ("Unauthorized", "No sign-in, or a token that is not in force."),
    "403": ("Forbidden", "Signed in, but not allowed."),
    "404": ("NotFound", "There is nothing with this number."),
    "405": ("MethodNotAllowed", "Only GET, HEAD and OPTIONS."),
    "406": ("NotAcceptable", "None of the media types that are accepted is offered."),
    "429": ("TooManyRequests", "Too many wrong tokens from this address."),
    "500": ("ServerError", "A bug of ours; the log of the server has it."),
    "503": ("Unavailable", "The database does not answer, or not in time."),
}
ID_PARAMETER: Json = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "The `id` from a list.",
    "schema": {"type": "integer", "minimum": 0},
}


class Operation(AutoSchema):
    """One operation, from what its view says about itself. Views without an `operation_id` are left out."""

    def get_operation(
        self,
        path: str,
        path_regex: str,
        path_prefix: str,
        method: str,
        registry: ComponentRegistry,
    ) -> Json | None:
        del path_regex, path_prefix, registry
        view: Any = self.view
        if not view.operation_id or method.upper() != "GET":
            return None
        return {
            "operationId": view.operation_id,
            "summary": view.summary,
            "description": " ".join(str(view.__doc__).split()),
            "tags": [view.tag],
            "security": SECURITY,
            "parameters": _parameters(view, has_id="{id}" in path),
            "responses": _responses(view, has_id="{id}" in path),
        }


def _parameters(view: Any, *, has_id: bool) -> list[Json]:
    own = dict(QUERY_PARAMETERS)
    formats = [each.format for each in view.renderer_classes]
    own["format"] = {**own["format"], "schema": {"type": "string", "enum": formats}}
    if orders := getattr(view, "orders", None):
        words = [word for name in orders for word in (name, f"-{name}")]
        default = view.default_ordering
        ordering = {"type": "string", "enum": words, "default": default}
        own |= {name: {**own[name], "schema": ordering} for name in ("ordering", "sort")}
    return [*([ID_PARAMETER] if has_id else []), *(own[name] for name in view.allowed)]


def _responses(view: Any, *, has_id: bool) -> Json:
    content = {media_type: {"schema": ref(name)} for media_type, name in view.answers.items()}
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in HEADERS}
    return {
        "200": {"description": view.summary, "headers": headers, "content": content},
        "304": {"description": "What If-None-Match names is still so.", "headers": headers},
        **{
            status: {"$ref": f"#/components/responses/{name}"}
            for status, (name, _words) in PROBLEMS.items()
            if status != "404" or has_id
        },
    }


def add_components(result: Json, **kwargs: Any) -> Json:
    """A hook of drf-spectacular: what operations refer to."""
    del kwargs
    result["components"] = {
        "schemas": SCHEMAS,
        "headers": HEADERS,
        "responses": {name: _problem(status, words) for status, (name, words) in PROBLEMS.items()},
        "securitySchemes": SECURITY_SCHEMES,
    }
    result["tags"] = [{"name": name} for name in TAGS]
    return result


def _problem(status: str, words: str) -> Json:
    problem: Json = {
        "description": words,
        "content": {MEDIA_TYPE: {"schema": ref("ProblemDetails")}},
    }
    header = {
        "401": "WWW-Authenticate",
        "405": "Allow",
        "429": "Retry-After",
        "503": "Retry-After",
    }
    if name := header.get(status):
        problem["headers"] = {name: {"schema": {"type": "string"}}}
    return problem
