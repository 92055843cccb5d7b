import pytest
from django.test import RequestFactory, override_settings

from ui.htmx import fragment_etag, not_modified, render_page_or_fragment, wants_fragment
from ui.snapshot import Viewer

HTMX = {"HX-Request": "true"}
ADA = Viewer(1, "viewer")
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.locmem.Loader",
                    {
                        "page.html": "page {{ x }}",
                        "fragment.html": "fragment {{ x }} {{ live_etag }}",
                    },
                )
            ]
        },
    }
]


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        ({}, False),
        (HTMX, True),
        (HTMX | {"HX-Boosted": "true"}, False),
        (HTMX | {"HX-History-Restore-Request": "true"}, False),
    ],
)
def test_wants_fragment_is_false_where_the_whole_page_is_replaced(
    headers: dict[str, str], wanted: bool
) -> None:
    assert wants_fragment(RequestFactory().get("/", headers=headers)) is wanted


def test_not_modified_answers_the_known_etag_to_htmx_alone() -> None:
    etag = fragment_etag(RequestFactory().get("/pools/"), ADA, 7)
    known = {"If-None-Match": etag}

    fragment = not_modified(RequestFactory().get("/pools/", headers=HTMX | known), etag=etag)
    page = not_modified(RequestFactory().get("/pools/", headers=known), etag=etag)
    newer = not_modified(RequestFactory().get("/pools/", headers=HTMX | known), etag='"other"')

    assert fragment is not None
    assert (fragment.status_code, fragment["ETag"], fragment["Vary"]) == (304, etag, "HX-Request")
    assert (page, newer) == (None, None)


def test_fragment_etag_changes_with_address_viewer_and_parts() -> None:
    etags = {
        fragment_etag(RequestFactory().get(path), viewer, revision)
        for path in ("/pools/", "/pools/?q=x")
        for viewer in (ADA, Viewer(2, "viewer"), Viewer(1, "admin"))
        for revision in (1, 2)
    }

    assert len(etags) == 12


@pytest.mark.parametrize(
    ("headers", "body", "etag"),
    [({}, b"page 1", None), (HTMX, b"fragment 1 &quot;a&quot;", '"a"')],
)
def test_render_page_or_fragment_gives_the_etag_to_the_fragment(
    headers: dict[str, str], body: bytes, etag: str | None
) -> None:
    request = RequestFactory().get("/", headers=headers)

    with override_settings(TEMPLATES=TEMPLATES):
        response = render_page_or_fragment(
            request, page="page.html", fragment="fragment.html", context={"x": 1}, etag='"a"'
        )

    assert (response.content, response.get("ETag")) == (body, etag)
    assert (response["Vary"], response["Cache-Control"]) == ("HX-Request", "private, no-cache")
