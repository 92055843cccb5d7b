"""Who is at the other end of a request."""

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The address of the person: behind n trusted proxies, the n-th entry of X-Forwarded-For from its end."""
    proxies = settings.TRUSTED_PROXY_COUNT
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")
    if proxies and len(forwarded) >= proxies and forwarded[-proxies].strip():
        return forwarded[-proxies].strip()
    return str(request.META.get("REMOTE_ADDR", ""))
