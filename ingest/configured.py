"""Which clusters the configuration means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from clusters.choices import Source
from clusters.services import WatchedCluster
from kube.connect import default_target
from kube.failures import KubeFailure
from kube.logins import contexts
from kube.targets import Target

if TYPE_CHECKING:
    from collections.abc import Sequence


class Configuration(Protocol):
    """The settings that say what to watch."""

    @property
    def clusters(self) -> Sequence[str]:
        """Contexts of the kubeconfig, or files."""

    @property
    def simulated(self) -> bool:
        """Whether to watch the bundled cluster, whatever else is there."""

    @property
    def simulator_url(self) -> str | None:
        """Where the bundled cluster is served, if it is."""


Known = Callable[[str | None], WatchedCluster | None]
"""What a kubeconfig, by its path, meant when it could be read; None: it never could."""


def configured_clusters(
    configuration: Configuration, *, known: Known = lambda _path: None
) -> list[WatchedCluster] | None:
    """None when nothing is named and nothing answers: then whatever was watched stays so."""
    if configuration.clusters and not configuration.simulated:
        return _distinct([_named(text, known=known) for text in configuration.clusters])
    if configuration.simulator_url:
        target = Target("url", url=configuration.simulator_url)
        return [WatchedCluster("simulated", Source.SIMULATED, target)]
    if configuration.simulated:
        return None
    default = default_target()
    if default is None:
        return None
    if default.kind == "in_cluster":
        return [WatchedCluster("in-cluster", Source.IN_CLUSTER, default)]
    return [_of_kubeconfig(default.path, known=known)]


def _named(text: str, *, known: Known) -> WatchedCluster:
    path = Path(text).expanduser()
    # Contexts may have slashes in their names too, but none begins like a path.
    if path.is_file() or text.startswith(("/", "./", "../", "~")):
        return _of_kubeconfig(str(path), known=known)
    return WatchedCluster(text, Source.KUBECONFIG, Target("kubeconfig", context=text))


def _of_kubeconfig(path: str | None, *, known: Known) -> WatchedCluster:
    """The current context of a file. A file that cannot be read is watched all the same: its cluster's page says why.

    It may be in the middle of being written, so it goes on meaning what it meant.
    """
    try:
        current = [context.name for context in contexts(path) if context.is_current]
    except KubeFailure:
        if before := known(path):
            return before
        current = []
    context = current[0] if current else None
    target = Target("kubeconfig", path=path, context=context)
    return WatchedCluster(context or path or "kubeconfig", Source.KUBECONFIG, target)


def _distinct(clusters: Sequence[WatchedCluster]) -> list[WatchedCluster]:
    """Two files may have a context of one name: the later ones are told apart by their file."""
    named: dict[str, WatchedCluster] = {}
    for each in clusters:
        name = each.name
        if name in named:
            name = f"{each.name} ({each.target.path})"
        named.setdefault(name, WatchedCluster(name, each.source, each.target))
    return list(named.values())
