"""The OpenAPI document as a page shows it: plain values, with every reference followed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ParameterEntry:
    name: str
    place: str
    kind: str
    description: str
    example: str


@dataclass(frozen=True, slots=True)
class FieldEntry:
    """One member of a shape. `shape` names another one that it has or holds."""

    name: str
    kind: str
    description: str
    shape: str | None
    depth: int


@dataclass(frozen=True, slots=True)
class ShapeEntry:
    name: str
    description: str
    fields: tuple[FieldEntry, ...]
    example: str


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    media_type: str
    # None where it is text.
    shape: str | None


@dataclass(frozen=True, slots=True)
class OperationEntry:
    name: str
    path: str
    summary: str
    description: str
    parameters: tuple[ParameterEntry, ...]
    answers: tuple[AnswerEntry, ...]
    # A line for the shell, without host.
    call: str


@dataclass(frozen=True, slots=True)
class TagEntry:
    name: str
    slug: str
    operations: tuple[OperationEntry, ...]


@dataclass(frozen=True, slots=True)
class ProblemEntry:
    status: str
    description: str


@dataclass(frozen=True, slots=True)
class Reference:
    title: str
    version: str
    description: str
    tags: tuple[TagEntry, ...]
    shapes: tuple[ShapeEntry, ...]
    problems: tuple[ProblemEntry, ...]


def reference(document: Json) -> Reference:
    """All of one OpenAPI document."""
    operations = [
        (operation["tags"][0], _operation(path, operation))
        for path, methods in document["paths"].items()
        for operation in methods.values()
    ]
    schemas = document["components"]["schemas"]
    return Reference(
        title=document["info"]["title"],
        version=document["info"]["version"],
        description=document["info"]["description"],
        tags=tuple(
            TagEntry(
                tag["name"],
                tag["name"].lower().replace(" ", "-"),
                tuple(entry for name, entry in operations if name == tag["name"]),
            )
            for tag in document["tags"]
        ),
        shapes=tuple(_shape(name, schema, schemas) for name, schema in schemas.items()),
        problems=_problems(document),
    )


def _problems(document: Json) -> tuple[ProblemEntry, ...]:
    """What can go wrong anywhere, each status once."""
    every = {
        status: response["description"]
        for methods in document["paths"].values()
        for status, response in methods["get"]["responses"].items()
        if status >= "400"
    }
    return tuple(ProblemEntry(status, every[status]) for status in sorted(every))


def _operation(path: str, operation: Json) -> OperationEntry:
    content = operation["responses"]["200"]["content"]
    return OperationEntry(
        name=operation["operationId"],
        path=path,
        summary=operation["summary"],
        description=operation["description"],
        parameters=tuple(_parameter(each) for each in operation["parameters"]),
        answers=tuple(
            AnswerEntry(media_type, _target(content_of_type["schema"]))
            for media_type, content_of_type in content.items()
        ),
        call=path.replace("{id}", "42"),
    )


def _parameter(parameter: Json) -> ParameterEntry:
    examples = [each["value"] for each in parameter.get("examples", {}).values()]
    first = examples[0] if examples else ""
    text = first[0] if isinstance(first, list) else str(first)
    return ParameterEntry(
        parameter["name"],
        parameter["in"],
        _kind(parameter["schema"]),
        parameter["description"],
        text,
    )


def _shape(name: str, schema: Json, schemas: Json) -> ShapeEntry:
    return ShapeEntry(
        name=name,
        description=schema["description"],
        fields=tuple(_fields(schema, depth=0)),
        example=msgspec.json.format(
            msgspec.json.encode(example(schema, schemas)), indent=2
        ).decode(),
    )


def _fields(schema: Json, *, depth: int) -> Iterator[FieldEntry]:
    for name, schema_of_field in schema.get("properties", {}).items():
        target = _target(schema_of_field)
        description = schema_of_field.get("description", "")
        yield FieldEntry(name, _kind(schema_of_field), description, target, depth)
        inner = schema_of_field.get("items", schema_of_field)
        yield from _fields(inner, depth=depth + 1)


def _target(schema: Json) -> str | None:
    """The shape that a member has, or of which it holds many."""
    for candidate in (schema, schema.get("items", {}), *schema.get("anyOf", ())):
        if "$ref" in candidate:
            return _name(candidate["$ref"])
    return None


def _kind(schema: Json) -> str:
    """A type in words: `list of Pool`, `text or null`."""
    if "$ref" in schema:
        return _name(schema["$ref"])
    if "anyOf" in schema and "type" not in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(each for each in schema["enum"] if each)
    kinds = schema.get("type", "any")
    names = kinds if isinstance(kinds, list) else [kinds]
    return " or ".join(_word(each, schema) for each in names)


def _word(kind: str, schema: Json) -> str:
    if kind == "array":
        return f"list of {_kind(schema['items'])}"
    if kind == "string":
        return {"date-time": "time", "uri": "URL", "uuid": "UUID"}.get(
            schema.get("format", ""), "text"
        )
    return kind


def example(schema: Json, schemas: Json) -> Any:
    """A value of a schema, made of the examples of its members."""
    if "$ref" in schema:
        return example(schemas[_name(schema["$ref"])], schemas)
    if "examples" in schema:
        return schema["examples"][0]
    if "anyOf" in schema:
        return example(schema["anyOf"][0], schemas)
    if "properties" in schema:
        required = schema.get("required", ())
        members = schema["properties"].items()
        return {
            name: example(schema_of_member, schemas)
            for name, schema_of_member in members
            if name in required
        }
    if schema.get("format") == "date-time":
        return "2026-03-01T12:00:00Z"
    if "items" in schema:
        return [example(schema["items"], schemas)]
    return {} if "additionalProperties" in schema else None


def _name(reference_text: str) -> str:
    return reference_text.rpartition("/")[2]
