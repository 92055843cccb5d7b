"""What `base.html` needs on every page and no view should have to give."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from ui.frame import navigation
from ui.preferences import read_preferences


def ui(request: HttpRequest) -> dict[str, Any]:
    """Navigation and the person's preferences."""
    return {
        "navigation": navigation(path=request.path, cluster=request.GET.get("cluster", "")),
        "preferences": read_preferences(request),
    }
