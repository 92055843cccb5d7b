import pytest
from django.http import QueryDict

from ui.lists import Chip, Choice, Column, Export, Filter, column_heads, list_view, with_query

COLUMNS = (Column("name", "Pool", is_sortable=True), Column("node", "Node"))
DRIVER = Filter("driver", "Driver", (Choice("gpu.example.com", "GPUs", 31),), "gpu.example.com")


@pytest.mark.parametrize(
    ("query", "changes", "url"),
    [
        ("", {}, "/pools/"),
        ("cursor=abc&q=h100", {}, "/pools/?q=h100"),
        ("q=h100", {"q": None}, "/pools/"),
        ("driver=a&driver=b", {"sort": "-name"}, "/pools/?driver=a&driver=b&sort=-name"),
        ("", {"pool": "node-7/gpus"}, "/pools/?pool=node-7/gpus"),
    ],
)
def test_with_query_changes_go_back_to_the_first_page(
    query: str, changes: dict[str, str | None], url: str
) -> None:
    assert with_query("/pools/", QueryDict(query), **changes) == url


@pytest.mark.parametrize(
    ("query", "default", "heads"),
    [
        ("", "", [("/pools/?sort=name", ""), ("", "")]),
        ("", "name", [("/pools/?sort=-name", "ascending"), ("", "")]),
        ("sort=-name&cursor=x", "", [("/pools/?sort=name", "descending"), ("", "")]),
    ],
)
def test_column_heads_turn_the_order(
    query: str, default: str, heads: list[tuple[str, str]]
) -> None:
    made = column_heads(COLUMNS, path="/pools/", query=QueryDict(query), default_sort=default)

    assert [(head.url, head.direction) for head in made] == heads


def test_list_view_offers_to_drop_each_filter() -> None:
    query = QueryDict(
        "cluster=lab&driver=gpu.example.com&node=n1&node=n2&q=h100 memory>=40Gi&cursor=x"
    )

    view = list_view(
        id="pool-list",
        path="/pools/",
        query=query,
        columns=COLUMNS,
        noun="pools",
        shown=5,
        filters=(DRIVER,),
        labels={"node": "Node"},
        next_cursor="abc",
        export=Export(csv_url="/api/v1/pools/"),
    )

    start = "/pools/?cluster=lab&driver=gpu.example.com"
    box = "&q=h100%20memory%3E%3D40Gi"
    assert view.chips == (
        Chip("Driver", "GPUs", f"/pools/?cluster=lab&node=n1&node=n2{box}"),
        Chip("Node", "n1", f"{start}&node=n2{box}"),
        Chip("Node", "n2", f"{start}&node=n1{box}"),
        Chip("", "h100", f"{start}&node=n1&node=n2&q=memory%3E%3D40Gi"),
        Chip("memory", ">= 40Gi", f"{start}&node=n1&node=n2&q=h100"),
    )
    assert view.clear_url == "/pools/?cluster=lab"
    assert view.kept == [("cluster", "lab"), ("node", "n1"), ("node", "n2")]
    assert view.next_url == f"{start}&node=n1&node=n2{box}&cursor=abc"
    assert (view.previous_url, view.filter_text, view.is_filtered) == (
        "",
        "h100 memory>=40Gi",
        True,
    )
