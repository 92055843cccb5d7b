from typing import Any

import pytest

from dradash.inspect.documents import Document, Unreadable, read_text

NODE = {"kind": "Node", "metadata": {"name": "a"}}


def read(text: str | bytes, name: str = "dump.yaml") -> list[Document | Unreadable]:
    raw = text if isinstance(text, bytes) else text.encode()
    return list(read_text(raw, name=name))


def test_yaml_documents_are_told_with_their_lines() -> None:
    text = "# a comment\nkind: Node\nmetadata: {name: a}\n---\n\n---\nkind: Pod\n"

    assert read(text) == [
        Document(NODE, "dump.yaml:2"),
        Document({"kind": "Pod"}, "dump.yaml:7"),
    ]


def test_yaml_broken_document_is_named_and_the_rest_is_read() -> None:
    text = "kind: Node\nmetadata: {name: a}\n---\nkind: [\n---\nkind: Pod\n"

    found = read(text)

    assert [type(each) for each in found] == [Document, Unreadable, Document]
    assert found[1].place == "dump.yaml:5"
    assert found[2] == Document({"kind": "Pod"}, "dump.yaml:6")


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("0000:03:00.0", "0000:03:00.0"),
        ("12:30", "12:30"),
        ("007", "007"),
        ("2026-07-22T02:24:46Z", "2026-07-22T02:24:46Z"),
        ("yes", "yes"),
        ("7066866330502360227", 7066866330502360227),
        ("'7066866330502360227'", "7066866330502360227"),
        ("true", True),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("~", None),
        ("192.0.2.248", "192.0.2.248"),
    ],
)
def test_yaml_scalars_are_read_as_the_api_server_does(scalar: str, value: Any) -> None:
    assert read(f"kind: X\nvalue: {scalar}\n") == [
        Document({"kind": "X", "value": value}, "dump.yaml:1")
    ]


def test_yaml_aliases_are_followed() -> None:
    assert read("kind: X\na: &a [1]\nb: *a\n") == [
        Document({"kind": "X", "a": [1], "b": [1]}, "dump.yaml:1")
    ]


def test_yaml_alias_inside_itself_is_refused() -> None:
    assert read("kind: X\na: &a [*a]\n") == [
        Unreadable("dump.yaml:2", "is no YAML: alias a stands inside itself or nowhere")
    ]


def test_yaml_aliases_that_stand_for_too_much_are_refused() -> None:
    levels = "".join(
        f"k{n}: &k{n} [{', '.join([f'*k{n - 1}'] * 10)}]\n" for n in range(1, 12)
    )

    found = read(f"k0: &k0 [1]\n{levels}")

    assert found == [
        Unreadable("dump.yaml:9", "is no YAML: stands for more than 50000000 values")
    ]


def test_lists_are_opened_and_items_told_their_kind() -> None:
    text = '{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}'

    assert read(text) == [
        Document({"kind": "NodeList", "apiVersion": "v1"}, "dump.yaml:1"),
        Document({**NODE, "apiVersion": "v1"}, "dump.yaml:1"),
    ]


def test_list_of_null_items_is_an_empty_list() -> None:
    text = '{"kind":"NodeList","apiVersion":"v1","items":null}'

    assert read(text) == [
        Document({"kind": "NodeList", "apiVersion": "v1"}, "dump.yaml:1")
    ]


def test_json_values_may_follow_each_other() -> None:
    assert read('{"kind":"A"}\n{"kind":"B"}', "dump.json") == [
        Document({"kind": "A"}, "dump.json:1"),
        Document({"kind": "B"}, "dump.json:2"),
    ]


def test_json_broken_value_is_named_and_the_next_is_read() -> None:
    found = read('{"kind":"A"}\n{"kind":\n{"kind":"B"}', "dump.json")

    assert found[0] == Document({"kind": "A"}, "dump.json:1")
    assert isinstance(found[1], Unreadable)
    assert found[2] == Document({"kind": "B"}, "dump.json:3")


def test_flow_style_yaml_is_no_broken_json() -> None:
    assert read("{kind: Node, metadata: {name: a}}") == [Document(NODE, "dump.yaml:1")]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "- " * 100_000])
def test_deep_nesting_is_named(text: str) -> None:
    found = read(text)

    assert all(isinstance(each, Unreadable) for each in found)
    assert found


def test_bytes_that_are_no_text_are_named_with_their_line() -> None:
    assert read(b"kind: X\nname: \xff\n") == [
        Unreadable("dump.yaml:2", "is not UTF-8 text")
    ]


def test_scalar_is_no_object() -> None:
    assert read("just words\n") == [
        Unreadable("dump.yaml:1", "is a str, not a Kubernetes object")
    ]
