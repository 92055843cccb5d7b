"""What `base.html` needs on every page and no view should have to give."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from ui.frame import navigation
from ui.preferences import read_preferences


def ui(request: HttpRequest) -> dict[str, Any]:
    """Navigation, the person's preferences, and `now`, unless the view gives the moment it read the clock itself."""
    return {
        "now": timezone.now(),  # noqa: TID251 -- the edge of every page
        "navigation": navigation(path=request.path, cluster=request.GET.get("cluster", "")),
        "preferences": read_preferences(request),
    }
