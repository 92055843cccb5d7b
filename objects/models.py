"""The object log: every object's current body, and each change of it.

The log, its checkpoints, and the bodies they name are append-only. Log and checkpoints are partitioned by day and leave by
dropping partitions. The cluster is part of each primary key, so that a fleet can be spread by cluster.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Func, Value

from clusters.models import Cluster
from objects.choices import Op


class BodyDictionary(models.Model):
    """A zstd dictionary, trained on bodies of one kind and driver; bodies name the one they need to be read."""

    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=64)
    driver = models.TextField(blank=True)
    content = models.BinaryField()
    trained_at = models.DateTimeField()
    # How many bodies it was trained on; of a dictionary that an earlier release made, 0.
    sample_count = models.IntegerField(default=0)
    # Bytes of the JSON of these, by bytes of the same compressed with it.
    ratio = models.FloatField()

    class Meta:
        indexes = (models.Index(name="dictionary_newest", fields=("cluster", "kind", "driver")),)

    def __str__(self) -> str:
        return f"dictionary {self.id} for {self.kind} {self.driver}"


class Body(models.Model):
    """One distinct content, zstd-compressed: the object without managedFields, resourceVersion and pool generation.

    With a base, `content` is the difference to that other body, which has none itself.
    """

    pk = models.CompositePrimaryKey("cluster_id", "digest")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    # 128 bits of the SHA-256 of the uncompressed content. uuid, because bytea slows bulk paths.
    digest = models.UUIDField()
    base = models.UUIDField(null=True)
    dictionary_id = models.IntegerField(null=True)
    content = models.BinaryField()

    def __str__(self) -> str:
        return str(self.digest)


class KubeObject(models.Model):
    """One object of a cluster, living or gone."""

    pk = models.CompositePrimaryKey("cluster_id", "id")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    id = models.BigIntegerField(
        db_default=Func(Value("objects_kubeobject_id_seq"), function="nextval")
    )
    kind = models.CharField(max_length=64)
    uid = models.UUIDField()
    namespace = models.TextField(blank=True)
    name = models.TextField()
    api_version = models.TextField()
    resource_version = models.TextField()
    digest = models.UUIDField()
    # Of a slice: its pool's generation, kept apart from the body, since a roll-out changes nothing else.
    generation = models.BigIntegerField(null=True)
    first_seen_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(name="object_uid_once", fields=("cluster", "kind", "uid")),
        )
        indexes = (
            models.Index(
                name="object_living",
                fields=("cluster", "kind"),
                condition=models.Q(deleted_at__isnull=True),
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


class ObjectEvent(models.Model):
    """One change of one object. Partitioned by day; never updated."""

    pk = models.CompositePrimaryKey("cluster_id", "object_id", "at")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    object_id = models.BigIntegerField()
    # When it reached us, distinct for each change of one object; objects carry no time of their latest change.
    at = models.DateTimeField()
    # The number of one of `kube.kinds`: there are so many events that a name in each would take a tenth of them.
    kind = models.SmallIntegerField()
    op = models.SmallIntegerField(choices=Op)
    resource_version = models.TextField()
    # None of a deletion.
    digest = models.UUIDField(null=True)
    generation = models.BigIntegerField(null=True)

    class Meta:
        managed = False
        db_table = "objects_objectevent"

    def __str__(self) -> str:
        return f"{Op(self.op).label} object {self.object_id} at {self.at}"


class Checkpoint(models.Model):
    """What was live at one moment: "as of T" is the latest checkpoint before T and the log since. Partitioned by day."""

    pk = models.CompositePrimaryKey("cluster_id", "kind", "at", "object_id")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    kind = models.CharField(max_length=64)
    at = models.DateTimeField()
    object_id = models.BigIntegerField()
    digest = models.UUIDField()
    generation = models.BigIntegerField(null=True)

    class Meta:
        managed = False
        db_table = "objects_checkpoint"

    def __str__(self) -> str:
        return f"checkpoint of object {self.object_id} at {self.at}"
