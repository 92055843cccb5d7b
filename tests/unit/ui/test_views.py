import re

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.http import Http404, HttpRequest
from django.template.loader import render_to_string
from django.test import RequestFactory

from ui.preferences import Preferences, read_preferences
from ui.views import preferences_change, styleguide


def posted(**fields: str) -> HttpRequest:
    return RequestFactory().post("/ui/preferences/", fields)


def test_preferences_change_keeps_the_choice_and_goes_back() -> None:
    response = preferences_change(posted(theme="dark", next="/pools/?cluster=lab"))

    cookies = {name: cookie.value for name, cookie in response.cookies.items()}
    assert (response["Location"], cookies) == ("/pools/?cluster=lab", {"dradash_theme": "dark"})


@pytest.mark.parametrize(
    "target", ["https://elsewhere.example.com/", "//elsewhere.example.com", "javascript:x"]
)
def test_preferences_change_never_leads_elsewhere(target: str) -> None:
    assert preferences_change(posted(nav="icons", next=target))["Location"] == "/"


def test_preferences_change_refuses_what_is_no_choice() -> None:
    assert dict(preferences_change(posted(theme="neon")).cookies) == {}


def test_read_preferences_takes_known_values_alone() -> None:
    request = RequestFactory().get("/")
    request.COOKIES = {"dradash_theme": "dark", "dradash_times": "mars"}

    assert read_preferences(request) == Preferences(theme="dark", times="utc", nav="wide")


@pytest.mark.parametrize("user", [AnonymousUser(), User(is_staff=False)], ids=["nobody", "viewer"])
def test_styleguide_is_for_staff(user: User | AnonymousUser) -> None:
    request = RequestFactory().get("/ui/styleguide/")
    request.user = user

    with pytest.raises(Http404):
        styleguide(request)


@pytest.mark.parametrize(
    ("template", "sentence"),
    [("500.html", "This page failed."), ("503.html", "The database does not answer.")],
)
def test_pages_for_bad_times_need_no_request(template: str, sentence: str) -> None:
    assert f"<h1>{sentence}</h1>" in render_to_string(template)


def test_styleguide_shows_each_component_to_staff() -> None:
    request = RequestFactory().get("/ui/styleguide/")
    request.user = User(username="ada", is_staff=True)

    page = styleguide(request).content.decode()

    assert "total unknown, 12 devices seen: 3 allocated, 1 of these partly used, 9 unknown" in page
    assert '<span class="quantity" title="80Gi = 85899345920">80\u202fGiB</span>' in page
    assert re.search(
        r'<time class="age" datetime="[^"]+" data-age title="[^"]+ UTC">4 s ago</time>', page
    )
    assert 'aria-sort="descending"' in page
