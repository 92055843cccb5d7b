"""Living DeviceTaintRules as values of the core, and the pools that one may select."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from dra.parsing import parse_taint_rule
from dra.values import DriverName, PoolKey, PoolName, TaintRule
from kube.kinds import DEVICE_TAINT_RULE
from objects import queries

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from objects.services.changes import RowChanges
    from objects.services.log import ObjectChange
    from objects.services.staging import Cursor


def taint_rules(cluster_id: int) -> tuple[TaintRule, ...]:
    """All living rules."""
    living = queries.living_versions(cluster_id, DEVICE_TAINT_RULE.name).values()
    contents = queries.bodies(cluster_id, [digest for digest, _, _ in living])
    rules = [_rule(contents[digest]) for digest, _, _ in living if digest in contents]
    return tuple(sorted((rule for rule in rules if rule), key=lambda r: (r.name, r.uid)))


def record_taint_rules(
    cursor: Cursor,
    cluster_id: int,
    changed: Sequence[ObjectChange],
    *,
    now: datetime,
    changes: RowChanges,
) -> set[PoolKey]:
    """Pools that these rules may select, as they were before or as they are now; all of them where that is not sure.

    Nothing is written: there are few rules, and they are read from the log.
    """
    digests = [each.before.digest for each in changed if each.before]
    contents = list(queries.bodies(cluster_id, digests).values())
    contents += [each.event.content for each in changed if each.after]
    keys: set[PoolKey] = set()
    for rule in map(_rule, contents):
        selector = None if rule is None or rule.has_unknown_selector_fields else rule.selector
        driver = selector.driver if selector else None
        pool = selector.pool if selector else None
        keys |= published_pools(cursor, cluster_id, driver=driver, pool=pool)
    return keys


def published_pools(
    cursor: Cursor, cluster_id: int, *, driver: str | None = None, pool: str | None = None
) -> set[PoolKey]:
    """Pools that have a slice, of all drivers and names or of one."""
    cursor.execute(
        "SELECT DISTINCT driver, pool_name FROM pools_resourceslice WHERE cluster_id = %s"
        " AND (%s::text IS NULL OR driver = %s) AND (%s::text IS NULL OR pool_name = %s)",
        (cluster_id, driver, driver, pool, pool),
    )
    return _keys(cursor.fetchall())


def _keys(rows: Iterable[tuple[str, str]]) -> set[PoolKey]:
    return {PoolKey(DriverName(driver), PoolName(name)) for driver, name in rows}


def _rule(content: bytes) -> TaintRule | None:
    try:
        return parse_taint_rule(msgspec.json.decode(content)).value
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
