"""The reader of one kind: a full read where there is no cursor, then watch windows, told to the writer as they come.

Runs in a thread of its own. What a full read finds as it is stored is left out here, so that an unchanged cluster costs nothing
further.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from django.db import connection as database

from clusters.services import RELIST, RESTORED, KindFailure
from dra.catalogue import Statement
from ingest.channel import Channel, Closed
from ingest.messages import (
    Counted,
    CursorLost,
    CursorMoved,
    EventArrived,
    ReaderCrashed,
    ReaderEnded,
    ReadFailed,
    ReadingBegan,
    ReadingDone,
    WindowEnded,
)
from kube.digest import body_digest
from kube.failures import Expired, KubeFailure
from kube.kept import Kept, kept_of
from kube.objects import InitialDone, Seen
from kube.watching import is_from_the_future, read_initial, watch_window
from objects import queries
from objects.choices import DELETIONS, Op
from objects.services.log import NewEvent

if TYPE_CHECKING:
    from collections.abc import Callable

    from kube.connect import Connection
    from kube.kinds import ServedResource

# The API server sends no bookmark in shorter windows.
_SHORTEST_WINDOW_SECONDS: Final = 5
_COUNT_EVERY: Final = 500
# A full read is mostly over about as soon as those of the other kinds: to wait so long for them is cheaper than another window.
_WAIT_FOR_OTHERS_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.02
_OPS: Final = {"added": Op.ADDED, "modified": Op.MODIFIED, "deleted": Op.DELETED}


class Round:
    """What the readers of one pass share: until when they go on, and who is in a full read."""

    def __init__(self, *, seconds: float, confirm: Callable[[], None] = lambda: None) -> None:
        self._deadline = time.monotonic() + seconds
        # Raises when another cluster answers than the one whose objects we have; called before everything of a kind is read.
        self.confirm = confirm
        self._reading: set[str] = set()
        # The writer still has figures to derive: readers go on, so that nothing is missed meanwhile.
        self.is_writer_busy = False
        self._lock = threading.Lock()

    def set_reading(self, kind: str, *, is_reading: bool) -> None:
        """Note that a full read of a kind begins or ends."""
        with self._lock:
            (self._reading.add if is_reading else self._reading.discard)(kind)

    @property
    def seconds_left(self) -> float:
        """Until the time is up; negative afterwards."""
        return self._deadline - time.monotonic()

    @property
    def is_over(self) -> bool:
        """Time is up, and nobody is in a full read, or in what follows from it, that others would have to wait for."""
        with self._lock:
            return self.seconds_left <= 0 and not self._reading and not self.is_writer_busy

    def is_over_within(self, seconds: float) -> bool:
        """Whether it is over once the others had so long to come to their end; at once False while there is time left."""
        until = time.monotonic() + seconds
        while not self.is_over:
            if self.seconds_left > 0 or time.monotonic() > until:
                return False
            time.sleep(_LOOK_SECONDS)
        return True


@dataclass(slots=True)
class Reader:
    """Reads one kind of one cluster."""

    connection: Connection
    served: ServedResource
    kept: Kept | None
    cluster_id: int
    resource_version: str
    channel: Channel
    round: Round
    kind: str = field(init=False)

    def __post_init__(self) -> None:
        self.kind = self.served.kind
        if not self.resource_version:
            self.round.set_reading(self.kind, is_reading=True)

    def run(self) -> None:
        """Read until the round is over, or until that fails."""
        try:
            self._read()
        except KubeFailure as failure:
            self._tell_failure(failure)
        except Closed:
            pass
        except BaseException as error:
            self._put_if_open(ReaderCrashed(self.kind, error))
        finally:
            self.round.set_reading(self.kind, is_reading=False)
            self._put_if_open(ReaderEnded(self.kind))
            database.close()

    def _read(self) -> None:
        while True:
            try:
                if self.resource_version:
                    self._watch()
                else:
                    self._read_all()
            except Expired as expired:
                self._lose_cursor(RELIST, expired.statement)
            if self.round.is_over_within(_WAIT_FOR_OTHERS_SECONDS):
                return

    def _read_all(self) -> None:
        self.round.set_reading(self.kind, is_reading=True)
        self.round.confirm()
        self.channel.put(ReadingBegan(self.kind))
        stored = queries.living_digests(self.cluster_id, self.kind)
        database.close()
        seen: set[str] = set()
        for event in read_initial(self.connection, self.served):
            if isinstance(event, InitialDone):
                missing = tuple(stored[uid][2] for uid in stored.keys() - seen)
                self._end_reading(event, frozenset(seen), missing=missing)
            elif isinstance(event, Seen):
                count = len(seen)
                self._compare(event, seen, stored)
                if len(seen) > count and not len(seen) % _COUNT_EVERY:
                    self.channel.put(Counted(self.kind, len(seen)))

    def _compare(
        self,
        event: Seen,
        seen: set[str],
        stored: dict[str, tuple[bytes, int | None, int]],
    ) -> None:
        """Tell the writer of an object that is not as it is stored."""
        before = stored.get(event.uid)
        uid = event.uid if before is not None else str(object_uid(event))
        kept = kept_of(event, self.kept)
        if kept is None or event.type == "deleted":
            # Most of a kind may not be kept: no word of those that never were.
            if uid in seen or event.type == "deleted":
                self.channel.put(EventArrived(self.kind, _gone(event), None))
            seen.discard(uid)
            return
        seen.add(uid)
        digest, generation, content = body_digest(kept)
        if before is not None and before[0] == digest and before[1] == generation:
            return
        op = Op.RESYNC_ADDED if uid not in stored else Op.RESYNC_MODIFIED
        new = _new_event(event, op, digest, generation, content)
        self.channel.put(EventArrived(self.kind, new, None))

    def _end_reading(
        self,
        done: InitialDone,
        seen: frozenset[str],
        *,
        missing: tuple[int, ...],
    ) -> None:
        self.resource_version = done.resource_version
        version, api_version = done.resource_version, self.served.group_version
        self.channel.put(ReadingDone(self.kind, version, api_version, seen, missing))
        self.round.set_reading(self.kind, is_reading=False)

    def _watch(self) -> None:
        began_at = self.resource_version
        seconds = max(_SHORTEST_WINDOW_SECONDS, math.ceil(self.round.seconds_left))
        for event in watch_window(
            self.connection,
            self.served,
            resource_version=self.resource_version,
            timeout_seconds=seconds,
        ):
            self.resource_version = event.resource_version
            if not isinstance(event, Seen):
                self.channel.put(CursorMoved(self.kind, event.resource_version))
            else:
                new = new_event(event, op=_OPS[event.type], kept=self.kept)
                self.channel.put(EventArrived(self.kind, new, event.resource_version))
        # A restored etcd is as silent as a quiet kind, and only of the latter may be said that what is stored is what there is.
        is_silent = self.resource_version == began_at
        if is_silent and is_from_the_future(self.connection, self.served, began_at):
            self._lose_cursor(RESTORED, Statement("server_is_behind"))
        else:
            self.channel.put(WindowEnded(self.kind))

    def _lose_cursor(self, reason: str, failure: Statement | None) -> None:
        self.round.set_reading(self.kind, is_reading=True)
        self.resource_version = ""
        lost = CursorLost(self.kind, reason, failure)
        self.channel.put(lost)
        while not lost.is_stored.wait(0.5):
            if self.channel.is_closed:
                raise Closed

    def _tell_failure(self, failure: KubeFailure) -> None:
        said = KindFailure(failure.code, failure.statement, failure.retry_after_seconds)
        self._put_if_open(ReadFailed(self.kind, said))

    def _put_if_open(self, message: ReadFailed | ReaderCrashed | ReaderEnded) -> None:
        with contextlib.suppress(Closed):
            self.channel.put(message)


def new_event(event: Seen, *, op: Op, kept: Kept | None) -> NewEvent:
    """What the log is told of an object; of one that is not kept that it is gone, which is no news if it never was kept."""
    kept_part = None if op in DELETIONS else kept_of(event, kept)
    return _gone(event) if kept_part is None else _new_event(event, op, *body_digest(kept_part))


def _gone(event: Seen) -> NewEvent:
    return _new_event(event, Op.DELETED, bytes(16), None, b"")


def _new_event(
    event: Seen, op: Op, digest: bytes, generation: int | None, content: bytes
) -> NewEvent:
    return NewEvent(
        op=op,
        kind=event.kind,
        uid=object_uid(event),
        namespace=event.namespace or "",
        name=event.name,
        api_version=event.api_version,
        resource_version=event.resource_version,
        digest=uuid.UUID(bytes=digest),
        generation=generation if generation is None or -(2**63) <= generation < 2**63 else None,
        content=content,
    )


def object_uid(event: Seen) -> uuid.UUID:
    """The uid; for an object whose uid is none, one made of its name."""
    try:
        return uuid.UUID(event.uid)
    except ValueError:
        return uuid.uuid5(uuid.NAMESPACE_OID, f"{event.kind}/{event.namespace}/{event.name}")
