"""The shapes of all answers, as JSON Schema. Tests hold real answers against them, with no member missing and none too many."""

from typing import Any

from api.json_schema import (
    anything,
    array,
    count,
    identifier,
    mapping,
    moment,
    number,
    record,
    ref,
    ref_or_null,
    text,
    value,
    whole,
    word,
    yes_or_no,
)
from clusters.choices import PoolStatusMode, Reach, ReadState, Source
from dra.series import FIGURES
from pools.choices import DeviceState, NodeKind, Outcome

Json = dict[str, Any]

CLUSTER = text("Name of the cluster.", example="prod-eu")
DRIVER = text("Name of the driver.", example="gpu.example.com")
POOL = text("Name of the pool; unique within its driver and cluster.", example="node-7")
NODE = text(
    "The one node that can use it; null when it is not just one.", example="node-7", null=True
)
GENERATION = whole(
    "Pool generation; null when the slices do not say.", example=3, null=True, minimum=0
)
OBSERVED_AT = moment(
    "The latest moment for which all that the figures need was known; null: never yet.", null=True
)
SOURCE = text(
    "What the figures were computed from.",
    example="computed from ResourceSlices at 81273, ResourceClaims at 81270",
)
STALE = yes_or_no(
    "Whether it was read longer ago than DRADASH_STALE_AFTER_SECONDS, or never.", example=False
)
PROBLEMS = array(ref("Problem"), "What a person should know about it, the worst first.")
CAPACITY = array(ref("Capacity"), "Capacity by name.")

_UID = "7f6d0c1e-52a4-4b8e-9d0a-3b1f0c9e8a77"

_FIGURE_WORDS = {
    "total": "Devices of the newest generation; null while the pool is incomplete or invalid.",
    "seen": "Devices in the slices that are there.",
    "allocated": "Held by at least one claim without admin access, however many shares.",
    "partly_used": "Of the allocated: shareable, with capacity left for another share.",
    "unavailable": "Not allocated, and tainted NoSchedule or NoExecute.",
    "blocked": "Not allocated and not tainted, but the shared counters left do not cover it.",
    "available": "A claim that asks for this device alone could get it now.",
    "admin_access": "Named by a result with admin access; such a result holds nothing.",
}


def _figures(names: tuple[str, ...], description: str) -> Json:
    examples = {"total": 8, "seen": 8, "allocated": 5, "unavailable": 1, "available": 2}
    return record(
        description,
        {
            name: count(_FIGURE_WORDS[name], example=examples.get(name, 0), null=name != "seen")
            for name in names
        },
    )


def _list(of: str, what: str) -> Json:
    return record(
        f"A page of {what}.",
        {
            "count": count("How many match, on all pages.", example=128),
            "next": text("URL of the next page.", example=_NEXT, null=True, format="uri"),
            "previous": text("URL of the page before.", example=_NEXT, null=True, format="uri"),
            "stale": yes_or_no(
                "Whether any cluster asked for was read longer ago than it should have been, or never.",
                example=False,
            ),
            "freshness": array(
                ref("Freshness"), "How old the figures of each cluster asked for are."
            ),
            "gaps": array(
                ref("Gap"), "Gaps that last in the clusters asked for: something may be missed."
            ),
            "results": array(ref(of), f"The {what} of this page."),
        },
    )


_NEXT = "https://dradash.example.com/api/v1/pools/?limit=100&cursor=W2ZhbHNlXQ"

_POOL: Json = {
    "id": identifier("For URLs of this API; null where it is not stored.", null=True),
    "cluster": {**CLUSTER, "type": ["string", "null"]},
    "driver": DRIVER,
    "pool": POOL,
    "generation": GENERATION,
    "complete": yes_or_no("Whether all slices of the newest generation are there.", example=True),
    "slices": record(
        "ResourceSlices of the newest generation.",
        {
            "seen": count("Slices that are there.", example=2),
            "expected": count(
                "Slices that they say there are; null when they disagree.", example=2, null=True
            ),
        },
    ),
    "node": NODE,
    "node_selection": record(
        "Where the devices can be used.",
        {
            "kind": word("How the slices say it.", NodeKind.values),
            "text": text("The same in words.", example="node-7"),
        },
    ),
    "devices": ref("DeviceCounts"),
    "partitions": array(ref("Partition"), "Partition types; alternatives, never to be added up."),
    "capacity": array(ref("Capacity"), "Over the shareable devices; empty when there is none."),
    "problems": PROBLEMS,
    "observed_at": OBSERVED_AT,
    "source": {**SOURCE, "type": ["string", "null"]},
}
_DEVICE: Json = {
    "id": identifier(
        "For URLs of this API; changes when the device is published anew.", null=True
    ),
    "cluster": {**CLUSTER, "type": ["string", "null"]},
    "driver": DRIVER,
    "pool": POOL,
    "device": text("Name of the device; unique within its pool.", example="gpu-0"),
    "node": NODE,
    "generation": GENERATION,
    "state": word(
        "Exactly one; unknown while the pool is incomplete or invalid.", DeviceState.values
    ),
    "partly_used": yes_or_no(
        "Allocated, with room for another share; null while that is not known.",
        example=False,
        null=True,
    ),
    "attributes": mapping(
        {},
        "Values by name as published: numbers, booleans, text, lists of them; versions are text.",
    ),
    "capacity": CAPACITY,
    "taints": array(ref("Taint"), "Of the slice and of DeviceTaintRules."),
    "problems": PROBLEMS,
    "observed_at": OBSERVED_AT,
}
_SLICE: Json = {
    "id": identifier("For URLs of this API."),
    "cluster": CLUSTER,
    "name": text("Name of the ResourceSlice.", example="node-7-gpu.example.com-x7k2p"),
    "api_version": text("The version it was read in.", example="resource.k8s.io/v1"),
    "driver": DRIVER,
    "pool": POOL,
    "generation": GENERATION,
    "resource_slice_count": whole("Slices of the pool, as this one says.", example=2, null=True),
    "node": NODE,
    "node_kind": word("How it says where its devices can be used.", NodeKind.values),
    "device_count": count("Devices in it; null until they were read.", example=8, null=True),
    "problems": PROBLEMS,
    "changed_at": moment("When its latest change was seen."),
    "observed_at": OBSERVED_AT,
    "source": SOURCE,
}
_REQUEST: Json = {
    "id": identifier("For URLs of this API."),
    "cluster": CLUSTER,
    "name": text("Name of the ResourcePoolStatusRequest.", example="dradash-4f2a"),
    "driver": DRIVER,
    "pool": text("The one pool asked for; null: all of the driver.", example="node-7", null=True),
    "partition_type_attribute": text(
        "The attribute that the server was to group partitions by.",
        example="gpu.example.com/profile",
        null=True,
    ),
    "outcome": word("What became of it.", Outcome.values),
    "message": text("The same in words, where there is more to say.", example=""),
    "created_at": moment("When it was made."),
    "answered_at": moment("When the answer came.", null=True),
    "removed": yes_or_no("Whether the object is known to be gone from the cluster.", example=True),
    "pool_count": count("Pools that matched on the server.", example=12, null=True),
    "pools_answered": count("Pools in the answer.", example=12, null=True),
    "pools_differing": count("Pools for which the server counts otherwise.", example=1, null=True),
    "blocked_by": array(
        record(
            "A pool that most likely keeps the server from answering.",
            {
                "driver": DRIVER,
                "pool": POOL,
                "code": text("Stable, for machines.", example="blocked_by_missing_slices"),
                "reason": text("Why, in words.", example="incomplete: 1 of 2 slices"),
                "parameters": anything("What the words name; each code has its own."),
            },
        ),
        "Pools that most likely block the answer.",
    ),
}
_CLUSTER: Json = {
    "id": identifier("For URLs of this API."),
    "name": CLUSTER,
    "origin": word("Where the way to the cluster comes from.", Source.values),
    "simulated": yes_or_no("Whether this is the bundled simulated cluster.", example=False),
    "context": text("The kubeconfig's context.", example="prod-eu", null=True),
    "url": text("The API server.", example="https://10.0.0.1:6443", null=True),
    "watched": yes_or_no("False: the configuration no longer names it.", example=True),
    "paused": yes_or_no("Whether a person has stopped reading it.", example=False),
    "pool_status_requests": word("Whether they are made in it.", PoolStatusMode.values),
    "reach": record(
        "How it answered last.",
        {
            "state": word("In a word.", Reach.values),
            "message": text("In words, when it does not answer well.", example=""),
            "changed_at": moment("Since when.", null=True),
        },
    ),
    "server_version": text("As the server names it.", example="v1.36.2", null=True),
    "discovered_at": moment("When versions, rights and gates were read.", null=True),
    "versions": array(
        record(
            "The newest served version that DRA-Dash knows.",
            {
                "kind": text("Kind of object.", example="ResourceSlice"),
                "group_version": text("Group and version.", example="resource.k8s.io/v1"),
            },
        ),
        "What it serves; null before the first discovery.",
        null=True,
    ),
    "rights": array(
        record(
            "One right.",
            {
                "kind": text("Kind of object.", example="ResourceSlice"),
                "verb": text("What to do with it.", example="watch"),
                "allowed": yes_or_no("Null: it could not be asked.", example=True, null=True),
            },
        ),
        "What DRA-Dash may do there; null before the first discovery.",
        null=True,
    ),
    "gates": mapping(
        mapping({"type": "boolean"}, "On or off by feature gate."),
        "Feature gates by component; null when /metrics cannot be read.",
        null=True,
    ),
    "kinds": array(ref("ClusterKind"), "How far each kind of object has been read."),
    "observed_at": OBSERVED_AT,
    "stale": STALE,
    "source": SOURCE,
}

SCHEMAS: dict[str, Json] = {
    "Problem": record(
        "Something a person should know.",
        {
            "code": text("Stable, for machines: docs/problems.md.", example="incomplete_pool"),
            "message": text("In words.", example="1 of 2 slices are there."),
            "parameters": anything("What the words name; each code has its own."),
        },
    ),
    "DeviceCounts": _figures(
        tuple(_FIGURE_WORDS),
        "Devices by state. Known ones add up: total = allocated + unavailable + blocked + available.",
    ),
    "Partition": record(
        "Devices of one partition type.",
        {
            "attribute": text("What tells the types apart.", example="gpu.example.com/profile"),
            "type": text("Its value.", example="1g.10gb"),
            "total": count("Devices of this type.", example=7),
            "allocatable": count(
                "How many of this type alone could still be allocated; null: not known.",
                example=4,
                null=True,
            ),
        },
    ),
    "Capacity": record(
        "One kind of capacity, as Kubernetes quantities.",
        {
            "name": text("Name of the capacity.", example="memory"),
            "total": text("All of it.", example="80Gi"),
            "consumed": text("What shares take.", example="20Gi", null=True),
            "available": text("What is left.", example="60Gi", null=True),
        },
    ),
    "Taint": record(
        "A taint of a device.",
        {
            "key": text("Key.", example="example.com/unhealthy"),
            "value": text("Value; may be empty.", example="true"),
            "effect": text(
                "NoSchedule, NoExecute, or what a later release says.", example="NoExecute"
            ),
            "added_at": text(
                "When, as the object says.", example="2026-03-01T12:00:00Z", null=True
            ),
            "rule": text(
                "The DeviceTaintRule that sets it; null: the slice carries it.",
                example="drain-node-7",
                null=True,
            ),
        },
    ),
    "Gap": record(
        "A time in which changes of one kind of object may have been missed.",
        {
            "cluster": CLUSTER,
            "kind": text("Kind of object.", example="ResourceSlice"),
            "started_at": moment("Beginning."),
            "ended_at": moment("End; null while it lasts.", null=True),
            "reason": text("Why, in a word.", example="unreachable"),
            "message": text("Why, in words.", example="connection refused"),
        },
    ),
    "Freshness": record(
        "How old the figures of one cluster are.",
        {"cluster": CLUSTER, "observed_at": OBSERVED_AT, "stale": STALE, "source": SOURCE},
    ),
    "Pool": record("A pool, as derived from its newest generation.", _POOL),
    "PoolList": _list("Pool", "pools"),
    "HistoryFigures": record(
        "Figures of a pool; with a step, of the time in it that was known.",
        {name: number(_FIGURE_WORDS[name], example=8, null=True) for name in FIGURES},
    ),
    "PoolHistory": record(
        "A pool's figures over a time.",
        {
            "id": identifier("Of the pool."),
            "cluster": CLUSTER,
            "driver": DRIVER,
            "pool": POOL,
            "from": moment("Beginning, as it was used."),
            "to": moment("End, as it was used."),
            "step_seconds": whole(
                "Length of a step; null: every change is a point.", example=3600, null=True
            ),
            "points": array(ref("HistoryPoint"), "In order of time; each holds until the next."),
            "gaps": array(
                record(
                    "A time in which something may have been missed.",
                    {
                        "started_at": moment("Beginning."),
                        "ended_at": moment("End; null while it lasts.", null=True),
                    },
                ),
                "In order of time.",
            ),
            "observed_at": OBSERVED_AT,
            "source": SOURCE,
        },
    ),
    "HistoryPoint": record(
        "The figures from one moment on.",
        {
            "at": moment("Beginning of the point."),
            "generation": GENERATION,
            "complete": yes_or_no("Null with a step.", example=True, null=True),
            "devices": ref("HistoryFigures"),
            "least": ref_or_null("HistoryFigures", "Least within the step; null without one."),
            "most": ref_or_null("HistoryFigures", "Most within the step; null without one."),
        },
    ),
    "Device": record("A device of the newest generation of its pool.", _DEVICE),
    "DeviceList": _list("Device", "devices"),
    "DeviceDetail": record(
        "A device with its holders.",
        {
            **_DEVICE,
            "holders": array(ref("Allocation"), "Who holds it, each share by itself."),
            "source": SOURCE,
        },
    ),
    "Allocation": record(
        "One allocation result: which claim holds which device.",
        {
            "driver": DRIVER,
            "pool": POOL,
            "device": text("Name of the device.", example="gpu-0"),
            "namespace": text("Of the claim.", example="training"),
            "claim": text("Name of the ResourceClaim.", example="worker-0-gpu"),
            "claim_uid": text("Of the claim.", example=_UID, format="uuid"),
            "request": text("The claim's request that got it.", example="gpu"),
            "share_id": text("Which share of a shareable device.", example=_UID, null=True),
            "admin_access": yes_or_no("Looks on, and holds nothing.", example=False),
            "consumed_capacity": mapping(
                text("A quantity.", example="10Gi"), "What this share takes, by name."
            ),
        },
    ),
    "ResourceSlice": record("A living ResourceSlice.", _SLICE),
    "ResourceSliceList": _list("ResourceSlice", "ResourceSlices"),
    "KubernetesResourceSlice": {
        **anything("A ResourceSlice of Kubernetes, in the version it was read in."),
        "required": ["apiVersion", "kind", "metadata"],
    },
    "PoolStatusRequest": record("A ResourcePoolStatusRequest that DRA-Dash has made.", _REQUEST),
    "PoolStatusRequestList": _list("PoolStatusRequest", "pool status requests"),
    "PoolStatusRequestDetail": record(
        "A pool status request with its answer.",
        {
            **_REQUEST,
            "pools": array(ref("PoolComparison"), "Pool by pool, those that differ first."),
            "answer": anything("The object as the server returned it last.", null=True),
        },
    ),
    "PoolComparison": record(
        "What the server says of one pool, beside our own figures of the same moment.",
        {
            "id": identifier("Of the pool; null when it is not stored any more.", null=True),
            "driver": DRIVER,
            "pool": POOL,
            "observed_at": moment("When the answer was read."),
            "server": anything("The entry of `status.pools`, whole."),
            "ours": ref_or_null("Pool", "Null when there are none of the same moment."),
            "differences": array(
                ref("Difference"), "Empty: equal. Null: not compared.", null=True
            ),
        },
    ),
    "Difference": record(
        "One figure that differs, and why.",
        {
            "field": text("Which figure.", example="available"),
            "ours": {"description": "Our figure; null: not known."},
            "server": {"description": "The server's figure; null: not given."},
            "reason": text("Why, in words.", example="the server counts each share of a device"),
            "reasons": array(
                value("string", "Stable, for machines.", example="server_counts_shares"),
                "Why, as codes. Empty for what an earlier release stored.",
            ),
        },
    ),
    "Cluster": record("A cluster that is, or was, watched.", _CLUSTER),
    "ClusterList": _list("Cluster", "clusters"),
    "ClusterDetail": record(
        "A cluster with its latest gaps.",
        {**_CLUSTER, "gaps": array(ref("Gap"), "The newest first; at most 50.")},
    ),
    "ClusterKind": record(
        "How far one kind of object of a cluster has been read.",
        {
            "kind": text("Kind of object.", example="ResourceSlice"),
            "state": word("In a word.", ReadState.values),
            "message": text("In words, when it is not read well.", example=""),
            "api_version": text(
                "The version it is read in.", example="resource.k8s.io/v1", null=True
            ),
            "resource_version": text("Where the next watch goes on.", example="81273", null=True),
            "object_count": count("Objects that are stored.", example=120, null=True),
            "read_count": count("During a first read: how many so far.", example=0, null=True),
            "last_synced_at": moment("When it was known to be what the server has.", null=True),
            "last_changed_at": moment("When an object changed.", null=True),
            "failing_since": moment("Since when it cannot be read.", null=True),
            "failures": count("Failures in a row.", example=0),
            "retry_at": moment("When it is tried again.", null=True),
            "relists": count("How often it was read anew.", example=1),
        },
    ),
    "CSV": {
        "type": "string",
        "description": "A header and a line per row. What is not known is an empty cell.",
    },
    "ProblemDetails": {
        **record(
            "What went wrong (RFC 9457).",
            {
                "type": text("Always about:blank.", example="about:blank", format="uri-reference"),
                "title": text("The status in words.", example="Bad Request"),
                "status": whole("The HTTP status.", example=400, minimum=400, maximum=599),
                "code": text("Stable, for machines.", example="invalid_parameters"),
                "detail": text("What to do about it.", example="limit: Write a number."),
                "instance": text("The path asked for.", example="/api/v1/pools/"),
            },
        )
    },
}
SCHEMAS["ProblemDetails"]["properties"] |= {
    "errors": array(
        record(
            "One parameter that cannot be used.",
            {
                "parameter": text("Its name.", example="limit"),
                "message": text(
                    "What to write instead.", example="Write a number from 1 to 1000."
                ),
            },
        ),
        "With status 400.",
    ),
    "allowed": array(
        value("string", "A name.", example="limit"), "All parameters, when one was unknown."
    ),
    "available": array(
        value("string", "A media type.", example="application/json"), "With status 406."
    ),
}
