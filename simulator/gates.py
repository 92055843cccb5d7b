"""Feature gates about devices, as `/metrics` of an API server tells them.

Stage and default of 1.34, 1.36 and 1.37: alpha, beta, generally available or deprecated; on (1) or off (0).
"""

from typing import Final

from simulator.kinds import Surface

_RELEASES: Final = ((1, 34), (1, 36), (1, 37))
_STAGES: Final = {"A": "ALPHA", "B": "BETA", "D": "DEPRECATED", "G": ""}

# Gates that the pool status requests of a simulated cluster need.
POOL_STATUS_GATES: Final = {"DRAResourcePoolStatus": True, "DRAPartitionableDevicesType": True}

_GATES: Final = {
    "DRAAdminAccess": "B1 G1 G1",
    "DRAConsumableCapacity": "A0 B1 B1",
    "DRADerivedAttributes": "-- -- A0",
    "DRADeviceBindingConditions": "A0 B1 B1",
    "DRADeviceCompatibilityGroups": "-- -- A0",
    "DRADeviceTaintRules": "-- B0 G1",
    "DRADeviceTaints": "A0 B1 G1",
    "DRAExtendedResource": "A0 B1 G1",
    "DRAFractionalCapacityRange": "-- -- B0",
    "DRAListTypeAttributes": "-- A0 A0",
    "DRANodeAllocatableResources": "-- A0 A0",
    "DRAOptionalNodeOperations": "-- -- A0",
    "DRAPartitionableDevices": "A0 B1 B1",
    "DRAPartitionableDevicesType": "-- -- A0",
    "DRAPrioritizedList": "B1 G1 G1",
    "DRAResourceClaimDeviceStatus": "B1 B1 G1",
    "DRAResourceClaimGranularStatusAuthorization": "-- B1 B1",
    "DRAResourcePoolStatus": "-- A0 A0",
    "DRASchedulerFilterTimeout": "B1 B1 B1",
    "DRAWorkloadResourceClaims": "-- A0 B0",
    "DynamicResourceAllocation": "G1 G1 G1",
    "GangScheduling": "-- A0 --",
    "GenericWorkload": "-- A0 B0",
    "KubeletPodResourcesDynamicResources": "B1 G1 G1",
    "KubeletPodResourcesGet": "B1 G1 G1",
    "KubeletPodResourcesListUseActivePods": "D1 D1 D1",
    "NodeDeclaredFeatures": "-- B1 G1",
    "ResourceHealthStatus": "A0 B1 B1",
    "ResourceHealthStatusMessage": "-- B1 B1",
    "WatchList": "B1 B1 B1",
    "WatchListClient": "B0 B1 B1",
    "WatchListCompression": "-- -- B1",
}


def gates(surface: Surface) -> dict[str, tuple[str, bool]]:
    """Stage and value of every gate that the release knows, the overrides of the surface applied."""
    known = {}
    column = max(
        (i for i, release in enumerate(_RELEASES) if release <= surface.release), default=0
    )
    for name, row in _GATES.items():
        level = row.split()[column]
        if level != "--":
            is_on_by_default = level[1] == "1"
            known[name] = (_STAGES[level[0]], surface.gates.get(name, is_on_by_default))
    return known


def is_on(surface: Surface, name: str) -> bool:
    return gates(surface).get(name, ("", False))[1]


def metrics(surface: Surface) -> str:
    """The lines of `/metrics` that are about gates."""
    lines = [
        (
            "# HELP kubernetes_feature_enabled [BETA] This metric records the data about the "
            "stage and enablement of a k8s feature."
        ),
        "# TYPE kubernetes_feature_enabled gauge",
    ]
    lines += [
        f'kubernetes_feature_enabled{{name="{name}",stage="{stage}"}} {int(is_enabled)}'
        for name, (stage, is_enabled) in sorted(gates(surface).items())
    ]
    return "\n".join(lines) + "\n"
