import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.filter_box import Term, join_terms, split_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", ()),
        ("node:node-7", (Term("node:node-7", "node", "node-7"),)),
        ("memory>=40Gi", (Term("memory>=40Gi", "memory", ">= 40Gi"),)),
        (
            "gpu.example.com/model='H100 80GB' h100",
            (
                Term("gpu.example.com/model=H100 80GB", "gpu.example.com/model", "= H100 80GB"),
                Term("h100", "", "h100"),
            ),
        ),
        (
            'lone " quote',
            (Term("lone", "", "lone"), Term('"', "", '"'), Term("quote", "", "quote")),
        ),
        ("node:", (Term("node:", "", "node:"),)),
    ],
)
def test_split_terms_cuts_keys_from_values(text: str, terms: tuple[Term, ...]) -> None:
    assert split_terms(text) == terms


@given(st.text(max_size=60))
def test_join_terms_reads_back_as_the_same_terms(text: str) -> None:
    terms = split_terms(text)

    assert split_terms(join_terms(terms)) == terms
