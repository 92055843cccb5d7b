"""Pools, their slices and devices as they are now, samples of their figures, and what pool status requests answered."""

from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Coalesce

from clusters.models import Cluster
from pools.choices import DeviceState, NodeKind, Outcome


def _nextval(sequence: str) -> Func:
    return Func(Value(sequence), function="nextval")


class Pool(models.Model):
    """A pool as derived from its newest generation. Figures that are None are unknown."""

    pk = models.CompositePrimaryKey("cluster_id", "id")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    id = models.BigIntegerField(db_default=_nextval("pools_pool_id_seq"))
    driver = models.TextField()
    name = models.TextField()
    generation = models.BigIntegerField(null=True)
    is_complete = models.BooleanField()
    is_valid = models.BooleanField()
    slices_seen = models.IntegerField()
    slices_expected = models.BigIntegerField(null=True)
    node_kind = models.CharField(max_length=16, choices=NodeKind)
    node_name = models.TextField(null=True)  # noqa: DJ001 -- null is "no single node", as Kubernetes has it
    node_selection = models.TextField(blank=True)

    devices_total = models.IntegerField(null=True)
    devices_seen = models.IntegerField()
    devices_allocated = models.IntegerField(null=True)
    devices_partly_used = models.IntegerField(null=True)
    devices_unavailable = models.IntegerField(null=True)
    devices_blocked = models.IntegerField(null=True)
    devices_available = models.IntegerField(null=True)
    devices_admin_access = models.IntegerField(null=True)

    # Lists in the shapes of the REST API.
    partitions = models.JSONField(default=list)
    capacity = models.JSONField(default=list)
    problems = models.JSONField(default=list)
    problem_codes = models.JSONField(default=list)
    # A number of `pools.choices.Severity`: the worst first.
    severity = models.SmallIntegerField(default=0)

    first_seen_at = models.DateTimeField()
    since = models.DateTimeField()
    # Set when its last slice went; the row stays, since allocations may still point at it.
    vanished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(name="pool_once", fields=("cluster", "driver", "name")),
            models.CheckConstraint(
                name="pool_counts_add_up",
                condition=Q(devices_total__isnull=True)
                | Q(devices_allocated__isnull=True)
                | Q(devices_unavailable__isnull=True)
                | Q(devices_blocked__isnull=True)
                | Q(devices_available__isnull=True)
                | Q(
                    devices_total=F("devices_allocated")
                    + F("devices_unavailable")
                    + F("devices_blocked")
                    + F("devices_available")
                ),
            ),
            models.CheckConstraint(
                name="pool_counts_not_negative",
                condition=Q(devices_seen__gte=0)
                & (Q(devices_available__isnull=True) | Q(devices_available__gte=0))
                & (Q(devices_allocated__isnull=True) | Q(devices_allocated__gte=0)),
            ),
        )
        indexes = (
            models.Index(name="pool_id", fields=("id",)),
            models.Index(F("severity") * -1, "driver", "name", "id", name="pool_list"),
            models.Index(name="pool_by_name", fields=("driver", "name", "id")),
            # On columns that stay the same: with an index on a figure, each change of a figure would write to every index.
            models.Index(name="pool_by_pool_name", fields=("name", "driver", "id")),
            models.Index(
                Coalesce("node_name", Value("")), "driver", "name", "id", name="pool_by_node"
            ),
            models.Index(name="pool_node", fields=("node_name", "driver")),
            GinIndex(name="pool_problem_codes", fields=("problem_codes",)),
        )

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"


class ResourceSlice(models.Model):
    """A living ResourceSlice; its body is in the object log under the same id."""

    pk = models.CompositePrimaryKey("cluster_id", "object_id")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    object_id = models.BigIntegerField()
    name = models.TextField()
    api_version = models.TextField()
    driver = models.TextField()
    pool_name = models.TextField()
    generation = models.BigIntegerField(null=True)
    resource_slice_count = models.BigIntegerField(null=True)
    node_kind = models.CharField(max_length=16, choices=NodeKind)
    node_name = models.TextField(null=True)  # noqa: DJ001 -- null is "no single node", as Kubernetes has it
    # Of its body in the object log, so that each change of it is a version.
    digest = models.UUIDField()
    # None until its pool was derived.
    device_count = models.IntegerField(null=True)
    problems = models.JSONField(default=list)
    since = models.DateTimeField()

    class Meta:
        indexes = (
            models.Index(name="slice_object", fields=("object_id",)),
            models.Index(name="slice_pool", fields=("cluster", "driver", "pool_name")),
            models.Index(name="slice_list", fields=("driver", "pool_name", "name", "object_id")),
            models.Index(name="slice_node", fields=("node_name",)),
        )

    def __str__(self) -> str:
        return self.name


class PublishedDevice(models.Model):
    """What the newest generation of a pool says of a device; who uses it is no part of this.

    Kept when it is published no more, so that its id is the same when it comes back.
    """

    pk = models.CompositePrimaryKey("cluster_id", "id")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    id = models.BigIntegerField(db_default=_nextval("pools_publisheddevice_id_seq"))
    pool_id = models.BigIntegerField()
    driver = models.TextField()
    pool_name = models.TextField()
    name = models.TextField()
    slice_object_id = models.BigIntegerField()
    node_name = models.TextField(null=True)  # noqa: DJ001 -- null is "no single node", as Kubernetes has it
    # In the shapes of the REST API: attributes by name, capacity and taints as lists. Capacity is as of a device that nobody uses,
    # taints are those of the slice.
    attributes = models.JSONField(default=dict)
    capacity = models.JSONField(default=list)
    taints = models.JSONField(default=list)
    # Total of each capacity as a plain number, for filters such as memory>=40Gi.
    capacity_numbers = models.JSONField(default=dict)
    since = models.DateTimeField()
    vanished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(name="device_once", fields=("cluster", "pool_id", "name")),
        )
        indexes = (
            models.Index(name="device_id", fields=("id",)),
            models.Index(
                name="device_list",
                fields=("driver", "pool_name", "name", "id"),
                condition=Q(vanished_at__isnull=True),
            ),
            # For the order by node and for devices of a node.
            models.Index(
                Coalesce("node_name", Value("")),
                "driver",
                "pool_name",
                "name",
                "id",
                name="device_node",
                condition=Q(vanished_at__isnull=True),
            ),
            GinIndex(
                name="device_attributes",
                fields=("attributes",),
                opclasses=("jsonb_path_ops",),
            ),
        )

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool_name}/{self.name}"


class DeviceUse(models.Model):
    """The state that claims and taint rules put a device into: narrow, because it changes with each allocation."""

    pk = models.CompositePrimaryKey("cluster_id", "device_id")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    device_id = models.BigIntegerField()
    state = models.CharField(max_length=16, choices=DeviceState)
    # None: not known, as claims or taint rules are not.
    is_partly_used = models.BooleanField(null=True)
    # None: as published, since nobody uses it, and no rule taints it.
    capacity = models.JSONField(null=True)
    taints = models.JSONField(null=True)
    problems = models.JSONField(default=list)
    since = models.DateTimeField()
    vanished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (models.Index(name="device_use_state", fields=("state", "device_id")),)

    def __str__(self) -> str:
        return f"device {self.device_id} is {self.state}"


class PublishedNow(models.Manager["Device"]):
    """Devices that are published now, or were at the moment that is read."""

    def get_queryset(self) -> models.QuerySet[Device]:
        return super().get_queryset().filter(vanished_at=None)


class Device(models.Model):
    """A device of the newest generation of its pool, with its use: a view for reading.

    `known` has those that vanished too, with what was last published of them.
    """

    pk = models.CompositePrimaryKey("cluster_id", "id")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    id = models.BigIntegerField()
    # The id again, as `DeviceUse` has it: one index of that table serves an order by state and this.
    device_id = models.BigIntegerField()
    pool_id = models.BigIntegerField()
    driver = models.TextField()
    pool_name = models.TextField()
    name = models.TextField()
    slice_object_id = models.BigIntegerField()
    node_name = models.TextField(null=True)  # noqa: DJ001 -- null is "no single node", as Kubernetes has it
    # Taken from the pool, so that a roll-out that changes nothing else writes no device.
    generation = models.BigIntegerField(null=True)
    state = models.CharField(max_length=16, choices=DeviceState)
    is_partly_used = models.BooleanField(null=True)
    attributes = models.JSONField(default=dict)
    capacity = models.JSONField(default=list)
    taints = models.JSONField(default=list)
    problems = models.JSONField(default=list)
    capacity_numbers = models.JSONField(default=dict)
    since = models.DateTimeField()
    vanished_at = models.DateTimeField(null=True)

    objects = PublishedNow()
    known = models.Manager["Device"]()

    class Meta:
        managed = False
        db_table = "pools_device"

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool_name}/{self.name}"


class Allocation(models.Model):
    """One allocation result of a living claim, whether its device is published or not."""

    pk = models.CompositePrimaryKey("cluster_id", "id")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    id = models.BigIntegerField(db_default=_nextval("pools_allocation_id_seq"))
    claim_object_id = models.BigIntegerField()
    claim_namespace = models.TextField()
    claim_name = models.TextField()
    claim_uid = models.UUIDField()
    driver = models.TextField()
    pool_name = models.TextField()
    device = models.TextField()
    request = models.TextField(blank=True)
    share_id = models.TextField(blank=True)
    has_admin_access = models.BooleanField(default=False)
    # Canonical quantities by capacity name.
    consumed_capacity = models.JSONField(default=dict)
    since = models.DateTimeField()

    class Meta:
        indexes = (
            models.Index(
                name="allocation_device",
                fields=("cluster", "driver", "pool_name", "device"),
            ),
            models.Index(name="allocation_claim", fields=("cluster", "claim_object_id")),
        )

    def __str__(self) -> str:
        return f"{self.claim_namespace}/{self.claim_name} holds {self.driver}/{self.pool_name}/{self.device}"


class Node(models.Model):
    """A node of a cluster by its name; one that is made anew under the same name is the same row."""

    pk = models.CompositePrimaryKey("cluster_id", "id")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    id = models.BigIntegerField(db_default=_nextval("pools_node_id_seq"))
    name = models.TextField()
    # In the object log; its body is there.
    object_id = models.BigIntegerField()
    uid = models.TextField()
    # When the cluster made it; None when it does not say.
    created_at = models.DateTimeField(null=True)
    # None while its kubelet has not said, or has fallen silent.
    is_ready = models.BooleanField(null=True)
    ready_reason = models.TextField(blank=True)
    ready_message = models.TextField(blank=True)
    # None: that could not be read.
    is_unschedulable = models.BooleanField(null=True, default=False)
    labels = models.JSONField(default=dict)
    # [{"key", "value", "effect", "added_at"}].
    taints = models.JSONField(default=list)
    # [{"type", "address"}].
    addresses = models.JSONField(default=list)
    # Of its nodeInfo, by the names there.
    facts = models.JSONField(default=dict)
    # Codes and parameters.
    problems = models.JSONField(default=list)
    first_seen_at = models.DateTimeField()
    since = models.DateTimeField()
    # Set when it is no longer in the cluster; the row stays, since pools and history name it.
    vanished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (models.UniqueConstraint(name="node_once", fields=("cluster", "name")),)
        indexes = (
            models.Index(name="node_id", fields=("id",)),
            models.Index(name="node_list", fields=("name", "id")),
        )

    def __str__(self) -> str:
        return self.name


class DeviceClass(models.Model):
    """A DeviceClass of a cluster by its name; one that is made anew under the same name is the same row."""

    pk = models.CompositePrimaryKey("cluster_id", "id")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    id = models.BigIntegerField(db_default=_nextval("pools_deviceclass_id_seq"))
    name = models.TextField()
    # In the object log; its body is there.
    object_id = models.BigIntegerField()
    uid = models.TextField()
    # When the cluster made it; None when it does not say.
    created_at = models.DateTimeField(null=True)
    # CEL expressions, all of which a device has to meet.
    selectors = models.JSONField(default=list)
    # Empty: containers cannot ask for it as an extended resource of a name of its own.
    extended_resource_name = models.TextField(blank=True)
    # Names of drivers that it has configuration for.
    config_drivers = models.JSONField(default=list)
    # Codes and parameters.
    problems = models.JSONField(default=list)
    first_seen_at = models.DateTimeField()
    since = models.DateTimeField()
    # Set when it is no longer in the cluster; the row stays, since claims and history name it.
    vanished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(name="device_class_once", fields=("cluster", "name")),
        )
        indexes = (
            models.Index(name="device_class_id", fields=("id",)),
            models.Index(name="device_class_list", fields=("name", "id")),
        )

    def __str__(self) -> str:
        return self.name


class DirtyPool(models.Model):
    """A pool of which something is stored that its figures do not show yet; gone once it was derived."""

    pk = models.CompositePrimaryKey("cluster_id", "driver", "name")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    driver = models.TextField()
    name = models.TextField()

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"


class PoolSample(models.Model):
    """A pool's figures from a moment on, until the next sample. Written only when one changed; partitioned by day."""

    pk = models.CompositePrimaryKey("cluster_id", "pool_id", "at")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    pool_id = models.BigIntegerField()
    at = models.DateTimeField()
    generation = models.BigIntegerField(null=True)
    is_complete = models.BooleanField()
    # No slice is left: every figure is None.
    has_vanished = models.BooleanField(default=False)
    total = models.IntegerField(null=True)
    allocated = models.IntegerField(null=True)
    partly_used = models.IntegerField(null=True)
    unavailable = models.IntegerField(null=True)
    blocked = models.IntegerField(null=True)
    available = models.IntegerField(null=True)

    class Meta:
        managed = False
        db_table = "pools_poolsample"

    def __str__(self) -> str:
        return f"pool {self.pool_id} at {self.at}"


class PoolHour(models.Model):
    """One hour of one pool: least, most and time-weighted mean of each figure. Partitioned by month.

    Arrays are in the order of `dra.series.FIGURES`; None is unknown all hour long.
    """

    pk = models.CompositePrimaryKey("cluster_id", "pool_id", "hour")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    pool_id = models.BigIntegerField()
    hour = models.DateTimeField()
    # Seconds of the hour in which the figures were known.
    known_seconds = models.IntegerField()
    least = models.JSONField()
    most = models.JSONField()
    mean = models.JSONField()

    class Meta:
        managed = False
        db_table = "pools_poolhour"

    def __str__(self) -> str:
        return f"pool {self.pool_id} in the hour of {self.hour}"


class PoolStatusRequest(models.Model):
    """One ResourcePoolStatusRequest that we made, and the whole of its answer."""

    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    name = models.TextField()
    driver = models.TextField()
    # Empty: all pools of the driver.
    pool_name = models.TextField(blank=True)
    partition_type_attribute = models.TextField(blank=True)
    outcome = models.CharField(max_length=16, choices=Outcome, default=Outcome.PENDING)
    # What there is to say beside the outcome: [{"code", "parameters"}].
    notes = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    # When its outcome was known, whatever it was.
    ended_at = models.DateTimeField(null=True)
    # False while the object may still be in the cluster.
    is_removed = models.BooleanField(default=False)
    # Pools of the driver before truncation, and in the answer.
    pool_count = models.IntegerField(null=True)
    pools_answered = models.IntegerField(null=True)
    pools_differing = models.IntegerField(null=True)
    # Pools that most likely block it: [{"driver", "pool", "code", "parameters"}].
    blocked_by = models.JSONField(default=list)
    # The object as the server returned it last.
    answer = models.JSONField(null=True)

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = (
            models.UniqueConstraint(name="pool_status_request_name", fields=("cluster", "name")),
        )
        indexes = (
            models.Index(name="pool_status_newest", fields=("-created_at", "-id")),
            models.Index(name="pool_status_driver", fields=("cluster", "driver", "-created_at")),
        )

    def __str__(self) -> str:
        return self.name


class PoolStatusAnswer(models.Model):
    """What the server said about one pool, beside our own figures of the same moment."""

    request = models.ForeignKey(PoolStatusRequest, on_delete=models.CASCADE, related_name="pools")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    driver = models.TextField()
    pool_name = models.TextField()
    observed_at = models.DateTimeField()
    # The entry of status.pools, whole.
    server = models.JSONField()
    # Our figures in the pool shape of the REST API, problems without words; None when they could not be had for the same moment.
    ours = models.JSONField(null=True)
    # [{"field", "parameters", "ours", "server", "reasons"}], field and reasons being codes; None when not compared. Of an earlier
    # release a row has no parameters, or no reason but its sentence in "said_before".
    differences = models.JSONField(null=True)

    class Meta:
        indexes = (
            models.Index(
                name="pool_status_pool",
                fields=("cluster", "driver", "pool_name", "-observed_at"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool_name} at {self.observed_at}"
