"""What is said is kept as a code and parameters: no sentence is written where a statement is made."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dra.words import CATALOGUE
from tests.repo.test_layout import REPOSITORY, tracked
from tools.list_problems import DOCUMENT, document

_MADE = {"Problem", "Statement"}
# Their codes come from a table; a test of theirs asks for the words of each.
_COMPUTED = {"kube/failures.py"}
MODULES = [path for path in tracked("*.py") if "tests" not in path.parts]


def made(tree: ast.AST) -> Iterator[ast.Call]:
    """Every call that makes a statement: `Problem.of(…)`, `Problem(…)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            func = node.func
            if isinstance(func, ast.Attribute) and func.attr == "of":
                func = func.value
            if isinstance(func, ast.Name) and func.id in _MADE:
                yield node


def codes(call: ast.Call) -> list[str | None]:
    """The codes that a call may make; None for one that is not written out."""
    first = call.args[0] if call.args else None
    options = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
    return [str(each.value) if isinstance(each, ast.Constant) else None for each in options]


def faults(source: str, *, may_compute: bool = False) -> list[str]:
    """What is wrong with the statements that a module makes."""
    found = []
    for call in made(ast.parse(source)):
        given = {keyword.arg for keyword in call.keywords}
        for code in codes(call):
            entry = CATALOGUE.get(code or "")
            if code is None and may_compute:
                continue
            if entry is None:
                found.append(f"line {call.lineno}: {code!r} is not in the catalogue")
            elif given != set(entry.parameters):
                found.append(f"line {call.lineno}: {code} takes {sorted(entry.parameters)}")
        found += [f"line {call.lineno}: a sentence" for _ in sentences(call)]
    return found


def sentences(call: ast.Call) -> Iterator[str]:
    """Texts of more than one word anywhere in a call."""
    for node in ast.walk(call):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_statements_are_of_the_catalogue_and_hold_no_sentence(path: Path) -> None:
    name = str(path.relative_to(REPOSITORY))

    assert faults(path.read_text(), may_compute=name in _COMPUTED) == []


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ('Problem.of("nosuch")', "line 1: 'nosuch' is not in the catalogue"),
        ("Problem(code)", "line 1: None is not in the catalogue"),
        (
            'Problem.of("no_devices" if x else "no_slices", pool="a")',
            "line 1: no_devices takes []",
        ),
        ('Problem.of("unknown_capacity")', "line 1: unknown_capacity takes ['capacity']"),
        ('Problem.of("unknown_capacity", capacity=f"of {x}")', "line 1: a sentence"),
    ],
)
def test_statement_that_is_no_code_is_found(source: str, fault: str) -> None:
    assert fault in faults(source)


def test_every_problem_is_described() -> None:
    assert DOCUMENT.read_text() == document()
