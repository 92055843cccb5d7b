"""Commands of kubectl that print what a page shows."""

import shlex
from collections.abc import Sequence

from clusters.choices import Source
from clusters.models import Cluster


def kubectl(cluster: Cluster | None, *arguments: str) -> str:
    """A line for a shell; with the context of the cluster where kubectl would not choose it by itself."""
    context: tuple[str, ...] = ()
    if cluster is not None and cluster.source == Source.KUBECONFIG and cluster.context:
        context = ("--context", cluster.context)
    return shlex.join(["kubectl", *context, *arguments])


def get_resource_slices(
    cluster: Cluster | None, *, drivers: Sequence[str] = (), nodes: Sequence[str] = ()
) -> str:
    """What field selectors of ResourceSlices can tell apart: one driver, one node."""
    selectors = []
    if len(drivers) == 1:
        selectors.append(f"spec.driver={_escaped(drivers[0])}")
    if len(nodes) == 1:
        selectors.append(f"spec.nodeName={_escaped(nodes[0])}")
    chosen = ("--field-selector", ",".join(selectors)) if selectors else ()
    return kubectl(cluster, "get", "resourceslices", *chosen)


def _escaped(value: str) -> str:
    """Field selectors take these three by a backslash only."""
    for sign in ("\\", ",", "="):
        value = value.replace(sign, f"\\{sign}")
    return value
