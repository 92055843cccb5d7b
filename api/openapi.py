"""OpenAPI 3.1 of the API: drf-spectacular walks the views, and is told here what they say of themselves.

Shapes are `msgspec.Struct`s, which bring their own schema; parameters come from what the views declare.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from api.problems import MEDIA_TYPE
from dra.shapes import ProblemDetails
from dra.shapes.members import ID_PATTERN

Json = dict[str, Any]

PROBLEMS: Mapping[str, str] = {
    "400": "A parameter that is not known, or a value that cannot be used.",
    "401": "No sign-in, or a token that is not in force.",
    "403": "Signed in, but not allowed.",
    "404": "There is nothing with this id.",
    "405": "Only GET, HEAD and OPTIONS.",
    "406": "None of the media types that are accepted is offered.",
    "429": "Too many wrong tokens from this address.",
    "500": "A bug of ours; the log of the server has it.",
    "503": "The database does not answer, or not in time.",
}


def _header(name: str, description: str, *, of: list[int], schema: Json) -> OpenApiParameter:
    return OpenApiParameter(
        name, schema, OpenApiParameter.HEADER, description=description, response=of
    )


_TEXT: Json = {"type": "string"}
HEADERS = (
    _header(
        "ETag",
        "Weak. The same while figures and trust in them are the same.",
        of=[200, 304],
        schema=_TEXT,
    ),
    _header(
        "Dradash-Stale",
        "Whether any cluster asked for was read longer ago than it should have been, or never.",
        of=[200, 304],
        schema={"type": "string", "enum": ["true", "false"]},
    ),
    _header(
        "Dradash-Observed-At",
        "As of when the figures hold, newer than `observed_at` of an answer kept since. Absent when that is not known.",
        of=[200, 304],
        schema={"type": "string", "format": "date-time"},
    ),
    _header(
        "Dradash-At",
        "The moment that `at` came to. Absent from answers about now.",
        of=[200, 304],
        schema={"type": "string", "format": "date-time"},
    ),
    _header("WWW-Authenticate", "How to sign in.", of=[401], schema=_TEXT),
    _header("Allow", "The methods there are.", of=[405], schema=_TEXT),
    _header("Retry-After", "Seconds to wait.", of=[429, 503], schema={"type": "integer"}),
)
ID_PARAMETER = OpenApiParameter(
    "id",
    {"type": "string", "pattern": ID_PATTERN},
    OpenApiParameter.PATH,
    required=True,
    description="The `id` from a list.",
    examples=[OpenApiExample("id", value="42")],
)


class Operation(AutoSchema):
    """One operation, from what its view says about itself. Views without an `operation_id` are left out."""

    view: Any

    def is_excluded(self) -> bool:
        return not self.view.operation_id or self.method != "GET"

    def get_operation_id(self) -> str:
        return str(self.view.operation_id)

    def get_summary(self) -> str:
        return str(self.view.summary)

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular has it
        return " ".join(str(self.view.__doc__).split())

    def get_tags(self) -> list[str]:
        return [self.view.tag]

    def get_override_parameters(self) -> list[Any]:
        ids = [ID_PARAMETER] if self._has_id() else []
        return [*ids, *self.view.described, *HEADERS]

    def get_response_serializers(self) -> Any:
        """What is answered by status and media type."""
        return dict(self._responses())

    def _responses(self) -> Iterator[tuple[Any, OpenApiResponse]]:
        for media_type, shape in self.view.answers.items():
            yield ("200", media_type), OpenApiResponse(shape, description=self.get_summary())
        yield "304", OpenApiResponse(description="What If-None-Match names is still so.")
        for status, words in PROBLEMS.items():
            if status != "404" or self._has_id():
                yield (status, MEDIA_TYPE), OpenApiResponse(ProblemDetails, description=words)

    def _has_id(self) -> bool:
        return "{id}" in self.path


class ShapeExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # its hook has no types
    """A shape, and with it those that it is made of, as components."""

    target_class = msgspec.Struct
    match_subclasses = True

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        del auto_schema, direction
        return str(self.target.__name__)

    def get_identity(self, auto_schema: Any, direction: Any) -> str:
        return self.get_name(auto_schema, direction)

    def map_serializer(self, auto_schema: Any, direction: Any) -> Json:
        template = "#/components/schemas/{name}"
        _refs, schemas = msgspec.json.schema_components([self.target], ref_template=template)
        for name, schema in schemas.items():
            auto_schema.registry.register_on_missing(_component(name, _for_openapi(schema)))
        own: Json = _for_openapi(schemas[self.get_name(auto_schema, direction)])
        return own


def _component(name: str, schema: Json) -> Any:
    make: Any = ResolvedComponent
    return make(name, ResolvedComponent.SCHEMA, schema=schema, object=name)


def _for_openapi(schema: Any) -> Any:
    """With the type of closed sets, and without titles, which repeat the names."""
    if isinstance(schema, list):
        return [_for_openapi(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    members = {
        name: _for_openapi(each) if name not in {"examples", "enum"} else each
        for name, each in schema.items()
        if name != "title" or isinstance(each, dict)
    }
    return {"type": "string", **members} if "enum" in members else members


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its hook has no types
    target_class = "api.views.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> Json:
        del auto_schema
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token from `dradash token create --user NAME`; it begins with `dradash_`.",
        }


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its hook has no types
    target_class = "api.views.authentication.QuietSession"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> Json:
        del auto_schema
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "The sign-in of the pages.",
        }


def add_tags(result: Json, **kwargs: Any) -> Json:
    """A hook of drf-spectacular: tags in the order of the addresses."""
    del kwargs
    operations = [each for methods in result["paths"].values() for each in methods.values()]
    tags = dict.fromkeys(tag for each in operations for tag in each.get("tags", ()))
    result["tags"] = [{"name": name} for name in tags]
    return result
