"""Creating, replacing and deleting over HTTP, with the refusals of the API server."""

import copy
import random
from typing import Any, Final

from simulator import encoding, gates, rendering, selectors, statuses, validation
from simulator.answers import Answer, Collection, Request, json_answer
from simulator.kinds import POOL_STATUS_REQUEST, Surface
from simulator.statuses import Cause
from simulator.store import Store, Stored, key_of

_SUFFIX_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_DEFAULT_LIMIT: Final = 100


class Writes:
    def __init__(self, store: Store, surface: Surface, *, seed: int) -> None:
        self._store = store
        self._surface = surface
        self._random = random.Random(f"names {seed}")  # noqa: S311 -- repeatable, not secret

    def read(self, collection: Collection, name: str) -> Answer:
        return _object_answer(200, collection, self._stored(collection, name))

    def _stored(self, collection: Collection, name: str) -> Stored:
        stored = self._store.get(collection.resource.kind, _key(collection, name))
        if stored is None:
            raise statuses.not_found(collection.resource, name)
        return stored

    def create(self, collection: Collection, request: Request) -> Answer:
        resource = collection.resource
        obj = self._read_object(collection, request)
        metadata = obj["metadata"]
        if "name" not in metadata:
            suffix = "".join(self._random.choices(_SUFFIX_LETTERS, k=5))
            metadata["name"] = f"{metadata.get('generateName', '')}{suffix}"
        for given_by_server in ("uid", "creationTimestamp", "generation", "deletionTimestamp"):
            metadata.pop(given_by_server, None)
        if resource.has_status:
            obj.pop("status", None)
            if "status" in resource.empty:
                obj["status"] = {}
        self._complete(collection, obj)
        self._validate(collection, obj)
        with self._store.changed:
            if self._store.get(resource.kind, key_of(resource, metadata)):
                raise statuses.already_exists(resource, metadata["name"])
            if request.query.get("dryRun") == "All":
                return json_answer(201, _without_revision(self._store, obj, collection))
            return _object_answer(201, collection, self._store.put(obj, must_be="ADDED"))

    def replace(
        self, collection: Collection, request: Request, *, name: str, subresource: str
    ) -> Answer:
        resource = collection.resource
        obj = self._read_object(collection, request)
        obj["metadata"]["name"] = name
        with self._store.changed:
            before = self._stored(collection, name)
            version = obj["metadata"].get("resourceVersion")
            if not version and resource is POOL_STATUS_REQUEST:
                raise statuses.must_name_version(resource, name)
            if version and version != str(before.resource_version):
                raise statuses.conflict(resource, name)
            old = before.decoded()
            merged = _merged(old, obj, subresource=subresource, has_status=resource.has_status)
            merged["kind"] = resource.kind
            self._complete(collection, merged)
            self._check_immutable(collection, old, merged)
            self._validate(collection, merged)
            return _object_answer(200, collection, self._store.put(merged, must_be="MODIFIED"))

    def delete(self, collection: Collection, request: Request, name: str) -> Answer:
        resource = collection.resource
        options = _options(request)
        with self._store.changed:
            before = self._stored(collection, name)
            wanted = (options.get("preconditions") or {}).get("uid")
            if wanted and wanted != before.uid:
                raise statuses.wrong_uid(resource, name, wanted=wanted, actual=before.uid)
            deleted = self._store.delete(resource.kind, before.key)
        # Kinds of the device group answer with what was deleted, others only while it lives on.
        if deleted is not None and (before.finalizers or resource.group):
            return _object_answer(200, collection, deleted)
        return json_answer(200, statuses.success(resource, name=name, uid=before.uid))

    def delete_all(self, collection: Collection, request: Request) -> Answer:
        matches = selectors.parse(
            surface=self._surface,
            resource=collection.resource,
            api_version=collection.api_version,
            fields=request.query.get("fieldSelector", ""),
            labels=request.query.get("labelSelector", ""),
        )
        gone = [
            stored
            for stored in self._store.items(collection.resource.kind)
            if collection.namespace in {None, stored.namespace} and matches(stored)
        ]
        for stored in gone:
            self._store.delete(stored.kind, stored.key)
        items = [encoding.decode(rendering.body(s, collection.version)) for s in gone]
        listed = {
            "kind": f"{collection.resource.kind}List",
            "apiVersion": collection.api_version,
            "metadata": {"resourceVersion": str(self._store.revision)},
            "items": items,
        }
        return json_answer(200, listed)

    def _read_object(self, collection: Collection, request: Request) -> dict[str, Any]:
        resource = collection.resource
        content_type = request.headers.get("content-type", "application/json").split(";")[0]
        if content_type not in {"application/json", ""}:
            raise statuses.unsupported_media_type()
        try:
            obj = encoding.decode(request.body)
        except ValueError as problem:
            raise statuses.bad_request(
                f"the object provided is unrecognized (must be of type {resource.kind}): couldn't "
                f"get version/kind; json parse error: {_parse_error(request.body, problem)}"
            ) from problem
        if not isinstance(obj, dict) or not isinstance(obj.get("metadata", {}), dict):
            message = (
                f"the object provided is unrecognized (must be of type {resource.kind}): "
                "couldn't get version/kind"
            )
            raise statuses.bad_request(message)
        obj["kind"] = resource.kind
        obj.setdefault("metadata", {})
        obj = rendering.from_version(obj, collection.version)
        if resource.is_namespaced:
            obj["metadata"]["namespace"] = collection.namespace or "default"
        return obj

    def _complete(self, collection: Collection, obj: dict[str, Any]) -> None:
        """Defaults, and fields that this server drops."""
        if collection.resource is not POOL_STATUS_REQUEST:
            return
        spec = obj.setdefault("spec", {})
        limit = spec.get("limit")
        if limit is None:
            spec["limit"] = _DEFAULT_LIMIT
        elif not isinstance(limit, int) or isinstance(limit, bool):
            raise statuses.bad_request(
                'ResourcePoolStatusRequest in version "v1alpha3" cannot be handled as a '
                "ResourcePoolStatusRequest: json: cannot unmarshal "
                f"{_json_type(limit)} into Go struct field "
                "ResourcePoolStatusRequestSpec.spec.limit of type int32"
            )
        known = {"driver", "poolName", "limit"}
        if gates.is_on(self._surface, "DRAPartitionableDevicesType"):
            known.add("defaultPartitionTypeAttribute")
        for unknown in spec.keys() - known:
            del spec[unknown]

    def _validate(self, collection: Collection, obj: dict[str, Any]) -> None:
        if causes := validation.problems(collection.resource, obj):
            raise statuses.invalid(collection.resource, obj["metadata"]["name"], causes)

    def _check_immutable(
        self, collection: Collection, old: dict[str, Any], new: dict[str, Any]
    ) -> None:
        if collection.resource is not POOL_STATUS_REQUEST:
            return
        field = None
        if old["spec"] != new["spec"]:
            field = "spec"
        elif old.get("status") is not None and old["status"] != new.get("status"):
            field = "status"
        if field is not None:
            cause = Cause("FieldValueInvalid", field, "Invalid value: null: field is immutable")
            raise statuses.invalid(collection.resource, new["metadata"]["name"], [cause])


def _key(collection: Collection, name: str) -> str:
    return key_of(collection.resource, {"name": name, "namespace": collection.namespace})


def _merged(
    old: dict[str, Any], new: dict[str, Any], *, subresource: str, has_status: bool
) -> dict[str, Any]:
    """A write to the object leaves its status alone, a write to its status everything else."""
    if subresource == "status":
        return {**copy.deepcopy(old), "status": new.get("status")}
    if not has_status:
        return new
    merged = {key: value for key, value in new.items() if key != "status"}
    if "status" in old:
        merged["status"] = copy.deepcopy(old["status"])
    return merged


def _options(request: Request) -> dict[str, Any]:
    if not request.body.strip():
        return {}
    try:
        options = encoding.decode(request.body)
    except ValueError as problem:
        raise statuses.bad_request(f"error decoding DeleteOptions: {problem}") from problem
    return options if isinstance(options, dict) else {}


def _object_answer(code: int, collection: Collection, stored: Stored) -> Answer:
    body = rendering.body(stored, collection.version)
    kind = collection.resource.kind
    return Answer(
        code, encoding.with_kind(body, kind=kind, api_version=collection.api_version) + b"\n"
    )


def _without_revision(store: Store, obj: dict[str, Any], collection: Collection) -> dict[str, Any]:
    """The answer to a dry run: complete, but stored nowhere, so without resourceVersion."""
    return {**store.completed(obj), "kind": obj["kind"], "apiVersion": collection.api_version}


def _parse_error(body: bytes, problem: ValueError) -> str:
    if "truncated" in str(problem):
        return f"unexpected end of JSON input ({body.decode(errors='replace')})"
    return str(problem)


def _json_type(value: object) -> str:
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else "number"
