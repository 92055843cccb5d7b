import pytest

from ui.frame import Banner, navigation, url_or_empty


@pytest.mark.parametrize(
    ("path", "current"),
    [
        ("/", ["overview"]),
        ("/pools/", ["pools"]),
        ("/pools/7/", ["pools"]),
        ("/accounts/login/", []),
    ],
)
def test_navigation_marks_where_the_person_is(path: str, current: list[str]) -> None:
    groups = navigation(path=path)

    assert [
        link.item.icon for group in groups for link in group.links if link.is_current
    ] == current


def test_navigation_takes_the_cluster_along() -> None:
    links = [link.url for group in navigation(path="/", cluster="a&b") for link in group.links]

    assert links[:2] == ["/?cluster=a%26b", "/pools/?cluster=a%26b"]


def test_url_or_empty_is_empty_for_pages_that_do_not_exist() -> None:
    assert (url_or_empty("login"), url_or_empty("nowhere:list")) == ("/accounts/login/", "")


@pytest.mark.parametrize(
    ("kind", "tone"), [("simulated", "info"), ("gap", "warning"), ("unreachable", "error")]
)
def test_banner_tone_follows_its_kind(kind: str, tone: str) -> None:
    assert Banner(kind, "text").tone == tone  # type: ignore[arg-type]  # the parameters are kinds
