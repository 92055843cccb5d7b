"""From a request to its answer: what a path names, who may ask for it, who answers."""

from typing import Final

from simulator import discovery, encoding, gates, statuses
from simulator.access import Access
from simulator.answers import Answer, Collection, Request, json_answer, text_answer
from simulator.kinds import DRA_GROUP, Surface
from simulator.listing import Lists
from simulator.watching import Watches
from simulator.writing import Writes

_KNOWN_GROUPS: Final = ("", DRA_GROUP, discovery.REVIEWS_GROUP)
_REVIEW_PATH: Final = f"/apis/{discovery.REVIEWS_GROUP}/v1/selfsubjectaccessreviews"


class Router:
    def __init__(
        self,
        *,
        surface: Surface,
        access: Access,
        lists: Lists,
        watches: Watches,
        writes: Writes,
        address: str,
    ) -> None:
        self._surface = surface
        self._access = access
        self._lists = lists
        self._watches = watches
        self._writes = writes
        self._address = address

    def answer(self, request: Request) -> Answer:
        user = self._access.user(request.headers.get("authorization"))
        _check_accept(request)
        if request.path == _REVIEW_PATH:
            return self._review(request, user)
        parts = request.path.strip("/").split("/")
        if parts[0] == "api" and len(parts) > 2:
            return self._resource(request, user, "", parts[1:])
        if parts[0] == "apis" and len(parts) > 3:
            return self._resource(request, user, parts[1], parts[2:])
        self._access.check_path(user, request.method.lower(), request.path)
        return self._document(request, parts)

    def _document(self, request: Request, parts: list[str]) -> Answer:
        surface = self._surface
        match parts:
            case ["version"]:
                return json_answer(200, discovery.version(surface))
            case ["healthz" | "livez" | "readyz"]:
                return text_answer(200, "ok")
            case ["metrics"]:
                return text_answer(200, gates.metrics(surface))
            case ["api" | "apis"]:
                return self._versions(request)
            case ["apis", group]:
                group_document = discovery.group(surface, group)
                if group_document is None:
                    raise statuses.unknown_group()
                return json_answer(200, group_document)
            case ["api", version] | ["apis", _, version]:
                group = parts[1] if parts[0] == "apis" else ""
                return self._resources(group, version)
        raise statuses.unknown_group()

    def _versions(self, request: Request) -> Answer:
        is_core = request.path.strip("/") == "api"
        if discovery.wants_aggregated(request.headers.get("accept", "")):
            make = discovery.aggregated_core if is_core else discovery.aggregated_groups
            return _aggregated(make(self._surface))
        if is_core:
            return json_answer(200, discovery.core_versions(self._address))
        return json_answer(200, discovery.groups(self._surface))

    def _resources(self, group: str, version: str) -> Answer:
        resource_list = discovery.resources(self._surface, group, version)
        if resource_list is None:
            raise statuses.not_served() if group in _KNOWN_GROUPS else statuses.unknown_group()
        return json_answer(200, resource_list)

    def _review(self, request: Request, user: str) -> Answer:
        if request.method != "POST":
            raise statuses.method_not_allowed()
        if user == "system:anonymous":
            raise statuses.forbidden_path(user, "create", request.path)
        try:
            asked = encoding.decode(request.body)
            return json_answer(201, self._access.review(asked.get("spec") or {}))
        except (ValueError, AttributeError) as problem:
            message = f"the object provided is unrecognized: {problem}"
            raise statuses.bad_request(message) from problem

    def _resource(self, request: Request, user: str, group: str, parts: list[str]) -> Answer:
        """`parts`: version, perhaps `namespaces` and one, a plural, perhaps a name and a subresource."""
        if group not in _KNOWN_GROUPS:
            raise statuses.unknown_group()
        version, *rest = parts
        namespace = None
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        resource = self._surface.find(group, version, rest[0])
        if resource is None or (namespace and not resource.is_namespaced) or len(rest) > 3:
            raise statuses.not_served()
        name = rest[1] if len(rest) > 1 else None
        subresource = rest[2] if len(rest) > 2 else ""
        if subresource and not (subresource == "status" and resource.has_status):
            raise statuses.not_served()
        collection = Collection(resource, version, namespace)
        verb = _verb(request, name)
        self._access.check(user, verb, resource, name=name, namespace=namespace)
        return self._act(collection, request, verb, name or "", subresource)

    def _act(
        self, collection: Collection, request: Request, verb: str, name: str, subresource: str
    ) -> Answer:
        match verb:
            case "list":
                return self._lists.answer(collection, request)
            case "watch":
                return self._watches.answer(collection, request)
            case "get":
                return self._writes.read(collection, name)
            case "create":
                return self._writes.create(collection, request)
            case "update":
                return self._writes.replace(
                    collection, request, name=name, subresource=subresource
                )
            case "delete":
                return self._writes.delete(collection, request, name)
            case "deletecollection":
                return self._writes.delete_all(collection, request)
        raise statuses.method_not_allowed()


def _verb(request: Request, name: str | None) -> str:
    if request.method == "GET":
        if name is not None:
            return "get"
        return "watch" if request.is_watch else "list"
    on_object = {"PUT": "update", "DELETE": "delete"}
    on_collection = {"POST": "create", "DELETE": "deletecollection"}
    verb = (on_collection if name is None else on_object).get(request.method)
    if verb is None:
        raise statuses.method_not_allowed()
    return verb


def _check_accept(request: Request) -> None:
    """JSON is all that is spoken; of a choice that is enough. Tables and bare metadata are not made."""
    accept = request.headers.get("accept", "")
    if not accept or request.path == "/metrics" or request.path.endswith("z"):
        return
    for choice in accept.split(","):
        media, *parameters = [part.strip() for part in choice.split(";")]
        is_form = any(parameter.startswith("as=") for parameter in parameters)
        if media in {"*/*", "application/*"}:
            return
        if media == "application/json" and (not is_form or request.path in {"/api", "/apis"}):
            return
    raise statuses.not_acceptable()


def _aggregated(document: dict[str, object]) -> Answer:
    headers = {"Content-Type": discovery.AGGREGATED_TYPE, "Vary": "Accept"}
    return json_answer(200, document, headers=headers)
