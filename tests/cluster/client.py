"""A small client of the tests' own: the product's is not to be tested with itself."""

import http.client
import json
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from typing import Any, Final, TypeVar

Document = dict[str, Any]
Documents = list[Document]
T = TypeVar("T")

_JSON = "application/json"
_MERGE_PATCH = "application/merge-patch+json"
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
# What the server sets itself. An owner's uid is translated instead: see `_Applied`.
_SERVER_FIELDS = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
)
# Owners before what they own: a controller would make the owned again.
_WIPED_KINDS = (
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "CronJob",
    "Job",
    "Pod",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceSlice",
    "DeviceTaintRule",
    "DeviceClass",
    "ResourcePoolStatusRequest",
    "Node",
    "Event",
)


@dataclass(frozen=True)
class Answer:
    """What the server said, whether it was pleased or not."""

    status: int
    headers: Message
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class RefusedError(Exception):
    """The server's error: `status` is its code, `document` its Status object, if it sent one."""

    def __init__(self, method: str, path: str, answer: Answer) -> None:
        text = answer.body.decode(errors="replace")
        self.status = answer.status
        self.document: Document = {}
        with suppress(ValueError):
            self.document = answer.json()
        super().__init__(f"{method} {path}: {answer.status} {self.document.get('message', text)}")


@dataclass(frozen=True)
class Resource:
    """One resource of one version, as discovery names it."""

    api_version: str
    kind: str
    plural: str
    is_namespaced: bool
    has_status: bool

    def path(self, *, namespace: str | None = None, name: str | None = None) -> str:
        path = (
            f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        )
        if self.is_namespaced and namespace:
            path += f"/namespaces/{namespace}"
        return f"{path}/{self.plural}" + (f"/{name}" if name else "")


def _resources(document: Document) -> Iterable[Resource]:
    for group in document["items"]:
        group_name = group["metadata"].get("name", "")
        for version in group["versions"]:
            api_version = "/".join(filter(None, (group_name, version["version"])))
            for resource in version["resources"]:
                subresources = [s["subresource"] for s in resource.get("subresources", ())]
                yield Resource(
                    api_version=api_version,
                    kind=resource["responseKind"]["kind"],
                    plural=resource["resource"],
                    is_namespaced=resource["scope"] == "Namespaced",
                    has_status="status" in subresources,
                )


def wait_for(check: Callable[[], T | None], *, what: str, seconds: float = 20) -> T:
    """Return the first true value of `check`; TimeoutError says what did not happen."""
    end = time.monotonic() + seconds
    while not (value := check()):
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(0.03)
    return value


# What a connection says that its server has closed; which of them depends on how far either side was with it.
_CLOSED: Final = (
    http.client.RemoteDisconnected,
    ConnectionError,
    ssl.SSLEOFError,
    ssl.SSLZeroReturnError,
)


class _Kept:
    """A connection that is used again and again: each handshake costs both sides more than most requests."""

    def __init__(self, address: str, context: ssl.SSLContext) -> None:
        self.connection = http.client.HTTPSConnection(address, context=context)
        self.is_new = True

    def __del__(self) -> None:
        self.connection.close()

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], timeout: float
    ) -> Answer:
        self.connection.timeout = timeout
        if self.connection.sock:
            self.connection.sock.settimeout(timeout)
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        answer = Answer(response.status, response.headers, response.read())
        self.is_new = False
        return answer


@dataclass
class Client:
    """One API server seen with one token. Verifies its certificate, uses no proxy."""

    url: str
    ca_file: Path
    token: str
    _resources: list[Resource] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._context = ssl.create_default_context(cafile=str(self.ca_file))
        self._address, _, self._root = self.url.removeprefix("https://").partition("/")
        self.forget_connections()

    def forget_connections(self) -> None:
        """Connect anew: a server that ends may still answer on old connections."""
        self._own = threading.local()

    # The HTTP level: errors are answers

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 70,
    ) -> Answer:
        """Send one request and return any answer; a broken connection is an OSError."""
        all_headers = {"Authorization": f"Bearer {self.token}", "Content-Type": _JSON}
        all_headers |= headers or {}
        content = None if body is None else json.dumps(body).encode()
        full_path = f"/{self._root}{path}" if self._root else path
        while True:
            kept: _Kept = getattr(self._own, "kept", None) or _Kept(self._address, self._context)
            self._own.kept = None
            try:
                answer = kept.exchange(method, full_path, content, all_headers, timeout)
            except _CLOSED:
                if kept.is_new:
                    raise
                # The server has closed it meanwhile, before it took the request.
                continue
            self._own.kept = kept
            return answer

    def call(self, method: str, path: str, body: object = None, **options: Any) -> Any:
        """Send one request and return the document that came back, or raise `RefusedError`."""
        answer = self.request(method, path, body, **options)
        if answer.status >= 400:
            raise RefusedError(method, path, answer)
        return answer.json()

    # The level of objects

    def discover(self) -> list[Resource]:
        """Return all resources that the server has, best version of each group first."""
        documents = [
            self.call("GET", p, headers={"Accept": _AGGREGATED}) for p in ("/api", "/apis")
        ]
        return [resource for document in documents for resource in _resources(document)]

    def find_resource(self, kind: str, api_version: str | None = None) -> Resource | None:
        """Return the resource of a kind, in its best version unless one is named, or None."""
        for _ in range(2):
            for resource in self._resources:
                if resource.kind == kind and api_version in (
                    None,
                    resource.api_version,
                ):
                    return resource
            self._resources = self.discover()
        return None

    def resource(self, kind: str, api_version: str | None = None) -> Resource:
        """Like `find_resource`, but a kind that is not served is an error."""
        found = self.find_resource(kind, api_version)
        if found is None:
            raise LookupError(f"the API server does not serve {api_version or 'any'} {kind}")
        return found

    def get(
        self,
        kind: str,
        name: str,
        namespace: str | None = None,
        *,
        api_version: str | None = None,
    ) -> Document | None:
        """Return one object, or None if there is none."""
        path = self.resource(kind, api_version).path(namespace=namespace, name=name)
        answer = self.request("GET", path)
        if answer.status == 404:
            return None
        if answer.status >= 400:
            raise RefusedError("GET", path, answer)
        document: Document = answer.json()
        return document

    def list(
        self, kind: str, namespace: str | None = None, *, api_version: str | None = None
    ) -> Documents:
        """Return all objects of a kind, with the kind and apiVersion that list items lack."""
        resource = self.resource(kind, api_version)
        items = self.call("GET", resource.path(namespace=namespace))["items"] or []
        return [{"apiVersion": resource.api_version, "kind": kind, **item} for item in items]

    def watch(
        self, kind: str, *, resource_version: str, seconds: int = 2, **parameters: str
    ) -> Documents:
        """Return the events of one watch window over all namespaces, the ERROR event included."""
        query = {
            "watch": "1",
            "timeoutSeconds": str(seconds),
            "resourceVersion": resource_version,
        }
        path = f"{self.resource(kind).path()}?{urllib.parse.urlencode(query | parameters)}"
        answer = self.request("GET", path)
        if answer.status >= 400:
            raise RefusedError("GET", path, answer)
        return [json.loads(line) for line in answer.body.splitlines()]

    def delete(self, kind: str, name: str, namespace: str | None = None) -> None:
        """Delete one object, if it is there, without grace. Finalizers may keep it."""
        path = self.resource(kind).path(namespace=namespace, name=name)
        answer = self.request("DELETE", path, {"gracePeriodSeconds": 0})
        if answer.status >= 400 and answer.status != 404:
            raise RefusedError("DELETE", path, answer)

    def apply(self, documents: Iterable[Document]) -> Documents:
        """Create or replace objects, status included, as somebody else's server once printed them.

        Namespaces and Nodes go first, and namespaces that only objects name are made. Uids that
        name other documents (owners, pods) are translated to the new ones. A document with a
        deletionTimestamp is deleted in the end, so that with a finalizer it stays as "being
        deleted". Returns the stored objects in the order given.
        """
        return _Applied(self).apply([*documents])

    def wipe(self) -> None:
        """Delete all DRA objects, nodes, workloads, pods and events; namespaces and rights stay.

        Finalizers are taken off by hand, since the controllers that would do it may not run.
        """
        kinds = [kind for kind in _WIPED_KINDS if self.find_resource(kind)]

        def is_clean() -> bool:
            left = [item for kind in kinds for item in self.list(kind)]
            for item in left:
                self._remove(item)
            return not left

        wait_for(is_clean, what="an empty cluster")

    def _remove(self, item: Document) -> None:
        metadata = item["metadata"]
        namespace, name = metadata.get("namespace"), metadata["name"]
        if metadata.get("finalizers"):
            path = self.resource(item["kind"]).path(namespace=namespace, name=name)
            patch = {"metadata": {"finalizers": None}}
            self.request("PATCH", path, patch, headers={"Content-Type": _MERGE_PATCH})
        self.delete(item["kind"], name, namespace)


def _apply_rank(document: Document) -> tuple[int, bool]:
    order = {"Namespace": 0, "Node": 1}.get(document["kind"], 2)
    return order, bool(document["metadata"].get("ownerReferences"))


@dataclass
class _Applied:
    """One `apply`: remembers which uid became which."""

    client: Client
    new_uids: dict[str, str] = field(default_factory=dict)

    def apply(self, documents: list[Document]) -> list[Document]:
        self._make_namespaces(documents)
        places = sorted(range(len(documents)), key=lambda place: _apply_rank(documents[place]))
        stored = {place: self._write_main_part(documents[place]) for place in places}
        for place in places:
            if status := documents[place].get("status"):
                stored[place] = self._write_status(stored[place], status)
        for place in places:
            if documents[place]["metadata"].get("deletionTimestamp"):
                stored[place] = self.client.call("DELETE", self._path(documents[place]))
        return [stored[place] for place in range(len(documents))]

    def _make_namespaces(self, documents: list[Document]) -> None:
        own = {d["metadata"]["name"] for d in documents if d["kind"] == "Namespace"}
        named = {d["metadata"]["namespace"] for d in documents if d["metadata"].get("namespace")}
        for name in sorted(named - own - {"default"}):
            answer = self.client.request(
                "POST", "/api/v1/namespaces", {"metadata": {"name": name}}
            )
            if answer.status not in (201, 409):
                raise RefusedError("POST", "/api/v1/namespaces", answer)

    def _resource(self, document: Document) -> Resource:
        return self.client.resource(document["kind"], document["apiVersion"])

    def _path(self, document: Document) -> str:
        metadata = document["metadata"]
        namespace = metadata.get("namespace", "default")
        return self._resource(document).path(namespace=namespace, name=metadata["name"])

    def _translated(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._translated(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._translated(inner) for inner in value]
        return self.new_uids.get(value, value) if isinstance(value, str) else value

    def _write_main_part(self, document: Document) -> Document:
        old_uid = document["metadata"].get("uid")
        metadata = {k: v for k, v in document["metadata"].items() if k not in _SERVER_FIELDS}
        body = self._translated(document | {"metadata": metadata})
        path = self._path(document)
        collection = path.rpartition("/")[0]
        answer = self.client.request("POST", collection, body)
        if answer.status == 409:
            version = self.client.call("GET", path)["metadata"]["resourceVersion"]
            body["metadata"]["resourceVersion"] = version
            answer = self.client.request("PUT", path, body)
        if answer.status >= 400:
            raise RefusedError("POST", collection, answer)
        stored: Document = answer.json()
        if old_uid:
            self.new_uids[old_uid] = stored["metadata"]["uid"]
        return stored

    def _write_status(self, stored: Document, status: Document) -> Document:
        if not self._resource(stored).has_status:
            return stored
        path = self._path(stored)
        body = self._translated(stored | {"status": status})
        answer = self.client.request("PUT", f"{path}/status", body)
        while answer.status == 409:
            body["metadata"] = self.client.call("GET", path)["metadata"]
            answer = self.client.request("PUT", f"{path}/status", body)
        if answer.status >= 400:
            raise RefusedError("PUT", f"{path}/status", answer)
        written: Document = answer.json()
        return written
