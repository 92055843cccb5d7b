"""Connections to API servers that this process keeps from one window to the next.

To make one reads files, runs a credential plugin, perhaps, and shakes hands over TLS; with a hundred clusters that is most of what an
idle window costs. A connection is made anew when the files have changed, when a failure tells that something is another than it was,
and now and then in any case.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clusters import services as clusters
from kube.connect import Connection, connect
from kube.logins import files_of

if TYPE_CHECKING:
    from clusters.models import Cluster
    from kube.targets import Target

_LONGEST_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class _Kept:
    connection: Connection
    target: Target
    files: object
    made_at: float


_kept: Final[dict[int, _Kept]] = {}
_lock: Final = threading.Lock()


def connection_to(cluster: Cluster) -> tuple[Connection, bool]:
    """A connection, and whether it is new: then it has to be found out which cluster answers. Raises KubeFailure."""
    target = clusters.target_of(cluster)
    files = files_of(target)
    with _lock:
        _close_old()
        kept = _kept.get(cluster.pk)
    if kept is not None and (kept.target, kept.files) == (target, files):
        return kept.connection, False
    forget(cluster.pk)
    made = _Kept(connect(target), target, files, time.monotonic())
    with _lock:
        _kept[cluster.pk] = made
    return made.connection, True


def forget(cluster_id: int) -> None:
    """The next one is made anew."""
    with _lock:
        kept = _kept.pop(cluster_id, None)
    if kept is not None:
        kept.connection.close()


def _close_old() -> None:
    """Also those of clusters that are read no more, or by another worker."""
    oldest = time.monotonic() - _LONGEST_SECONDS
    for cluster_id in [pk for pk, kept in _kept.items() if kept.made_at < oldest]:
        _kept.pop(cluster_id).connection.close()
