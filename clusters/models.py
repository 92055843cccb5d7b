"""Which clusters are watched, how each is reached, and how fresh what we know of it is."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from clusters.choices import PoolStatusMode, Reach, ReadState, Source


class Cluster(models.Model):
    """One Kubernetes cluster that is, or was, watched."""

    # Of the configuration. One that is made anew has the name of the one before, of which `replaced_at` then tells.
    name = models.TextField()
    source = models.CharField(max_length=16, choices=Source)
    kubeconfig_path = models.TextField(blank=True)
    context = models.TextField(blank=True)
    url = models.TextField(blank=True)
    # False when the configuration no longer names it; what was stored stays readable.
    is_watched = models.BooleanField(default=True)
    is_paused = models.BooleanField(default=False)
    pool_status_mode = models.CharField(
        max_length=4, choices=PoolStatusMode, default=PoolStatusMode.AUTO
    )
    created_at = models.DateTimeField()

    reach = models.CharField(max_length=16, choices=Reach, default=Reach.UNKNOWN)
    # Code and parameters of the failure; empty while it answers.
    reach_failure = models.JSONField(default=dict, blank=True)
    reach_changed_at = models.DateTimeField(null=True)
    server_version = models.TextField(blank=True)
    # What kube.discovery found, as its own JSON; None until the first discovery.
    capabilities = models.JSONField(null=True)
    discovered_at = models.DateTimeField(null=True)

    # What tells it from another cluster under the same name, see `kube.identity`; all empty until it first answered.
    kube_system_uid = models.TextField(blank=True)
    authority = models.TextField(blank=True)
    server = models.TextField(blank=True)
    # The cluster that had this name before and was another one.
    replaces = models.OneToOneField(
        "self", on_delete=models.SET_NULL, null=True, related_name="replaced_by"
    )
    # Since when another cluster has its name; None: none has.
    replaced_at = models.DateTimeField(null=True)

    # What `queries.clusters` and `all_clusters` read beside the row: revisions, and how far each kind was read, ordered by kind.
    revision_subjects: list[str]
    revision_numbers: list[int]
    known_kinds: list[ClusterKind]

    class Meta:
        ordering = ("name", "id")
        constraints = (
            models.UniqueConstraint(
                name="cluster_name_once", fields=("name",), condition=Q(replaced_at__isnull=True)
            ),
            models.CheckConstraint(name="cluster_name_not_empty", condition=~Q(name="")),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def address_name(self) -> str:
        """What addresses call it: its name, or its number once another cluster has the name."""
        return self.name if self.replaced_at is None else str(self.pk)


class Revision(models.Model):
    """Rises with every transaction that changed what pages show of one subject of a cluster; ETags are made of it."""

    pk = models.CompositePrimaryKey("cluster_id", "subject")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="revisions", db_index=False
    )
    subject = models.CharField(max_length=64)
    number = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.subject} of cluster {self.cluster_id}"


class ClusterKind(models.Model):
    """How far one kind of object of one cluster has been read; the cursor moves in the transaction of its data."""

    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="kinds", db_index=False
    )
    kind = models.CharField(max_length=64)
    state = models.CharField(max_length=16, choices=ReadState, default=ReadState.WAITING)
    # Code and parameters of why it cannot be read; empty while it can.
    failure = models.JSONField(default=dict, blank=True)
    api_version = models.TextField(blank=True)
    # Where the next watch goes on. Empty: nothing was read yet, or it must be read anew.
    resource_version = models.TextField(blank=True)
    object_count = models.IntegerField(null=True)
    # During a first read: how many objects have come so far.
    read_count = models.IntegerField(null=True)
    # When it was read to the end for the first time since versions are kept: of before, not all is known.
    first_synced_at = models.DateTimeField(null=True)
    # The latest moment at which what we stored was known to be what the server has.
    last_synced_at = models.DateTimeField(null=True)
    last_changed_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    failures = models.IntegerField(default=0)
    retry_at = models.DateTimeField(null=True)
    relists = models.IntegerField(default=0)
    # The `record_version` of its entry in the registry by which its rows were made: rows of an older one are made anew.
    record_version = models.SmallIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(name="cluster_kind_once", fields=("cluster", "kind")),
            models.CheckConstraint(name="cluster_kind_failures", condition=Q(failures__gte=0)),
        )

    def __str__(self) -> str:
        return f"{self.kind} of cluster {self.cluster_id}"


class Gap(models.Model):
    """A time in which changes of one kind may have been missed."""

    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="gaps", db_index=False
    )
    kind = models.CharField(max_length=64)
    started_at = models.DateTimeField()
    # None while it lasts.
    ended_at = models.DateTimeField(null=True)
    # A code of the catalogue, and code and parameters of the failure that began it, if one did.
    reason = models.CharField(max_length=32)
    failure = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ("-started_at",)
        constraints = (
            models.CheckConstraint(
                name="gap_ends_after_start",
                condition=Q(ended_at__isnull=True) | Q(ended_at__gte=F("started_at")),
            ),
            models.UniqueConstraint(
                name="gap_one_open",
                fields=("cluster", "kind"),
                condition=Q(ended_at__isnull=True),
            ),
        )
        indexes = (models.Index(name="gap_time", fields=("cluster", "started_at")),)

    def __str__(self) -> str:
        return f"gap in {self.kind} of cluster {self.cluster_id} from {self.started_at}"


class Lease(models.Model):
    """Who works on something at this moment; a process that is killed gives nothing back, so it runs out by itself."""

    name = models.TextField(primary_key=True)
    # The worker, by a name that it keeps from one start to the next.
    holder = models.TextField()
    # Of one run of that worker.
    token = models.UUIDField()
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name}, held by {self.holder} until {self.expires_at}"
