"""Addresses of single things, for `url` and its like in answers."""

from django.http import HttpRequest
from django.urls import reverse


class Links:
    """Absolute addresses under the host that was asked; each list's is looked up once for all rows of an answer."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self._lists: dict[str, str] = {}

    def cluster(self, number: int) -> str:
        """One cluster."""
        return self.one("clusters", number)

    def pool(self, number: int) -> str:
        """One pool."""
        return self.one("pools", number)

    def device(self, number: int) -> str:
        """One device."""
        return self.one("devices", number)

    def resource_slice(self, number: int) -> str:
        """One ResourceSlice."""
        return self.one("resource-slices", number)

    def status_request(self, number: int) -> str:
        """One pool status request."""
        return self.one("pool-status-requests", number)

    def one(self, name: str, number: int) -> str:
        """One thing of the list that has this name among the URLs of the API."""
        address = self._lists.get(name)
        if address is None:
            address = self._request.build_absolute_uri(reverse(f"api:{name}"))
            self._lists[name] = address
        return f"{address}{number}/"
