"""The writer: takes what readers tell in small batches, and stores each batch with its cursors in one transaction."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from clusters import registry
from clusters import services as clusters
from clusters.choices import POOLS, ReadState
from clusters.models import Cluster, ClusterKind
from dra.words import statement_words
from ingest.messages import (
    Counted,
    CursorLost,
    CursorMoved,
    EventArrived,
    Message,
    ReadFailed,
    ReadingBegan,
    ReadingDone,
)
from kube.capabilities import Capabilities
from kube.kinds import DEVICE_TAINT_RULE, RESOURCE_CLAIM, RESOURCE_SLICE
from objects import queries
from objects.services.changes import RowChanges
from objects.services.living import living_objects
from objects.services.log import ObjectChange, record_events, record_missing
from objects.services.staging import Cursor, open_cursor
from pools.models import DirtyPool
from pools.services import derive
from pools.services import taint_rules as rules
from pools.services.tables import SLICES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from clusters.registry import WatchedKind
    from dra.values import PoolKey, Release, TaintRule

_POOLS_AT_ONCE: Final = 128
_OBJECTS_AT_ONCE: Final = 500


@dataclass(slots=True)
class Tally:
    """What one pass did to one kind, for people."""

    changes: int = 0
    read: int | None = None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class _Batch:
    """What is written in one transaction."""

    cursor: Cursor
    changes: RowChanges
    # Whose revisions are to rise.
    subjects: set[str]


@dataclass(slots=True)
class Writer:
    """Holds, between batches, where each cursor is and what figures are computed from."""

    cluster_id: int
    clock: Callable[[], datetime]
    served: frozenset[str]
    release: Release | None
    cursors: dict[str, str]
    reading: set[str]
    # Kinds that were never read to the end.
    first_reads: set[str]
    # Kinds whose rows are made in another way by now.
    outdated: frozenset[str] = frozenset()
    tallies: dict[str, Tally] = field(default_factory=dict)
    _knowledge: derive.Knowledge | None = None
    _has_dirty: bool = False

    def begin(self) -> None:
        """Take up what is known already."""
        self._knowledge = self._read_knowledge(())
        for entry in registry.watched_kinds():
            if entry.name in self.outdated:
                self._record_anew(entry)
        self._has_dirty = DirtyPool.objects.filter(cluster_id=self.cluster_id).exists()

    def _record_anew(self, entry: WatchedKind) -> None:
        """Make the rows of a kind anew from what the log has of its living objects."""
        with self._batch(entry.name, POOLS) as batch:
            row = clusters.lock_kinds(self.cluster_id, {entry.name: self.cursors[entry.name]})[
                entry.name
            ]
            now = self.clock()
            for living in living_objects(self.cluster_id, entry.name, at_once=_OBJECTS_AT_ONCE):
                if entry.record is not None:
                    touched = entry.record(
                        batch.cursor, self.cluster_id, living, now=now, changes=batch.changes
                    )
                    derive.mark_dirty(batch.cursor, self.cluster_id, touched)
            clusters.note_recorded(row, record_version=entry.record_version)

    @contextmanager
    def _batch(self, *subjects: str) -> Iterator[_Batch]:
        """A transaction: before it commits, consumers get its changes, and revisions rise."""
        with (
            clusters.raising_revisions(self.cluster_id, *subjects) as touched,
            open_cursor() as cursor,
        ):
            changes = RowChanges(self.cluster_id)
            yield _Batch(cursor, changes, touched)
            touched |= changes.hand_over(cursor)

    def set_not_served(self, kind: str) -> None:
        """The cluster does not have this kind."""
        with self._batch() as batch:
            row = clusters.lock_kinds(self.cluster_id, {kind: self.cursors[kind]})[kind]
            now = self.clock()
            clusters.record_not_served(row, now=now)
            self._follow(batch, (), now=now)

    def store(self, messages: Sequence[Message]) -> None:
        """One batch: changes of any kinds, and at most one of the other messages, as the last."""
        last = messages[-1]
        if isinstance(last, ReadingBegan | Counted) and last.kind not in self.first_reads:
            # Progress is shown of a first read alone, so that a later one of an unchanged cluster writes nothing.
            messages = messages[:-1]
            if isinstance(last, ReadingBegan):
                self.reading.add(last.kind)
            if not messages:
                return
        kinds = {message.kind for message in messages}
        with self._batch() as batch:
            rows = clusters.lock_kinds(self.cluster_id, {k: self.cursors[k] for k in kinds})
            now = self.clock()
            changed = self._store_events(batch.cursor, rows, messages, now=now)
            missing = self._store_last(batch.cursor, rows, messages[-1], now=now)
            self._follow(batch, [*changed, *missing], now=now)
        self._committed(rows, [*changed, *missing], messages[-1])

    def _store_events(
        self,
        cursor: Cursor,
        rows: dict[str, ClusterKind],
        messages: Sequence[Message],
        *,
        now: datetime,
    ) -> list[ObjectChange]:
        changed = record_events(
            cursor,
            self.cluster_id,
            [each.event for each in messages if isinstance(each, EventArrived)],
            now=now,
        )
        for kind, row in rows.items():
            mine = [each for each in changed if each.event.kind == kind]
            version = _latest_version(kind, messages)
            if version is None:
                continue
            clusters.move_cursor(
                row,
                resource_version=version,
                has_changed=bool(mine),
                count=_difference(mine),
                now=now,
            )
        return changed

    def _store_last(
        self, cursor: Cursor, rows: dict[str, ClusterKind], last: Message, *, now: datetime
    ) -> list[ObjectChange]:
        row = rows[last.kind]
        missing: list[ObjectChange] = []
        if isinstance(last, ReadingBegan):
            clusters.begin_reading(row, now=now)
        elif isinstance(last, Counted):
            clusters.count_reading(row, last.count)
        elif isinstance(last, ReadingDone):
            missing = self._end_reading(cursor, row, last, now=now)
        elif isinstance(last, CursorLost):
            clusters.forget_cursor(row, reason=last.reason, failure=last.failure, now=now)
        elif isinstance(last, ReadFailed):
            clusters.record_failure(row, last.failure, now=now)
        if isinstance(last, ReadingDone | ReadFailed):
            self.reading.discard(last.kind)
        elif isinstance(last, ReadingBegan | CursorLost):
            self.reading.add(last.kind)
        return missing

    def _end_reading(
        self, cursor: Cursor, row: ClusterKind, done: ReadingDone, *, now: datetime
    ) -> list[ObjectChange]:
        """Everything was met: what is stored as living and was not met is gone."""
        missing = record_missing(cursor, self.cluster_id, done.missing, now=now)
        if queries.living_count(self.cluster_id, done.kind) != len(done.seen):
            # Somebody else has stored objects since the reader looked: what it did not meet is gone as well.
            living = queries.living_versions(self.cluster_id, done.kind)
            gone = [living[uid][2] for uid in living.keys() - done.seen]
            missing += record_missing(cursor, self.cluster_id, gone, now=now)
        tally = self.tallies.get(done.kind)
        clusters.end_reading(
            row,
            resource_version=done.resource_version,
            count=len(done.seen),
            api_version=done.api_version,
            has_changed=bool(missing) or bool(tally and tally.changes),
            now=now,
        )
        return missing

    def _follow(self, batch: _Batch, changed: Sequence[ObjectChange], *, now: datetime) -> None:
        """Bring rows and figures up to date with what has changed."""
        cursor = batch.cursor
        batch.subjects.update(each.event.kind for each in changed)
        dirty = self._record(batch, changed, now=now)
        before, self._knowledge = self._knowledge, self._read_knowledge(changed)
        if before is not None and _differ(before, self._knowledge):
            derive.mark_all_dirty(cursor, self.cluster_id)
            self._has_dirty = True
        if dirty:
            batch.subjects.add(POOLS)
        if dirty and self.is_settled:
            derive.derive_pools(
                cursor, self.cluster_id, dirty, self._knowledge, now=now, changes=batch.changes
            )
            batch.subjects.update(_subjects_of(batch.changes))
        elif dirty:
            derive.mark_dirty(cursor, self.cluster_id, dirty)
            self._has_dirty = True

    def _record(
        self, batch: _Batch, changed: Sequence[ObjectChange], *, now: datetime
    ) -> set[PoolKey]:
        """Bring the rows of each kind up to date; returns the pools whose figures may be others now."""
        by_kind: dict[str, list[ObjectChange]] = {}
        for each in changed:
            by_kind.setdefault(each.event.kind, []).append(each)
        touched: set[PoolKey] = set()
        for entry in registry.watched_kinds():
            if entry.record is not None and entry.name in by_kind:
                touched |= entry.record(
                    batch.cursor,
                    self.cluster_id,
                    by_kind[entry.name],
                    now=now,
                    changes=batch.changes,
                )
        return touched

    @property
    def is_settled(self) -> bool:
        """Figures may be derived: nothing that they need is in the middle of a full read."""
        return self.reading.isdisjoint(registry.figure_kinds())

    def _read_knowledge(self, changed: Sequence[ObjectChange]) -> derive.Knowledge:
        """What figures can be derived from, as the database has it within this transaction."""
        has_new_rules = any(each.event.kind == DEVICE_TAINT_RULE.name for each in changed)
        old = None if has_new_rules else self._knowledge
        return read_knowledge(
            self.cluster_id, served=self.served, release=self.release, previous=old
        )

    def _committed(
        self,
        rows: dict[str, ClusterKind],
        changed: Sequence[ObjectChange],
        last: Message,
    ) -> None:
        for kind, row in rows.items():
            self.cursors[kind] = row.resource_version
        for each in changed:
            self.tally(each.event.kind).changes += 1
        if isinstance(last, CursorLost):
            last.is_stored.set()
        elif isinstance(last, ReadingDone):
            self.tally(last.kind).read = len(last.seen)
            self.first_reads.discard(last.kind)
        elif isinstance(last, ReadFailed):
            self.tally(last.kind).failure = statement_words(last.failure.statement)

    def tally(self, kind: str) -> Tally:
        """What this pass did to a kind so far."""
        return self.tallies.setdefault(kind, Tally())

    @property
    def may_derive(self) -> bool:
        """Whether pools may be waiting that could be derived now."""
        return self._has_dirty and self.is_settled

    def derive_some(self) -> bool:
        """Derive a part of the pools that wait for it; whether any did."""
        if not self.may_derive:
            return False
        with self._batch() as batch:
            needed = registry.figure_kinds()
            clusters.lock_kinds(
                self.cluster_id,
                {kind: self.cursors[kind] for kind in needed if kind in self.cursors},
            )
            keys = derive.take_dirty(batch.cursor, self.cluster_id, limit=_POOLS_AT_ONCE)
            self._learn_capabilities()
            self._knowledge = self._read_knowledge(())
            derive.derive_pools(
                batch.cursor,
                self.cluster_id,
                keys,
                self._knowledge,
                now=self.clock(),
                changes=batch.changes,
            )
            if keys:
                batch.subjects.update((POOLS, *_subjects_of(batch.changes)))
        self._has_dirty = len(keys) == _POOLS_AT_ONCE
        return bool(keys)

    def _learn_capabilities(self) -> None:
        """Others may have been found since the pass began. Whoever stores them marks all pools in the same transaction.

        So this comes after pools were taken: those are derived from what they were marked for.
        """
        stored = Cluster.objects.values_list("capabilities", flat=True).get(pk=self.cluster_id)
        if stored is not None:
            capabilities = Capabilities.from_json(stored)
            self.served = frozenset(capabilities.resources)
            self.release = capabilities.release

    def end_windows(self, kinds: set[str]) -> None:
        """These kinds are as the server has them: their windows ended well."""
        if not kinds:
            return
        with self._batch() as batch:
            now = self.clock()
            cursors = {kind: self.cursors[kind] for kind in kinds}
            clusters.record_current(self.cluster_id, cursors, now=now)
            clusters.close_gaps(self.cluster_id, sorted(kinds), now=now)
            # Nothing has changed when a kind can be read again, but figures can be derived from it once more.
            self._follow(batch, (), now=now)


def read_knowledge(
    cluster_id: int,
    *,
    served: frozenset[str],
    release: Release | None,
    previous: derive.Knowledge | None = None,
) -> derive.Knowledge:
    """What figures of this cluster can be derived from. Taint rules are taken from `previous`, if given, instead of read again."""
    states = dict(
        ClusterKind.objects.filter(
            cluster_id=cluster_id, kind__in=registry.figure_kinds(), last_synced_at__isnull=False
        ).values_list("kind", "state")
    )
    known = {k for k, s in states.items() if s in {ReadState.WATCHING, ReadState.FAILING}}
    taint_rules: tuple[TaintRule, ...] | None
    if DEVICE_TAINT_RULE.name not in known:
        taint_rules = None if DEVICE_TAINT_RULE.name in served else ()
    elif previous is None or previous.taint_rules is None:
        taint_rules = rules.taint_rules(cluster_id)
    else:
        taint_rules = previous.taint_rules
    return derive.Knowledge(RESOURCE_CLAIM.name in known, taint_rules, release)


def _subjects_of(derived: RowChanges) -> tuple[str, ...]:
    """Subjects beside pools: deriving a pool also writes what its slices hold, which pages of slices show."""
    return (RESOURCE_SLICE.name,) if SLICES.name in derived.tables else ()


def _latest_version(kind: str, messages: Sequence[Message]) -> str | None:
    for message in reversed(messages):
        if message.kind == kind and isinstance(message, EventArrived | CursorMoved):
            return message.resource_version
    return None


def _difference(changed: Sequence[ObjectChange]) -> int:
    return sum(bool(each.after) - bool(each.before) for each in changed)


def _differ(before: derive.Knowledge, after: derive.Knowledge) -> bool:
    """Whether something that was known is not any more, or the other way round: then every figure may change."""
    return (before.are_claims_known, before.taint_rules is None, before.release) != (
        after.are_claims_known,
        after.taint_rules is None,
        after.release,
    )


def ends_batch(message: Message) -> bool:
    """Whether a batch has to end with this message."""
    return not isinstance(message, EventArrived | CursorMoved)
