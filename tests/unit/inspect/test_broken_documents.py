import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import to_builtins

from dradash.inspect.documents import read_text
from dradash.inspect.reading import Document, ListHead, Unreadable
from dradash.inspect.report import Dump, report, report_sections
from dradash.inspect.text import report_text
from tests.series import for_each
from tests.unit.inspect.cases import run
from tests.unit.inspect.mutations import Mutant


def healthy(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": "healthy.example.com",
            "nodeName": name,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "device-0"}],
        },
    }


def refuse(text: str) -> None:
    raise AssertionError(f"{text} is no JSON")


@pytest.mark.parametrize("seed", range(300))
def test_broken_document_costs_nothing_but_itself(tmp_path: Path, seed: int) -> None:
    mutant = Mutant(seed)
    file = tmp_path / f"dump.{'json' if mutant.is_json else 'yaml'}"
    file.write_bytes(mutant.content(healthy("before"), healthy("after")))

    code, printed = run("--format", "json", "--complete", file)
    told = json.loads(printed, parse_constant=refuse)

    own = [pool["pool"] for pool in told["pools"] if pool["driver"] == "healthy.example.com"]
    assert own == ["after", "before"]
    unreadable = [each for each in told["problems"] if each["code"] == "unreadable"]
    assert code == (1 if unreadable else 0)
    assert all(re.fullmatch(r".*/dump\.(json|yaml):\d+", each["place"]) for each in unreadable)
    negative = [
        pool for pool in told["pools"] if any((n or 0) < 0 for n in pool["devices"].values())
    ]
    assert negative == []


@pytest.mark.parametrize("seed", range(0, 300, 5))
def test_broken_document_is_told_as_text_that_a_terminal_can_show(
    tmp_path: Path, seed: int
) -> None:
    mutant = Mutant(seed)
    file = tmp_path / f"dump.{'json' if mutant.is_json else 'yaml'}"
    file.write_bytes(mutant.content(healthy("before"), healthy("after")))

    code, printed = run("--all", file)

    assert code in {0, 1}
    assert [each for each in printed if not each.isprintable() and each != "\n"] == []


@pytest.mark.parametrize("name", ["dump.yaml", "dump.json"])
@settings(deadline=None)
@given(raw=st.binary(max_size=400))
def test_any_bytes_are_read_or_named(name: str, raw: bytes) -> None:
    found = list(read_text(raw, name=name))

    assert [each for each in found if not isinstance(each, Document | ListHead | Unreadable)] == []


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)
KINDS = st.sampled_from(
    [
        "ResourceSlice", "ResourceClaim", "DeviceTaintRule", "DeviceClass", "ResourcePoolStatusRequest", "Pod", "List",
        "ResourceSliceList",
    ]
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"kind": KINDS | JSON_VALUES},
            optional={
                "metadata": JSON_VALUES,
                "spec": JSON_VALUES,
                "status": JSON_VALUES,
                "items": JSON_VALUES,
            },
        ),
        max_size=5,
    )
)
def test_any_objects_are_reported(bodies: list[dict[str, Any]]) -> None:
    dump = Dump()
    for_each(bodies, lambda body: dump.add(Document(body, "dump.yaml:1")))
    found = report(dump, release=None, is_complete=True)

    sections = {
        name: list(map(to_builtins, rows)) for name, rows in report_sections(found).items()
    }
    assert set(sections) == {
        "pools",
        "devices",
        "counters",
        "claims",
        "pool_status_requests",
        "problems",
    }
    assert "".join(report_text(found)).endswith("\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("kind: Pod\n---\nkind: [\n---\nkind: Pod\n", 4),
        ('{"kind":"Pod"}\n{"kind":\n{"kind":"Pod"}\n', 3),
        ('{"kind":"List","items":[\n  {"kind":"Pod"},\n  {"kind":},\n  {"kind":"Pod"}\n]}\n', 3),
        ("apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n- kind: {\n- kind: Pod\n", 6),
        ("kind: Pod\n---\nname: \x00\n---\nkind: Pod\n", 3),
    ],
)
def test_broken_document_is_named_with_file_and_line(tmp_path: Path, text: str, line: int) -> None:
    file = tmp_path / "dump.txt"
    file.write_text(text)

    code, printed = run(file)

    assert code == 1
    assert f"{file}:{line} is no" in printed
    assert "among 2 objects" in printed


def test_document_without_a_kind_is_named(tmp_path: Path) -> None:
    file = tmp_path / "dump.yaml"
    file.write_text("metadata: {name: a}\n---\nkind: Pod\n")

    code, printed = run(file)

    assert code == 0
    assert f"! {file}:1: has no kind, so it cannot be told what it is [no_kind]" in printed
