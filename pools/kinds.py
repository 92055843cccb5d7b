"""The kinds that pools are made of, and those that stand beside them."""

from datetime import timedelta

from clusters.registry import WatchedKind, watch
from kube.kinds import DEVICE_CLASS, DEVICE_TAINT_RULE, NODE, RESOURCE_CLAIM, RESOURCE_SLICE
from pools.queries.nodes import nodes_not_ready
from pools.services import allocations, slices, taint_rules
from pools.services.device_classes import DEVICE_CLASS_ROWS
from pools.services.nodes import NODE_ROWS
from pools.services.tables import ALLOCATIONS, DEVICE_USES, POOLS, PUBLISHED_DEVICES, SLICES

watch(
    WatchedKind(
        RESOURCE_SLICE,
        record=slices.record_slices,
        tables=(SLICES, PUBLISHED_DEVICES, POOLS, DEVICE_USES),
        are_figures_made_of_it=True,
    ),
    WatchedKind(
        RESOURCE_CLAIM,
        record=allocations.record_claims,
        tables=(ALLOCATIONS,),
        are_figures_made_of_it=True,
        is_unknown_when_forbidden=True,
        # Claims come and go all day, and there are few at a time.
        shortest_checkpoint_interval=timedelta(hours=1),
    ),
    WatchedKind(
        DEVICE_CLASS,
        record=DEVICE_CLASS_ROWS.record,
        tables=(DEVICE_CLASS_ROWS.table,),
        # 2: an expression that cannot be read is kept as one.
        record_version=2,
    ),
    # After slices: a rule touches the pools that have one.
    WatchedKind(
        DEVICE_TAINT_RULE,
        record=taint_rules.record_taint_rules,
        are_figures_made_of_it=True,
        is_unknown_when_forbidden=True,
    ),
    WatchedKind(
        NODE,
        record=NODE_ROWS.record,
        tables=(NODE_ROWS.table,),
        # 2: whether a node is cordoned may be unknown.
        record_version=2,
        needing_attention=nodes_not_ready,
    ),
)
