"""A client as bare as can be: what goes over the wire is what is tested."""

import json
import zlib
from dataclasses import dataclass
from typing import Any

import urllib3

SLICES = "/apis/resource.k8s.io/v1/resourceslices"
CLAIMS = "/apis/resource.k8s.io/v1/resourceclaims"
POOL_STATUS_REQUESTS = "/apis/resource.k8s.io/v1alpha3/resourcepoolstatusrequests"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
WATCH_LIST = (
    "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.body.splitlines()]

    def message(self) -> str:
        return str(self.json()["message"])


class Api:
    def __init__(self, url: str, *, token: str | None = None) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._pool = urllib3.PoolManager(retries=False)

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: dict[str, str] | None = None,
        timeout: float = 10.0,
    ) -> Answer:
        """Bodies are taken as they are sent, packed or not; a cut stream raises."""
        response = self._pool.request(
            method,
            self._url + path,
            body=_encoded(body),
            headers={**self._headers, **(headers or {})},
            timeout=timeout,
            preload_content=False,
        )
        content = b"".join(response.stream(65536, decode_content=False))
        response.release_conn()
        lowered = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status, lowered, content)

    def get(self, path: str, **options: Any) -> Answer:
        return self.send("GET", path, **options)

    def post(self, path: str, body: object, **options: Any) -> Answer:
        return self.send("POST", path, body, **options)


def _encoded(body: object) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    return json.dumps(body).encode()


def gzip_members(packed: bytes) -> list[bytes]:
    members = []
    while packed:
        member = zlib.decompressobj(31)
        members.append(member.decompress(packed))
        packed = member.unused_data
    return members


def resource_slice(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": "test.example.com",
            "pool": {"name": "pool-0", "generation": 1, "resourceSliceCount": 1},
            "nodeName": "node-1",
            "devices": [{"name": "device-0"}],
            **spec,
        },
    }
