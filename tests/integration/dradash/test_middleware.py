import pytest
from django.test import Client
from pytest_django import Settings

from tests.addresses import views

# What somebody may see before signing in.
OPEN_TO_ALL = {"/accounts/login/", "/ui/preferences/"}


@pytest.mark.django_db
def test_page_carries_every_protection(client: Client) -> None:
    answer = client.get("/accounts/login/")

    sent = {
        name: answer.headers.get(name)
        for name in (
            "Content-Security-Policy",
            "X-Content-Type-Options",
            "Referrer-Policy",
            "Cross-Origin-Opener-Policy",
            "X-Frame-Options",
        )
    }
    assert sent == {
        "Content-Security-Policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
            "frame-ancestors 'none'"
        ),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "X-Frame-Options": "DENY",
    }


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probe_carries_the_content_security_policy(client: Client, path: str) -> None:
    policy = client.get(path).headers["Content-Security-Policy"]

    assert policy.startswith("default-src 'none'; ")


@pytest.mark.django_db
def test_login_page_has_no_inline_script_or_style(client: Client) -> None:
    page = client.get("/accounts/login/").content.decode()

    assert "<form" in page
    assert [part for part in ("<style", " style=", "<script>", " onclick=") if part in page] == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path",
    ["/", "/pools/", "/devices/", "/clusters/", "/resource-slices/", "/pool-status-requests/"],
)
def test_page_without_sign_in_leads_to_it(client: Client, path: str) -> None:
    answer = client.get(path)

    assert (answer.status_code, answer["Location"]) == (302, f"/accounts/login/?next={path}")


@pytest.mark.django_db
def test_sign_in_over_https_sets_secure_cookies(client: Client, settings: Settings) -> None:
    settings.CSRF_COOKIE_SECURE = True

    answer = client.get("/accounts/login/", secure=True)

    cookie = answer.cookies["csrftoken"]
    assert (cookie["secure"], cookie["httponly"], cookie["samesite"]) == (True, True, "Lax")


def test_every_view_is_behind_sign_in() -> None:
    open_views = {
        path
        for path, view in views()
        if not getattr(view, "login_required", True) and not path.startswith("/api/")
    }

    assert open_views == OPEN_TO_ALL


@pytest.mark.parametrize(
    ("path", "content_type"),
    [("/pools/", "text/html; charset=utf-8"), ("/api/v1/pools/", "application/problem+json")],
)
def test_host_that_is_not_ours_is_refused_in_the_kind_of_the_address(
    client: Client, path: str, content_type: str
) -> None:
    answer = client.get(path, headers={"host": "evil.example.com"})

    assert (answer.status_code, answer["Content-Type"]) == (400, content_type)
