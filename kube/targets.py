"""Which cluster is meant. Apart from what reaches it, so that pages need not load that."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Target:
    """A cluster to reach.

    `path` None means $KUBECONFIG or ~/.kube/config, `context` None
    the current one.
    """

    kind: Literal["kubeconfig", "in_cluster", "url"]
    path: str | None = None
    context: str | None = None
    url: str | None = None
