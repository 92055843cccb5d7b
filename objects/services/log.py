"""Events of objects: the log grows, the table of objects follows, bodies are stored once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from kube.kinds import KINDS
from objects.choices import DELETIONS, Op
from objects.queries import Version
from objects.services import bodies
from objects.services.staging import Cursor, as_text, copy_rows, stage_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

_TICK: Final = timedelta(microseconds=1)

# First number of the advisory locks by which storing bodies and removing orphans of one cluster keep apart.
BODIES_LOCK: Final = 0x6F62_6F64

_EVENT: Final = {
    "cluster_id": "int8",
    "object_id": "int8",
    "at": "timestamptz",
    "kind": "int2",
    "op": "int2",
    "resource_version": "text",
    "digest": "uuid",
    "generation": "int8",
}
_OBJECT: Final = {
    "id": "int8",
    "kind": "text",
    "uid": "uuid",
    "namespace": "text",
    "name": "text",
    "api_version": "text",
    "resource_version": "text",
    "digest": "uuid",
    "generation": "int8",
    "first_seen_at": "timestamptz",
    "changed_at": "timestamptz",
    "deleted_at": "timestamptz",
}
_MERGE: Final = """
INSERT INTO objects_kubeobject AS o (
    cluster_id, id, kind, uid, namespace, name, api_version, resource_version, digest, generation,
    first_seen_at, changed_at, deleted_at
)
SELECT %s, id, kind, uid, namespace, name, api_version, resource_version, digest, generation,
    first_seen_at, changed_at, deleted_at
FROM pg_temp.staged_object
ON CONFLICT (cluster_id, kind, uid) DO UPDATE SET
    namespace = excluded.namespace, name = excluded.name, api_version = excluded.api_version,
    resource_version = excluded.resource_version, digest = excluded.digest,
    generation = excluded.generation, changed_at = excluded.changed_at,
    deleted_at = excluded.deleted_at
"""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """What the server said of one object, to be stored if it is news. Of a deletion only who it was matters."""

    op: Op
    kind: str
    uid: UUID
    namespace: str
    name: str
    api_version: str
    resource_version: str
    digest: UUID
    generation: int | None
    content: bytes

    @property
    def is_deletion(self) -> bool:
        return self.op in DELETIONS


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An object that is now another than before the batch. `before` or `after` is None when it was, or is, not live."""

    object_id: int
    before: Version | None
    after: Version | None
    event: NewEvent
    """The latest one; its content is that of `after`."""


@dataclass(slots=True)
class _State:
    object_id: int
    version: Version
    changed_at: datetime | None
    is_live: bool
    before: Version | None
    first_seen_at: datetime
    # The body that it has, or had last, before this batch.
    stored: UUID | None
    latest: NewEvent | None = None


def record_events(
    cursor: Cursor, cluster_id: int, events: Sequence[NewEvent], *, now: datetime
) -> list[ObjectChange]:
    """Store what is new in `events`, which are in the order in which they came.

    An event that says what is stored already leaves no trace, so that a batch may be given twice.
    """
    states = _load(cursor, cluster_id, events)
    new_uids = {(c.kind, c.uid) for c in events} - states.keys()
    ids = iter(_allocate_ids(cursor, len(new_uids)))
    log_rows: list[tuple[Any, ...]] = []
    contents: dict[UUID, bodies.NewBody] = {}
    for event in events:
        state = states.get((event.kind, event.uid))
        if not _is_news(state, event):
            continue
        if state is None:
            version = Version(event.digest, event.generation)
            state = _State(
                next(ids),
                version,
                None,
                is_live=False,
                before=None,
                first_seen_at=now,
                stored=None,
            )
            states[event.kind, event.uid] = state
        log_rows.append(_apply(state, event, cluster_id=cluster_id, now=now))
        if not event.is_deletion:
            group = bodies.group_of(event.kind, event.content)
            contents[event.digest] = bodies.NewBody(
                event.digest, group, event.content, before=state.stored
            )
    if not log_rows:
        return []
    _lock_bodies(cursor, cluster_id)
    bodies.store_bodies(cursor, cluster_id, contents, now=now)
    copy_rows(cursor, "objects_objectevent", _EVENT, log_rows)
    changed = [(state, state.latest) for state in states.values() if state.latest is not None]
    rows = (_object_row(state, event) for state, event in changed)
    stage_rows(cursor, "staged_object", _OBJECT, rows)
    cursor.execute(_MERGE, (cluster_id,))
    return [_object_change(state, event) for state, event in changed]


def record_missing(
    cursor: Cursor, cluster_id: int, object_ids: Sequence[int], *, now: datetime
) -> list[ObjectChange]:
    """Objects that a full read did not find any more."""
    if not object_ids:
        return []
    cursor.execute(
        "SELECT kind, uid, namespace, name, api_version, resource_version, digest, generation"
        " FROM objects_kubeobject WHERE cluster_id = %s AND id = ANY(%s) AND deleted_at IS NULL",
        (cluster_id, list(object_ids)),
        binary=True,
    )
    events = [_missing(row) for row in cursor.fetchall()]
    return record_events(cursor, cluster_id, events, now=now)


def _missing(row: tuple[Any, ...]) -> NewEvent:
    kind, uid, namespace, name, api_version, resource_version, digest, generation = row
    return NewEvent(
        op=Op.RESYNC_DELETED,
        kind=kind,
        uid=uid,
        namespace=namespace,
        name=name,
        api_version=api_version,
        resource_version=resource_version,
        digest=digest,
        generation=generation,
        content=b"",
    )


def _load(
    cursor: Cursor, cluster_id: int, events: Sequence[NewEvent]
) -> dict[tuple[str, UUID], _State]:
    uids: dict[str, set[UUID]] = defaultdict(set)
    for event in events:
        uids[event.kind].add(event.uid)
    states = {}
    for kind, wanted in uids.items():
        cursor.execute(
            "SELECT uid, id, digest, generation, changed_at, deleted_at IS NULL FROM objects_kubeobject"
            " WHERE cluster_id = %s AND kind = %s AND uid = ANY(%s)",
            (cluster_id, kind, list(wanted)),
            binary=True,
        )
        for uid, object_id, digest, generation, changed_at, is_live in cursor.fetchall():
            version = Version(digest, generation)
            before = version if is_live else None
            states[kind, uid] = _State(
                object_id, version, changed_at, is_live, before, changed_at, stored=digest
            )
    return states


def _allocate_ids(cursor: Cursor, count: int) -> list[int]:
    if not count:
        return []
    cursor.execute(
        "SELECT nextval('objects_kubeobject_id_seq') FROM generate_series(1, %s)", (count,)
    )
    return [number for (number,) in cursor.fetchall()]


def _is_news(state: _State | None, event: NewEvent) -> bool:
    if event.is_deletion:
        return state is not None and state.is_live
    if state is None or not state.is_live:
        return True
    return state.version != Version(event.digest, event.generation)


def _apply(state: _State, event: NewEvent, *, cluster_id: int, now: datetime) -> tuple[Any, ...]:
    """The row of the log. Its moment is later than that of the object's latest event, whatever the clock says."""
    at = now if state.changed_at is None else max(now, state.changed_at + _TICK)
    if not event.is_deletion:
        state.version = Version(event.digest, event.generation)
    state.changed_at = at
    state.is_live = not event.is_deletion
    state.latest = event
    version = None if event.is_deletion else state.version
    return (
        cluster_id,
        state.object_id,
        at,
        KINDS[event.kind].number,
        event.op,
        as_text(event.resource_version),
        version and version.digest,
        version and version.generation,
    )


def _object_row(state: _State, event: NewEvent) -> tuple[Any, ...]:
    return (
        state.object_id,
        event.kind,
        event.uid,
        as_text(event.namespace),
        as_text(event.name),
        as_text(event.api_version),
        as_text(event.resource_version),
        state.version.digest,
        state.version.generation,
        state.first_seen_at,
        state.changed_at,
        None if state.is_live else state.changed_at,
    )


def _object_change(state: _State, event: NewEvent) -> ObjectChange:
    after = state.version if state.is_live else None
    return ObjectChange(state.object_id, state.before, after, event)


def _lock_bodies(cursor: Cursor, cluster_id: int) -> None:
    cursor.execute(
        "SELECT pg_advisory_xact_lock_shared(%s, %s)", (BODIES_LOCK, cluster_id & 0x7FFF_FFFF)
    )
