"""What is stored, and what changed in which order: the part that etcd and the watch cache play.

One revision counts every write to the whole cluster. Each kind keeps its events from `history_start` on; a watch from an
older revision is told so.
"""

import bisect
import random
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from simulator import encoding, statuses
from simulator.kinds import RESOURCES, Resource

EventType = Literal["ADDED", "MODIFIED", "DELETED"]

# As an API server does, which keeps 75 s of events at least and so many at most; here for longer, in real time.
_EVENTS_KEPT: Final = 100_000
_FEWEST_EVENTS_KEPT: Final = 100
_EVENT_SECONDS_KEPT: Final = 300.0
LOG_KEPT: Final = 500_000


class LogLine(NamedTuple):
    """One line of the ground truth. `name` is `namespace/name` for kinds that live in namespaces."""

    type: EventType
    kind: str
    name: str
    resource_version: int


@dataclass(frozen=True, slots=True)
class Stored:
    """An object at one version, encoded."""

    kind: str
    key: str
    name: str
    namespace: str
    uid: str
    resource_version: int
    body: bytes
    labels: Mapping[str, str]
    fields: Mapping[str, str]
    finalizers: tuple[str, ...]
    is_deleting: bool

    def decoded(self) -> dict[str, Any]:
        obj: dict[str, Any] = encoding.decode(self.body)
        return obj


class Event(NamedTuple):
    """`before` is what the event replaced; selectors need it. `at` is when, on the monotonic clock."""

    resource_version: int
    type: EventType
    stored: Stored
    before: Stored | None
    at: float


@dataclass(slots=True)
class _Collection:
    objects: dict[str, Stored] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    # A watch from below is told that it is too old.
    history_start: int = 0
    # How far the watch cache knows itself to be; moves with events and consistent reads only.
    cache_version: int = 0


class Snapshot(NamedTuple):
    """A collection at one revision, in key order."""

    resource_version: int
    items: list[Stored]


class Store:
    """Thread-safe. `changed` is notified after every write."""

    def __init__(
        self,
        *,
        stamp: Callable[[], str],
        seed: int,
        first_revision: int,
        log_kept: int = LOG_KEPT,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.log: list[LogLine] = []
        self.revision = first_revision
        self._stamp = stamp
        self._log_kept = log_kept
        self._monotonic = monotonic
        self._random = random.Random(f"store {seed}")  # noqa: S311 -- repeatable, not secret
        self._collections = {
            kind: _Collection(history_start=first_revision, cache_version=first_revision)
            for kind in RESOURCES
        }

    def get(self, kind: str, key: str) -> Stored | None:
        with self.changed:
            return self._collections[kind].objects.get(key)

    def items(self, kind: str) -> list[Stored]:
        return self.snapshot(kind).items

    def snapshot(self, kind: str, *, is_consistent: bool = True) -> Snapshot:
        """All objects of a kind. A consistent read brings the watch cache up to the whole cluster's revision."""
        with self.changed:
            collection = self._collections[kind]
            if is_consistent:
                collection.cache_version = self.revision
            items = [collection.objects[key] for key in sorted(collection.objects)]
            return Snapshot(collection.cache_version, items)

    def snapshot_at(self, kind: str, revision: int) -> Snapshot | None:
        """All objects as they were; None when that is no longer known."""
        with self.changed:
            collection = self._collections[kind]
            if revision < collection.history_start:
                return None
            objects = dict(collection.objects)
            for event in reversed(self._events_after(collection, revision)):
                if event.before is None:
                    objects.pop(event.stored.key, None)
                else:
                    objects[event.stored.key] = event.before
            return Snapshot(revision, [objects[key] for key in sorted(objects)])

    def history_start(self, kind: str) -> int:
        with self.changed:
            return self._collections[kind].history_start

    def cache_version(self, kind: str) -> int:
        with self.changed:
            return self._collections[kind].cache_version

    def last_change(self, kind: str) -> int:
        """The revision of the latest event of a kind that is remembered; 0 when there is none."""
        with self.changed:
            events = self._collections[kind].events
            return events[-1].resource_version if events else 0

    def notice_progress(self, kind: str) -> None:
        """What etcd's progress notification does: an idle kind learns the cluster's revision."""
        with self.changed:
            self._collections[kind].cache_version = self.revision

    def events_after(self, kind: str, revision: int) -> list[Event]:
        with self.changed:
            return self._events_after(self._collections[kind], revision)

    @staticmethod
    def _events_after(collection: _Collection, revision: int) -> list[Event]:
        first = bisect.bisect_right(
            collection.events, revision, key=lambda event: event.resource_version
        )
        return collection.events[first:]

    def put(self, obj: Mapping[str, Any], *, must_be: EventType | None = None) -> Stored:
        """Create or replace. Nothing is written, and nobody told, when nothing changes.

        An object with another uid than the one stored is another object: the old one is deleted first.
        """
        resource = RESOURCES[obj["kind"]]
        with self.changed:
            metadata = dict(obj["metadata"])
            key = key_of(resource, metadata)
            before = self._collections[resource.kind].objects.get(key)
            if before and must_be == "ADDED":
                raise statuses.already_exists(resource, metadata["name"])
            if not before and must_be == "MODIFIED":
                raise statuses.not_found(resource, metadata["name"])
            if before and metadata.get("uid", before.uid) != before.uid:
                self.delete(resource.kind, key, is_forced=True)
                before = None
            return self._write(resource, {**obj, "metadata": metadata}, before)

    def _write(self, resource: Resource, obj: dict[str, Any], before: Stored | None) -> Stored:
        metadata = obj["metadata"]
        old = before.decoded() if before else None
        self._complete(resource, obj, old)
        if before and old is not None:
            metadata["resourceVersion"] = str(before.resource_version)
            unchanged = {**obj, "kind": None, "apiVersion": None}
            if {**old, "kind": None, "apiVersion": None} == unchanged:
                return before
        revision = self.revision + 1
        metadata["resourceVersion"] = str(revision)
        stored = _stored(resource, obj, revision)
        if stored.is_deleting and not stored.finalizers:
            return self._record("DELETED", stored, before or stored)
        return self._record("MODIFIED" if before else "ADDED", stored, before)

    def _complete(
        self, resource: Resource, obj: dict[str, Any], old: dict[str, Any] | None
    ) -> None:
        metadata = obj["metadata"]
        known = old["metadata"] if old else {}
        metadata.pop("resourceVersion", None)
        metadata["uid"] = known.get("uid") or metadata.get("uid") or self._uid()
        created = known.get("creationTimestamp") or metadata.get("creationTimestamp")
        metadata["creationTimestamp"] = created or self._stamp()
        if "deletionTimestamp" in known:
            metadata.setdefault("deletionTimestamp", known["deletionTimestamp"])
        if resource.has_generation:
            if old is None:
                metadata.setdefault("generation", 1)
            else:
                is_same = old.get("spec") == obj.get("spec")
                metadata["generation"] = known.get("generation", 1) + (0 if is_same else 1)

    def completed(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        """What a create would store, without storing it."""
        made = {**obj, "metadata": dict(obj["metadata"])}
        with self.changed:
            self._complete(RESOURCES[obj["kind"]], made, None)
        return made

    def _uid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def delete(self, kind: str, key: str, *, is_forced: bool = False) -> Stored | None:
        """Delete, or mark as being deleted what still has finalizers. None when there is no such object."""
        with self.changed:
            before = self._collections[kind].objects.get(key)
            if before is None:
                return None
            if before.finalizers and not is_forced:
                return self._mark_deleted(before)
            revision = self.revision + 1
            body = encoding.with_resource_version(
                before.body, old=before.resource_version, new=revision
            )
            return self._record("DELETED", _replaced(before, body, revision), before)

    def _mark_deleted(self, before: Stored) -> Stored:
        obj = {"kind": before.kind, **before.decoded()}
        stamp = obj["metadata"].get("deletionTimestamp") or self._stamp()
        obj["metadata"]["deletionTimestamp"] = stamp
        obj["metadata"]["deletionGracePeriodSeconds"] = 0
        return self._write(RESOURCES[before.kind], obj, before)

    def _record(self, type_: EventType, stored: Stored, before: Stored | None) -> Stored:
        collection = self._collections[stored.kind]
        self.revision = collection.cache_version = stored.resource_version
        if type_ == "DELETED":
            collection.objects.pop(stored.key, None)
        else:
            collection.objects[stored.key] = stored
        now = self._monotonic()
        collection.events.append(Event(stored.resource_version, type_, stored, before, now))
        self.log.append(LogLine(type_, stored.kind, stored.key, stored.resource_version))
        self._trim(collection, now=now)
        self.changed.notify_all()
        return stored

    def _trim(self, collection: _Collection, *, now: float) -> None:
        """Once as much again has gathered as is kept, so that it costs nothing worth naming."""
        events = collection.events
        is_old = now - events[0].at > 2 * _EVENT_SECONDS_KEPT
        if len(events) > 2 * _EVENTS_KEPT or (is_old and len(events) > 2 * _FEWEST_EVENTS_KEPT):
            old = bisect.bisect_left(events, now - _EVENT_SECONDS_KEPT, key=lambda event: event.at)
            count = min(max(old, len(events) - _EVENTS_KEPT), len(events) - _FEWEST_EVENTS_KEPT)
            collection.history_start = max(
                collection.history_start, events[count - 1].resource_version
            )
            del events[:count]
        if len(self.log) > 2 * self._log_kept:
            del self.log[: len(self.log) - self._log_kept]

    def forget_history(self) -> None:
        """As after a start of the API server: every revision before this one is too old."""
        with self.changed:
            for collection in self._collections.values():
                collection.history_start = collection.cache_version = self.revision

    def restore(self, revision: int) -> None:
        """Go back to an older revision, as etcd does when a backup is restored: later writes never were.

        The ground truth in `log` loses them too. Revisions are given out again from there.
        """
        with self.changed:
            for kind, collection in self._collections.items():
                then = self.snapshot_at(kind, revision)
                if then is None:
                    message = f"the {kind} objects of revision {revision} are no longer known"
                    raise ValueError(message)
                collection.objects = {stored.key: stored for stored in then.items}
                collection.events = [e for e in collection.events if e[0] <= revision]
            self.log[:] = [change for change in self.log if change.resource_version <= revision]
            self.revision = revision
            self.forget_history()
            self.changed.notify_all()


def key_of(resource: Resource, metadata: Mapping[str, Any]) -> str:
    name: str = metadata["name"]
    if not resource.is_namespaced:
        return name
    return f"{metadata['namespace']}/{name}"


def _stored(resource: Resource, obj: Mapping[str, Any], revision: int) -> Stored:
    metadata = obj["metadata"]
    return Stored(
        kind=resource.kind,
        key=key_of(resource, metadata),
        name=metadata["name"],
        namespace=metadata.get("namespace", ""),
        uid=metadata["uid"],
        resource_version=revision,
        body=encoding.encode_body(obj),
        labels=dict(metadata.get("labels") or {}),
        fields={label: _field(obj, label) for label in _labels(resource)},
        finalizers=tuple(metadata.get("finalizers") or ()),
        is_deleting="deletionTimestamp" in metadata,
    )


def _replaced(before: Stored, body: bytes, revision: int) -> Stored:
    return Stored(
        before.kind, before.key, before.name, before.namespace, before.uid, revision, body,
        before.labels, before.fields, before.finalizers, before.is_deleting,
    )  # fmt: skip


def _labels(resource: Resource) -> tuple[str, ...]:
    return ("metadata.name", "metadata.namespace", *resource.selectable)


def _field(obj: Mapping[str, Any], label: str) -> str:
    value: Any = obj
    for part in label.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""
