"""Why devices are unavailable: the taints that keep claims away, and who set them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from dra.tainting import BLOCKING_EFFECTS
from ui.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class UnavailableDevices:
    """The unavailable devices of one driver in one cluster that have a taint of one key."""

    cluster_id: int
    driver: str
    taint_key: str
    effects: Sequence[str]
    # DeviceTaintRules that set it; where none did, the driver publishes it.
    rules: Sequence[str]
    devices: int
    # Nodes that alone can use these devices, and the name of the first.
    nodes: int
    first_node: str | None
    # When the first of these taints was set; None: no taint says.
    tainted_at: datetime | None


# A taint's time is text that a driver wrote: what is no time is left out, rather than that the page fails.
_REASONS = """
SELECT d.cluster_id, d.driver, taint->>'key',
    array_agg(DISTINCT taint->>'effect' ORDER BY taint->>'effect'),
    coalesce(array_agg(DISTINCT taint->>'rule' ORDER BY taint->>'rule') FILTER (WHERE taint->>'rule' IS NOT NULL), '{}'),
    count(DISTINCT d.id), count(DISTINCT d.node_name), min(d.node_name),
    min(CASE WHEN pg_input_is_valid(taint->>'added_at', 'timestamptz') THEN (taint->>'added_at')::timestamptz END)
FROM pools_device d CROSS JOIN LATERAL jsonb_array_elements(d.taints) AS taint
WHERE d.cluster_id = ANY(%(clusters)s) AND d.state = 'unavailable'
GROUP BY 1, 2, 3 HAVING bool_or(taint->>'effect' = ANY(%(blocking)s))
ORDER BY 6 DESC, 2, 3, 1 LIMIT %(limit)s
"""


def unavailable_reasons(
    snapshot: Snapshot, cluster_ids: Sequence[int], *, limit: int
) -> list[UnavailableDevices]:
    """What keeps claims away from most devices first; a device of several taints counts for each. One query."""
    clusters, blocking = list(cluster_ids), list(BLOCKING_EFFECTS)
    with connection.cursor() as cursor:
        cursor.execute(_REASONS, {"clusters": clusters, "blocking": blocking, "limit": limit})
        return [UnavailableDevices(*row) for row in cursor.fetchall()]
