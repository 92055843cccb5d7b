from typing import Any

import pytest

from dradash.inspect.documents import read_text
from dradash.inspect.reading import Document, ListHead, Unreadable

NODE = {"kind": "Node", "metadata": {"name": "a"}}


def read(text: str | bytes, name: str = "dump.yaml") -> list[Document | ListHead | Unreadable]:
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
    assert found[1] == Unreadable("dump.yaml:5", "is no YAML: did not find expected node content")
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


def test_yaml_anchor_may_be_set_anew() -> None:
    assert read("kind: X\na: &a 1\nb: *a\nc: &a 2\nd: *a\n") == [
        Document({"kind": "X", "a": 1, "b": 1, "c": 2, "d": 2}, "dump.yaml:1")
    ]


def test_yaml_alias_inside_itself_is_refused() -> None:
    assert read("kind: X\na: &a [*a]\n") == [
        Unreadable("dump.yaml:2", "is no YAML: alias a stands inside itself or nowhere")
    ]


def test_yaml_aliases_that_stand_for_too_much_are_refused() -> None:
    levels = "".join(f"k{n}: &k{n} [{', '.join([f'*k{n - 1}'] * 10)}]\n" for n in range(1, 12))

    found = read(f"k0: &k0 [1]\n{levels}")

    assert found == [Unreadable("dump.yaml:9", "is no YAML: stands for more than 50000000 values")]


def test_lists_are_opened_and_items_told_their_kind() -> None:
    text = '{"kind":"NodeList","apiVersion":"v1",\n"items":[{"metadata":{"name":"a"}},\n{"kind":"X"}]}'

    assert read(text) == [
        Document({**NODE, "apiVersion": "v1"}, "dump.yaml:2"),
        Document({"kind": "X"}, "dump.yaml:3"),
        ListHead("Node", 1),
    ]


def test_list_that_tells_its_kind_behind_its_items_is_opened() -> None:
    text = '{"apiVersion":"v1","items":[{"metadata":{"name":"a"}}],"kind":"NodeList"}'

    assert read(text) == [
        Document({**NODE, "apiVersion": "v1"}, "dump.yaml:1"),
        ListHead("Node", 1),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"kind":"NodeList","apiVersion":"v1","items":null}',
        '{"kind":"NodeList","apiVersion":"v1","items":[]}',
        "apiVersion: v1\nitems: []\nkind: NodeList\n",
    ],
)
def test_list_without_items_tells_that_none_of_its_kind_is_there(text: str) -> None:
    assert read(text) == [ListHead("Node", 1)]


def test_list_printed_by_kubectl_is_read_item_by_item() -> None:
    text = (
        "apiVersion: v1\nitems:\n- kind: Node\n  metadata: {name: a}\n- kind: [\n- kind: Pod\n"
        "kind: List\nmetadata:\n  resourceVersion: ''\n"
    )

    assert read(text) == [
        Document(NODE, "dump.yaml:3"),
        Unreadable("dump.yaml:6", "is no YAML: did not find expected node content"),
        Document({"kind": "Pod"}, "dump.yaml:6"),
        ListHead("", 1),
    ]


def test_list_with_anchors_is_read_as_a_whole() -> None:
    text = "kind: List\nitems:\n- {kind: A, x: &x 1}\n- {kind: B, x: *x}\n"

    assert read(text) == [
        ListHead("", 1),
        Document({"kind": "A", "x": 1}, "dump.yaml:1"),
        Document({"kind": "B", "x": 1}, "dump.yaml:1"),
    ]


def test_items_that_are_no_list_are_named() -> None:
    assert read("kind: NodeList\nitems: 3\n") == [
        ListHead("Node", 1),
        Unreadable("dump.yaml:1", "has items that are no list"),
    ]


def test_object_with_a_member_items_is_no_list() -> None:
    assert read('{"kind":"Menu","items":[1]}') == [
        Document({"kind": "Menu", "items": [1]}, "dump.yaml:1")
    ]


def test_json_list_that_breaks_off_keeps_the_items_before() -> None:
    text = '{"kind":"List","items":[{"kind":"A"},\n{"kind":"B","x":'

    assert read(text, "dump.json") == [
        Document({"kind": "A"}, "dump.json:1"),
        Unreadable("dump.json:2", "is no JSON: Expecting value"),
    ]


def test_json_indented_list_goes_on_behind_a_broken_item() -> None:
    text = '{\n  "items": [\n    {\n      "kind": "A",,\n    },\n    {\n      "kind": "B"\n    }\n  ]\n}'

    assert read(text, "dump.json") == [
        Unreadable("dump.json:4", "is no JSON: Expecting property name enclosed in double quotes"),
        Document({"kind": "B"}, "dump.json:6"),
        ListHead("", 1),
    ]


def test_json_array_is_read_item_by_item() -> None:
    assert read('[{"kind":"A"},\n{"kind":"B"}, 3, []]', "dump.json") == [
        Document({"kind": "A"}, "dump.json:1"),
        Document({"kind": "B"}, "dump.json:2"),
        Unreadable("dump.json:2", "is a number, not a Kubernetes object"),
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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x: !!timestamp 2026-01-01", "could not determine a constructor for the tag"),
        ("x: !!python/object/apply:os.getcwd []", "could not determine a constructor for the tag"),
        ("x: !!int many", "invalid literal for int()"),
        ("x: 0x" + "f" * 5000, "a number of thousands of digits"),
        ("x: " + "9" * 5000, "a number of thousands of digits"),
        ("? [a]\n: b", "found unhashable key"),
        ("x: \x1b[31m", "control characters are not allowed"),
        ("x: \x00", "control characters are not allowed"),
        ('{"x": NaN}', "NaN is no JSON value"),
        ('{"x": ' + "9" * 5000 + "}", "Exceeds the limit"),
        ('{"x" 1}', "a colon should stand here"),
        ("{1: 2}", "a name in double quotes should stand here"),
        ('{"x": 1 2}', "a comma or } should stand here"),
    ],
)
def test_what_no_api_server_sends_is_refused(text: str, reason: str) -> None:
    (found,) = read(text, "dump.json" if text.startswith("{") else "dump.yaml")

    assert isinstance(found, Unreadable)
    assert reason in found.message


@pytest.mark.parametrize("text", ['{"kind":"X","x":1e999}', "kind: X\nx: 1e999\n"])
def test_number_too_large_for_a_float_stays_text(text: str) -> None:
    assert read(text) == [Document({"kind": "X", "x": "1e999"}, "dump.yaml:1")]


def test_bytes_that_are_no_text_cost_their_document_alone() -> None:
    assert read(b"kind: X\n---\nkind: Y\nname: \xff\n---\nkind: Z\n") == [
        Document({"kind": "X"}, "dump.yaml:1"),
        Unreadable("dump.yaml:4", "is no YAML: not UTF-8 text"),
        Document({"kind": "Z"}, "dump.yaml:6"),
    ]
    assert read(b'{"kind":"X"}\n{"kind":"\xff"}\n{"kind":"Z"}', "dump.json") == [
        Document({"kind": "X"}, "dump.json:1"),
        Unreadable("dump.json:2", "is no JSON: not UTF-8 text"),
        Document({"kind": "Z"}, "dump.json:3"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_of_shells_are_read(encoding: str) -> None:
    assert read("kind: Ünïcode\n".encode(encoding)) == [
        Document({"kind": "Ünïcode"}, "dump.yaml:1")
    ]


@pytest.mark.parametrize(
    ("text", "words"), [("just words", "text"), ("3", "a number"), ("true", "true or false")]
)
def test_scalar_is_no_object(text: str, words: str) -> None:
    assert read(text) == [Unreadable("dump.yaml:1", f"is {words}, not a Kubernetes object")]
