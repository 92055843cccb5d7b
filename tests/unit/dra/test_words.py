import re

import pytest

from dra.catalogue import Choice, Entry, Language, Plural, Several, Statement
from dra.problems import CODES, PROBLEMS, severity_of
from dra.values import Problem
from dra.words import CATALOGUE, reason_words, statement_words, words_of


def texts(entry: Entry) -> list[str]:
    """Every text of an entry that is filled in."""
    forms = (
        [entry.words.one, entry.words.many] if isinstance(entry.words, Plural) else [entry.words]
    )
    choices = [kind for kind in entry.parameters.values() if isinstance(kind, Choice)]
    return [*forms, *(phrase for choice in choices for phrase in choice.words.values())]


def named(entry: Entry) -> set[str]:
    """Every parameter that the words of an entry say or count by."""
    totals = [kind.total for kind in entry.parameters.values() if isinstance(kind, Several)]
    counted = [entry.words.number] if isinstance(entry.words, Plural) else []
    said = [name for text in texts(entry) for name in re.findall(r"%\((\w+)\)", text)]
    return {name for name in (*totals, *counted, *said) if name}


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=CATALOGUE)
def test_words_of_an_entry_name_its_parameters_and_no_others(entry: Entry) -> None:
    assert named(entry) == set(entry.parameters)


def test_codes_of_problems_are_a_closed_set() -> None:
    assert set(CODES) == set(PROBLEMS)
    assert (severity_of("incomplete_pool"), severity_of("of_another_release")) == (
        "error",
        "warning",
    )


def test_statement_is_known_by_its_code_and_parameters() -> None:
    one = Problem.of("unknown_capacity", capacity="memory")

    assert one == Problem("unknown_capacity", (("capacity", "memory"),))
    assert one != Statement("unknown_capacity", (("capacity", "memory"),))


def test_statements_have_an_order_whatever_their_parameters_are() -> None:
    known, unknown = Problem.of("x", seen=1), Problem.of("x", seen=None)

    assert sorted([unknown, known, Problem("a")]) == [Problem("a"), known, unknown]


def test_problem_of_a_slice_names_it_in_any_language() -> None:
    problem = Problem.of("unidentified_device", field="spec.devices[0]").in_slice("s")

    assert statement_words(problem) == "slice s: spec.devices[0] has no name and is left out"


def test_number_chooses_the_form_of_the_words() -> None:
    parameters = {
        "claim": "ns/c", "driver": "d", "pool": "p", "devices": ["a"], "device_count": 1,
    }  # fmt: skip

    assert (
        words_of("unpublished_allocation", parameters)
        == "claim ns/c holds device a of d/p, which is not published any more"
    )
    assert words_of(
        "unpublished_allocation", {**parameters, "devices": ["a", "b"], "device_count": 9}
    ) == ("claim ns/c holds 9 devices of d/p that are not published any more: a, b and 7 more")


def test_words_are_asked_for_in_the_language_that_is_given() -> None:
    language = Language(str.upper, lambda one, many, n: (one if n == 1 else many).upper())

    assert words_of("no_slices", {}, language=language) == "NO SLICE OF THIS POOL IS PUBLISHED"


@pytest.mark.parametrize(
    ("code", "parameters", "words"),
    [
        ("of_another_release", {"a": 1}, "of_another_release"),
        ("100%", {}, "100%"),
        ("generation_zero", {"said_before": "A sentence of 100 %."}, "A sentence of 100 %."),
        (
            "incomplete_pool",
            {"seen": 1, "taking": ["odd"]},
            "1 of ? slices of generation ? are there: ['odd']",
        ),
        (
            "unreadable_field",
            {"field": "spec", "expected": "text", "found": "text"},
            "spec should be text, but is the text '?'",
        ),
        ("slice_counts_disagree", {"declared": [2, None]}, "the slices disagree on their number (2, none; ? are there): ?"),
    ],
)  # fmt: skip
def test_rows_of_another_release_are_said_as_far_as_they_go(
    code: str, parameters: dict[str, object], words: str
) -> None:
    assert words_of(code, parameters) == words


def test_reasons_stand_side_by_side() -> None:
    assert reason_words(["server_ignores_taints", "unexplained"]) == (
        "the server ignores taints (1.36); "
        "not explained: the objects may have changed between the two readings"
    )
