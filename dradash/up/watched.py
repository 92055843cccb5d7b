"""Which clusters this start will watch, in words for the terminal, and whether what was named exists."""

from clusters.choices import Source
from clusters.services import WatchedCluster
from dradash.config import DradashConfig
from dradash.up.failure import StartFailure
from ingest.configured import configured_clusters
from kube.connect import contexts
from kube.failures import KubeFailure

_REMEDY = "Correct DRADASH_CLUSTERS or KUBECONFIG, or watch the simulated cluster: dradash up --simulated."


def describe(config: DradashConfig) -> str:
    """One line, and a warning for each cluster that is not in its kubeconfig; raises StartFailure when none is.

    Asks no API server more than `configured_clusters` does: one that is away now may come.
    """
    clusters = configured_clusters(config) or []
    if not clusters:
        return "Watching: what was watched before; no cluster answers."
    problems = [problem for each in clusters if (problem := _problem(each))]
    if len(problems) == len(clusters):
        raise StartFailure(" ".join(problems), _REMEDY)
    words = ", ".join(f"{each.name} ({_words(each, config)})" for each in clusters)
    return "\n".join([f"Watching: {words}", *(f"Warning: {problem}" for problem in problems)])


def _words(cluster: WatchedCluster, config: DradashConfig) -> str:
    match cluster.source:
        case Source.SIMULATED if config.simulated:
            return "the bundled cluster"
        case Source.SIMULATED:
            return "the bundled cluster, since no real one answers"
        case Source.IN_CLUSTER:
            return "the cluster that this runs in"
        case _:
            target = cluster.target
            return f"kubeconfig context {target.context}" + (
                f" of {target.path}" if target.path else ""
            )


def _problem(cluster: WatchedCluster) -> str | None:
    target = cluster.target
    if target.kind != "kubeconfig":
        return None
    try:
        known = contexts(target.path)
    except KubeFailure as failure:
        return failure.message
    where = f"The kubeconfig {target.path}" if target.path else "The kubeconfig"
    if target.context is None:
        return f"{where} has no current context."
    if any(context.name == target.context for context in known):
        return None
    names = ", ".join(context.name for context in known) or "none"
    return f"{where} has no context {target.context}; it has: {names}."
