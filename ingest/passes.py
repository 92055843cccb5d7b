"""One pass: takes what the readers of a cluster tell until each has ended, and has every batch stored.

Any pass of this process can be stopped within moments: what was not stored is told again to whoever reads the cluster next.
"""

from __future__ import annotations

import gc
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import psycopg
import structlog
from django.db import transaction
from django.db.utils import Error as DatabaseError

from clusters import services as clusters
from clusters.choices import Reach
from clusters.models import ClusterKind
from clusters.services import KindFailure
from dra.catalogue import Statement
from ingest.database import give_back
from ingest.messages import (
    Counted,
    EventArrived,
    Message,
    ReaderCrashed,
    ReaderEnded,
    ReadFailed,
    ReadingDone,
    WindowEnded,
)
from ingest.stopping import is_stopping, stopped_by
from ingest.writing import Writer, ends_batch

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from ingest.channel import Channel
    from ingest.reading import Reader

log = structlog.get_logger()

_BATCH_BYTES: Final = 8 << 20
_BATCH_MESSAGES: Final = 500
_BATCH_SECONDS: Final = 0.25
_QUIET_SECONDS: Final = 0.03
# Whatever ends the wait of a pass wakes it, so this is only how long it would sleep if something did not.
_IDLE_SECONDS: Final = 10.0
_JOIN_SECONDS: Final = 5.0


class Pass:
    """Takes messages until every reader has ended, and has each batch stored."""

    def __init__(
        self,
        cluster_id: int,
        writer: Writer,
        readers: list[Reader],
        clock: Callable[[], datetime],
    ) -> None:
        self._cluster_id = cluster_id
        self._writer = writer
        self._clock = clock
        self._running = {reader.kind for reader in readers}
        # Kinds whose window ended well, and those of which anything could be read.
        self._current: set[str] = set()
        self._answered: set[str] = set()
        self._failure: KindFailure | None = None
        # Codes of `kube.failures`, of all kinds that could not be read.
        self.failure_codes: set[str] = set()
        self._is_stopped = False
        self._readers = readers
        self._threads = [
            threading.Thread(target=reader.run, name=f"read {reader.kind}", daemon=True)
            for reader in readers
        ]

    @property
    def failure(self) -> KindFailure | None:
        """Why the cluster could not be read, if nothing of it could."""
        return None if self._answered else self._failure

    def run(self) -> None:
        """Until all readers have ended, or the pass is stopped. Raises Overtaken."""
        _collect_garbage_rarely()
        if not self._readers:
            while not is_stopping() and self._writer.derive_some():
                pass
            return
        with stopped_by(self.stop):
            for thread in self._threads:
                thread.start()
            try:
                self._take_all()
                if not self._is_stopped:
                    self._finish()
            except psycopg.errors.DiskFull as error:
                self._record_disk_full(error)
            finally:
                give_back()
                self._end_readers()

    def stop(self) -> None:
        """End soon, from any thread; what is being stored is stored."""
        self._is_stopped = True
        self._channel.close()

    @property
    def _channel(self) -> Channel:
        return self._readers[0].channel

    def _finish(self) -> None:
        self._writer.end_windows(self._current)
        while not self._is_stopped and self._writer.derive_some():
            pass
        self._record_reach()

    def _end_readers(self) -> None:
        self._channel.close()
        if self._running:
            self._readers[0].connection.interrupt()
        until = time.monotonic() + _JOIN_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _take_all(self) -> None:
        while self._running and not self._is_stopped:
            give_back()
            batch, last = self._collect(self._channel)
            if batch:
                self._writer.store(batch)
            if last is not None:
                self._note(last)
            if (not batch and last is None) or isinstance(last, Counted):
                self._writer.derive_some()
            self._readers[0].round.is_writer_busy = self._writer.may_derive

    def _collect(self, channel: Channel) -> tuple[list[Message], Message | None]:
        """What belongs into one transaction, and a message that ended the collecting without being stored."""
        batch: list[Message] = []
        size = 0
        wait = 0.0 if self._writer.may_derive else _IDLE_SECONDS
        deadline = time.monotonic() + _BATCH_SECONDS
        while (message := channel.get(timeout=wait)) is not None:
            if isinstance(message, WindowEnded | ReaderCrashed | ReaderEnded):
                return batch, message
            batch.append(message)
            size += message.size if isinstance(message, EventArrived) else 0
            if len(batch) == 1:
                deadline = time.monotonic() + _BATCH_SECONDS
            is_full = size >= _BATCH_BYTES or len(batch) >= _BATCH_MESSAGES
            if ends_batch(message):
                return batch, message
            if is_full or time.monotonic() >= deadline:
                break
            wait = _QUIET_SECONDS
        return batch, None

    def _note(self, message: Message) -> None:
        if isinstance(message, ReaderEnded):
            self._running.discard(message.kind)
        elif isinstance(message, WindowEnded):
            self._current.add(message.kind)
            self._answered.add(message.kind)
        elif isinstance(message, ReadingDone):
            self._answered.add(message.kind)
        elif isinstance(message, ReadFailed):
            self._current.discard(message.kind)
            self._answered.discard(message.kind)
            self._failure = message.failure
            self.failure_codes.add(message.failure.code)
        elif isinstance(message, ReaderCrashed):
            raise message.error

    def _record_reach(self) -> None:
        """The cluster is reachable when anything of it could be read."""
        failure = self.failure
        clusters.record_reach(
            self._cluster_id,
            Reach.OK if failure is None else reach_of(failure.code),
            failure=None if failure is None else failure.statement,
            now=self._clock(),
        )

    def _record_disk_full(self, error: psycopg.errors.DiskFull) -> None:
        """Say so where there is room for it; the cursors have not moved, so nothing is lost that the cluster still tells."""
        log.error("disk full", cluster=self._cluster_id, error=str(error))
        said = KindFailure(clusters.DISK_FULL, Statement("database_full"))
        now = self._clock()
        with suppress(psycopg.OperationalError, DatabaseError), transaction.atomic():
            rows = ClusterKind.objects.select_for_update().filter(
                cluster_id=self._cluster_id, kind__in=[reader.kind for reader in self._readers]
            )
            for row in rows.order_by("kind"):
                clusters.record_failure(row, said, now=now)


def reach_of(code: str) -> Reach:
    """How a failure shows as the reach of its cluster."""
    return Reach(code) if code in Reach.values else Reach.UNREACHABLE


def _collect_garbage_rarely() -> None:
    """Values of the core hold no cycles, and looking for some takes a fifth of the time of a first read."""
    gc.set_threshold(20_000, 20, 50)
