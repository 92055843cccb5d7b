"""How tests are written: they say what is expected, whole, and hold neither loops nor conditions."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BRANCHES = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.Match, ast.Try)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def each_test(source: str) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node


def own_nodes(test: ast.AST) -> Iterator[ast.AST]:
    """What a test does itself; what it defines, such as a server's answer, is not among it."""
    for child in ast.iter_child_nodes(test):
        if not isinstance(child, DEFINITIONS):
            yield child
            yield from own_nodes(child)


def branching(source: str) -> list[str]:
    return [
        test.name
        for test in each_test(source)
        if any(isinstance(node, BRANCHES) for node in own_nodes(test))
    ]


def status_only(source: str) -> list[str]:
    return [test.name for test in each_test(source) if _looks_at_statuses_only(test)]


def _looks_at_statuses_only(test: ast.FunctionDef) -> bool:
    asserted = [node.test for node in own_nodes(test) if isinstance(node, ast.Assert)]
    return bool(asserted) and all(_is_of_status(each) for each in asserted)


def _is_of_status(asserted: ast.expr) -> bool:
    if not isinstance(asserted, ast.Compare):
        return False
    left = asserted.left
    parts = left.elts if isinstance(left, ast.Tuple) else [left]
    return all(isinstance(part, ast.Attribute) and part.attr == "status_code" for part in parts)


def found(find: Callable[[str], list[str]], folder: str) -> list[str]:
    return [
        f"{path.relative_to(REPOSITORY)}: {name}"
        for path in sorted((REPOSITORY / folder).rglob("test_*.py"))
        for name in find(path.read_text())
    ]


def test_no_test_holds_a_loop_or_a_condition() -> None:
    assert found(branching, "tests") == []


def test_no_test_looks_at_a_status_alone() -> None:
    assert found(status_only, "tests") == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for x in y:\n        assert x", ["test_it"]),
        ("with a:\n        while b:\n            pass", ["test_it"]),
        ("if a:\n        assert b", ["test_it"]),
        ("def answer():\n        if a:\n            return b", []),
        ("assert [x for x in y] == []", []),
    ],
)
def test_loop_and_condition_of_a_test_are_found(body: str, expected: list[str]) -> None:
    assert branching(f"def test_it():\n    {body}\n") == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("assert get(x).status_code == 404", ["test_it"]),
        ("assert (a.status_code, b.status_code) == (200, 304)", ["test_it"]),
        ("assert (a.status_code, a.content) == (200, b'ok')", []),
        ("assert a.status_code == 200\n    assert a.content == b'ok'", []),
        ("get(x)", []),
    ],
)
def test_assertion_of_a_status_alone_is_found(body: str, expected: list[str]) -> None:
    assert status_only(f"def test_it():\n    {body}\n") == expected
