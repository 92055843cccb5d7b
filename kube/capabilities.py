"""What a cluster serves and what we may do there, as it was found. Apart from what asks for it, so that pages need not load that."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec

from dra.values import Release
from kube.kinds import ServedResource

Right = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ServerVersion:
    """What /version says; numbers are None where they cannot be read."""

    major: int | None
    minor: int | None
    git_version: str
    # What the server pretends to be, where it was started with --emulated-version.
    emulated: str | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One reading of a cluster, held against those before it."""

    server_version: ServerVersion
    resources: dict[str, ServedResource]  # by kind; the newest version served that we know
    rights: dict[Right, bool | None]  # (kind, verb) of served kinds; None = no answer
    gates: dict[str, dict[str, bool]] | None  # by component; None = /metrics not readable
    # By "Kind" or "Kind verb": readings in a row that would have lowered it.
    missed: dict[str, int] = field(default_factory=dict)

    @property
    def release(self) -> Release | None:
        """The minor release, where the server says it."""
        version = self.server_version
        if version.major is None or version.minor is None:
            return None
        return Release(version.major, version.minor)

    def to_json(self) -> dict[str, Any]:
        """Plain values for a JSON column; `from_json` reads them."""
        return {
            "serverVersion": msgspec.to_builtins(self.server_version),
            "resources": {
                kind: msgspec.to_builtins(resource) for kind, resource in self.resources.items()
            },
            "rights": [[kind, verb, allowed] for (kind, verb), allowed in self.rights.items()],
            "gates": self.gates,
            "missed": self.missed,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Raises KeyError or msgspec.ValidationError on what `to_json` did not write."""
        return cls(
            server_version=msgspec.convert(value["serverVersion"], ServerVersion),
            resources=msgspec.convert(value["resources"], dict[str, ServedResource]),
            rights={(kind, verb): allowed for kind, verb, allowed in value["rights"]},
            gates=value["gates"],
            missed=dict(value["missed"]),
        )
