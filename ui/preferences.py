"""How a person likes the pages to look, kept in cookies so that the sign-in page knows it too."""

from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest

CHOICES: Final = {
    "theme": ("auto", "light", "dark"),
    "times": ("utc", "local"),
    "nav": ("wide", "icons"),
}
COOKIE_PREFIX: Final = "dradash_"
COOKIE_SECONDS: Final = 365 * 86_400


@dataclass(frozen=True, slots=True)
class Preferences:
    """What was chosen; the first of each list in CHOICES when nothing was."""

    theme: str
    times: str
    nav: str


def read_preferences(request: HttpRequest) -> Preferences:
    """Read the cookies; a value that is none of the choices counts as not chosen."""
    return Preferences(**{name: _chosen(request, name) for name in CHOICES})


def _chosen(request: HttpRequest, name: str) -> str:
    value = request.COOKIES.get(f"{COOKIE_PREFIX}{name}", "")
    return value if value in CHOICES[name] else CHOICES[name][0]
