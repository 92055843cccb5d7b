"""Why a list is empty, as far as what was read tells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from clusters.choices import ReadState
from clusters.views.frame import Scope, grant_command, words_of_cluster
from kube.kinds import RESOURCE_SLICE
from ui.lists import Chip

_REASONS: Final[Mapping[str, str]] = {
    ReadState.WATCHING: "none",
    ReadState.READING: "not-read",
    ReadState.WAITING: "not-read",
    ReadState.FAILING: "failing",
    ReadState.FORBIDDEN: "forbidden",
    ReadState.NOT_SERVED: "not-served",
}


@dataclass(frozen=True, slots=True)
class Emptiness:
    """Why a list is empty; the values of components/empty.html."""

    reason: str
    noun: Promise | str
    command: str = ""
    hint: str = ""
    # Filters without any one of which something would match, and how many rows there are without all of them.
    culprits: Sequence[Chip] = ()
    total: int | None = None

    @property
    def is_unknown(self) -> bool:
        """Nothing was read that could be counted, so that nobody knows whether there are any."""
        return self.reason not in {"none", "no-driver", "no-match"}


def emptiness(scope: Scope, *, noun: Promise | str, kind: str = RESOURCE_SLICE.name) -> Emptiness:
    """Why nothing is there to list, by how far `kind` was read."""
    if scope.is_missing:
        return no_such_cluster(scope, noun=noun)
    is_past = scope.snapshot.at is not None
    if not scope.rows:
        return Emptiness("not-then" if is_past else "no-cluster", noun)
    states = {each.state for row in scope.rows for each in row.known_kinds if each.kind == kind}
    # Of several clusters, the one that could have something says why it has nothing.
    for state, reason in _REASONS.items():
        if state in states:
            if reason == "none" and kind == RESOURCE_SLICE.name:
                reason = "no-driver"
            reason = _then(reason) if is_past else reason
            command = grant_command(kind) if reason == "forbidden" else ""
            return Emptiness(reason, noun, command=command)
    return Emptiness("not-then" if is_past else "not-read", noun)


def _then(reason: str) -> str:
    """Of the past: what was not read then stays so, whatever would let it be read now."""
    return "not-then" if reason in {"not-read", "failing", "forbidden"} else reason


def no_such_cluster(scope: Scope, *, noun: Promise | str) -> Emptiness:
    """The URL chose a cluster that there is not; those that there are stand beside it."""
    hint = _("There are: %(names)s.") % {"names": ", ".join(map(words_of_cluster, scope.clusters))}
    return Emptiness("no-such-cluster", noun, hint=hint if scope.clusters else "")
