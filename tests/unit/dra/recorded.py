"""Recordings of real control planes as values of the core."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dra.parsing import Parsed, parse_resource_claim, parse_resource_slice, parse_taint_rule
from dra.values import AllocationResult, Release, ResourceClaim, ResourceSlice, TaintRule

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "recordings"
RELEASES = {"1.36.3": Release(1, 36), "1.37.2": Release(1, 37)}


@dataclass(frozen=True)
class Objects:
    """What was in the cluster."""

    slices: list[ResourceSlice]
    claims: list[ResourceClaim]
    rules: list[TaintRule]

    @property
    def allocations(self) -> list[AllocationResult]:
        return [result for claim in self.claims for result in claim.results]


def read_objects(objects: list[dict[str, Any]]) -> Objects:
    def read(kind: str, parse: Callable[[Any], Parsed[Any]]) -> list[Any]:
        return [parse(item).value for item in objects if item.get("kind") == kind]

    return Objects(
        slices=read("ResourceSlice", parse_resource_slice),
        claims=read("ResourceClaim", parse_resource_claim),
        rules=read("DeviceTaintRule", parse_taint_rule),
    )


def pool_status_names() -> list[str]:
    """`<release>/<case>` of every recorded pool status request."""
    found = (RECORDINGS / "rpsr").glob("*/*.json")
    return sorted(f"{path.parent.name}/{path.stem}" for path in found)


@cache
def pool_status(name: str) -> dict[str, Any]:
    recording: dict[str, Any] = json.loads((RECORDINGS / "rpsr" / f"{name}.json").read_text())
    if name.endswith("extra-default-limit-100-of-101-pools"):
        # The recording writes one pool out and says that the others have the same shape.
        text = json.dumps(recording["objects"][0])
        written = [text.replace("pool-000", f"pool-{number:03d}") for number in range(101)]
        recording["objects"] = [json.loads(item) for item in written]
    return recording


@cache
def fleets() -> dict[str, dict[str, Any]]:
    """Recorded fleets by `<release>/<seed>`."""
    found = {}
    for path in sorted((RECORDINGS / "fleets").glob("*.ndjson")):
        for line in path.read_text().splitlines():
            fleet = json.loads(line)
            found[f"{path.stem}/{fleet['seed']}"] = fleet
    return found
