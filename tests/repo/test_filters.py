from tools.list_filters import DOCUMENT, declared_lists, document


def test_lists_of_every_app_are_found() -> None:
    assert {each.id for each in declared_lists()} >= {
        "cluster-list",
        "class-list",
        "pool-list",
    }


def test_page_of_filters_is_what_the_lists_declare() -> None:
    assert DOCUMENT.read_text() == document()
