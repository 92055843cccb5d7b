from tools.list_filters import DOCUMENT, document


def test_page_of_filters_is_what_the_lists_declare() -> None:
    assert DOCUMENT.read_text() == document()
