"""Short ways to write JSON Schema (2020-12), as OpenAPI 3.1 has it. Every member is required, and null only where it says so."""

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]


def value(kind: str, description: str, *, example: Any, null: bool = False, **more: Any) -> Json:
    """A string, integer, number or boolean."""
    return {
        "type": [kind, "null"] if null else kind,
        "description": description,
        "examples": [example],
        **more,
    }


def text(description: str, *, example: str, null: bool = False, **more: Any) -> Json:
    return value("string", description, example=example, null=null, **more)


def whole(description: str, *, example: int, null: bool = False, **more: Any) -> Json:
    return value("integer", description, example=example, null=null, **more)


def count(description: str, *, example: int, null: bool = False) -> Json:
    return whole(description, example=example, null=null, minimum=0)


def number(description: str, *, example: float, null: bool = False) -> Json:
    return value("number", description, example=example, null=null, minimum=0)


def yes_or_no(description: str, *, example: bool, null: bool = False) -> Json:
    return value("boolean", description, example=example, null=null)


def moment(description: str, *, example: str = "2026-03-01T12:00:00Z", null: bool = False) -> Json:
    return text(description, example=example, null=null, format="date-time")


def identifier(description: str, *, null: bool = False) -> Json:
    return text(description, example="42", null=null, pattern="^[1-9][0-9]*$")


def word(description: str, words: Sequence[str]) -> Json:
    return text(description, example=words[0], enum=list(words))


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def ref_or_null(name: str, description: str) -> Json:
    return {"description": description, "anyOf": [ref(name), {"type": "null"}]}


def array(items: Json, description: str, *, null: bool = False) -> Json:
    return {
        "type": ["array", "null"] if null else "array",
        "items": items,
        "description": description,
    }


def mapping(values: Json, description: str, *, null: bool = False) -> Json:
    """An object whose members have names that Kubernetes gives."""
    return {
        "type": ["object", "null"] if null else "object",
        "additionalProperties": values,
        "description": description,
    }


def anything(description: str, *, null: bool = False) -> Json:
    """An object of Kubernetes, whose members are Kubernetes' own."""
    return mapping({}, description, null=null)


def record(description: str, members: Mapping[str, Json]) -> Json:
    return {
        "type": "object",
        "description": description,
        "required": list(members),
        "properties": dict(members),
    }
