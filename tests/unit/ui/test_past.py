import pytest

from ui.past import carry_moment, set_in_the_past

AT = "2026-03-01T12:00:00Z"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("/pools/", f"/pools/?at={AT}"),
        ("/", f"/?at={AT}"),
        ("/pools/?cluster=a%20b&q=x", f"/pools/?cluster=a+b&q=x&at={AT}"),
        ("/pools/7/#history", f"/pools/7/?at={AT}#history"),
        ("/api/v1/pools/?format=csv", f"/api/v1/pools/?format=csv&at={AT}"),
        # Names a moment already.
        ("/pools/?at=-1h", "/pools/?at=-1h"),
        # Say nothing of any moment.
        ("/api/v1/docs/", "/api/v1/docs/"),
        ("/static/dradash/app.css", "/static/dradash/app.css"),
        ("/nowhere/", "/nowhere/"),
    ],
)
def test_address_carries_the_moment_where_its_page_answers_for_one(
    address: str, expected: str
) -> None:
    assert carry_moment(address, at=AT) == expected


def test_page_in_the_past_leads_to_pages_of_the_same_moment_and_asks_for_no_news() -> None:
    html = (
        '<div id="pools" hx-get="/pools/?q=a&amp;sort=name" hx-trigger="live" data-live="2">'
        '<a class="x" href="/pools/7/">&lt;a href=&quot;/pools/&quot;&gt;</a>'
        '<a href="/pools/" data-leaves-moment>now</a>'
        '<a href="https://example.com/pools/">outside</a>'
        '<link href="/pools/">'
        "</div>"
    )

    assert set_in_the_past(html, at=AT) == (
        f'<div id="pools" hx-get="/pools/?q=a&amp;sort=name&amp;at={AT}" hx-trigger="live">'
        f'<a class="x" href="/pools/7/?at={AT}">&lt;a href=&quot;/pools/&quot;&gt;</a>'
        '<a href="/pools/" data-leaves-moment>now</a>'
        '<a href="https://example.com/pools/">outside</a>'
        '<link href="/pools/">'
        "</div>"
    )


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (
            '<form method="get" action="/pools/" hx-get="/pools/"><input name="q"></form>',
            (
                '<form method="get" action="/pools/" hx-get="/pools/">'
                f'<input type="hidden" name="at" value="{AT}"><input name="q"></form>'
            ),
        ),
        (
            '<form method="post" action="/logout/"></form>',
            '<form method="post" action="/logout/"></form>',
        ),
        (
            '<form action="/nowhere/"><input name="at" value="-1h"></form>',
            '<form action="/nowhere/"><input name="at" value="-1h"></form>',
        ),
    ],
)
def test_form_carries_the_moment_in_a_field(form: str, expected: str) -> None:
    assert set_in_the_past(form, at=AT) == expected
