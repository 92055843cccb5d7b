"""Living DeviceTaintRules as values of the core, and the pools that one may select."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from dra.parsing import parse_taint_rule
from dra.values import DriverName, PoolKey, PoolName, TaintRule
from kube.kinds import DEVICE_TAINT_RULE
from objects import queries

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from objects.services.changes import RowChanges
    from objects.services.log import ObjectChange
    from objects.services.staging import Cursor

log = structlog.get_logger()


def taint_rules(cluster_id: int) -> tuple[TaintRule, ...] | None:
    """All living rules; None as soon as one of them cannot be read, since nobody knows which devices that one taints."""
    living = queries.living_versions(cluster_id, DEVICE_TAINT_RULE.name).values()
    contents = queries.bodies(cluster_id, [digest for digest, _, _ in living])
    rules: list[TaintRule] = []
    for digest, _, _ in living:
        rule = _rule(contents[digest]) if digest in contents else None
        if rule is None:
            log.error("a taint rule cannot be read", cluster=cluster_id, digest=digest.hex)
            return None
        rules.append(rule)
    return tuple(sorted(rules, key=lambda each: (each.name, each.uid)))


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
    return _published_pools(cursor, cluster_id, {_selected(_rule(each)) for each in contents})


def _selected(rule: TaintRule | None) -> tuple[str | None, str | None]:
    """Driver and pool that a rule selects; None: any, also where it cannot be told."""
    if rule is None or rule.selector is None or rule.has_unknown_selector_fields:
        return None, None
    return rule.selector.driver, rule.selector.pool


def _published_pools(
    cursor: Cursor, cluster_id: int, wanted: AbstractSet[tuple[str | None, str | None]]
) -> set[PoolKey]:
    """Pools that have a slice, of any of these drivers and pools; one query."""
    cursor.execute(
        "SELECT DISTINCT driver, pool_name FROM pools_resourceslice s WHERE cluster_id = %s AND EXISTS ("
        " SELECT FROM unnest(%s::text[], %s::text[]) AS wanted (driver, pool)"
        " WHERE (wanted.driver IS NULL OR wanted.driver = s.driver)"
        " AND (wanted.pool IS NULL OR wanted.pool = s.pool_name))",
        (cluster_id, [driver for driver, _ in wanted], [pool for _, pool in wanted]),
    )
    return {PoolKey(DriverName(driver), PoolName(name)) for driver, name in cursor.fetchall()}


def _rule(content: bytes) -> TaintRule | None:
    return parse_taint_rule(queries.decoded(content)).value
