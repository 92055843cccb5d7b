"""Which cluster answers: the same as before, perhaps at another address, or another one under an old name?"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells one cluster from another."""

    uid: str
    """Of the namespace kube-system, which lives as long as its cluster; empty where we may not read it."""

    authority: str
    """SHA-256 of the certificates that sign the server's own; empty where the configuration names none."""

    server: str
    """The address."""

    def is_another_than(self, before: "Identity") -> bool:
        """By uid where both are known. Else a cluster keeps its authority when it moves; one without is its address."""
        if self.uid and before.uid:
            return self.uid != before.uid
        if self.authority or before.authority:
            return self.authority != before.authority
        return self.server != before.server

    def joined_with(self, before: "Identity") -> "Identity":
        """The same, with the uid that was read earlier where it cannot be read now."""
        return Identity(self.uid or before.uid, self.authority, self.server)
