from hypothesis import given
from hypothesis import strategies as st

from ui.yaml_lines import Line, Token, yaml_lines


def test_yaml_lines_mark_keys_and_values() -> None:
    text = '# slice\nspec:\n  - name: "gpu-0"\n    count: 8\n    url: http://x:1/\n    empty: []'

    assert yaml_lines(text) == (
        Line(1, (Token("comment", "# slice"),)),
        Line(2, (Token("key", "spec"), Token("mark", ":"))),
        Line(
            3,
            (
                Token("mark", "  - "),
                Token("key", "name"),
                Token("mark", ":"),
                Token("", " "),
                Token("text", '"gpu-0"'),
            ),
        ),
        Line(
            4,
            (
                Token("", "    "),
                Token("key", "count"),
                Token("mark", ":"),
                Token("", " "),
                Token("number", "8"),
            ),
        ),
        Line(
            5,
            (
                Token("", "    "),
                Token("key", "url"),
                Token("mark", ":"),
                Token("", " "),
                Token("text", "http://x:1/"),
            ),
        ),
        Line(
            6,
            (
                Token("", "    "),
                Token("key", "empty"),
                Token("mark", ":"),
                Token("", " "),
                Token("constant", "[]"),
            ),
        ),
    )


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_yaml_lines_lose_nothing(text: str) -> None:
    lines = yaml_lines(text)

    assert ["".join(token.text for token in line.tokens) for line in lines] == text.splitlines()
