from typing import Final

from django.db import models
from django.utils.translation import gettext_lazy as _

# Revisions are counted by cluster and subject. A subject is a kind of object, by its name, or one of these.
# How a cluster is reached and read, what it serves, and what is missed of it.
CLUSTER: Final = "Cluster"
# Pools, their devices and who holds them, and samples of their figures.
POOLS: Final = "Pool"


class Source(models.TextChoices):
    """Where the way to a cluster comes from."""

    KUBECONFIG = "kubeconfig", _("kubeconfig")
    IN_CLUSTER = "in_cluster", _("in-cluster")
    SIMULATED = "simulated", _("simulated")


class Reach(models.TextChoices):
    """How the cluster answered last: well, not at all yet, or with the failure of this code (`kube.failures`)."""

    UNKNOWN = "unknown", _("not tried yet")
    OK = "ok", _("reachable")
    UNREACHABLE = "unreachable", _("unreachable")
    TIMEOUT = "timeout", _("too slow")
    UNAUTHORIZED = "unauthorized", _("sign-in refused")
    FORBIDDEN = "forbidden", _("not allowed")
    THROTTLED = "throttled", _("throttled")
    SERVER_ERROR = "server_error", _("server error")
    MALFORMED = "malformed", _("unreadable answers")
    TLS = "tls", _("certificate problem")
    CONFIG = "config", _("configuration problem")


class ReadState(models.TextChoices):
    """What we do about one kind of object of one cluster."""

    WAITING = "waiting", _("not read yet")
    READING = "reading", _("first read under way")
    WATCHING = "watching", _("watching")
    NOT_SERVED = "not_served", _("not served")
    FORBIDDEN = "forbidden", _("not allowed")
    FAILING = "failing", _("failing")


class PoolStatusMode(models.TextChoices):
    """Whether pool status requests are created in a cluster."""

    AUTO = "auto", _("automatic")
    ON = "on", _("on")
    OFF = "off", _("off")
