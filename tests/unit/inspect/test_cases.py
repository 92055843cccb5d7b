"""What people reported, and what must be shown for it; `tests/fixtures/cases/README.md` says which part of each case is held here."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.inspect.cases import (
    CASES,
    Counts,
    Pool,
    capacity,
    counters,
    device,
    documents,
    holders,
    inspected,
    messages,
    path_of,
    pools,
    run,
    states,
    users,
    write_case,
)


def case(folder: Path, name: str, step: int | None = None) -> dict[str, Any]:
    return inspected("--complete", write_case(folder, name, step))


def text(folder: Path, name: str, step: int | None = None) -> str:
    return run("--complete", write_case(folder, name, step))[1]


def simple(
    node: str,
    counts: Counts,
    *,
    generation: int = 1,
    slices: str = "1/1",
    problems: tuple[str, ...] = (),
) -> Pool:
    return Pool(generation, slices, node, counts, problems)


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        (
            "C01",
            None,
            {
                "gpu.example.com/node-a": Pool(
                    2,
                    "1/2",
                    "node-a",
                    Counts(None, 1, 0, 0, None, None, 0),
                    ("incomplete_pool", "older_generation_published"),
                )
            },
        ),
        (
            "C03",
            None,
            {
                "networkdriver.cilium.io/dx-dummy": Pool(
                    1,
                    "3/1",
                    "mixed: node-a, node-b, node-c",
                    Counts(None, 1, 1, 0, None, None, 0),
                    ("mixed_nodes", "more_slices_than_declared", "same_device_on_several_nodes"),
                )
            },
        ),
        ("C04", None, {}),
        (
            "C05",
            None,
            {
                "gpu.nvidia.com/node-a": simple(
                    "node-a", Counts(0, 0, 0, 0, 0, 0, 0), problems=("no_devices",)
                )
            },
        ),
        (
            "C06",
            1,
            {
                "compute-domain.nvidia.com/node-a": simple("node-a", Counts(2, 2, 0, 0, 0, 0, 2)),
                "compute-domain.nvidia.com/node-b": simple("node-b", Counts(2, 2, 1, 0, 0, 0, 1)),
            },
        ),
        (
            "C06",
            2,
            {"compute-domain.nvidia.com/node-a": simple("node-a", Counts(2, 2, 0, 0, 0, 0, 2))},
        ),
        ("C07", 1, {"gpu.example.com/node-c": simple("node-c", Counts(1, 1, 1, 0, 0, 0, 0))}),
        ("C07", 2, {}),
        (
            "C09",
            None,
            {
                "resource-driver.example.com/my-pool": Pool(
                    1,
                    "2/2",
                    "mixed: dra-example-driver, my-node",
                    Counts(3, 3, 0, 0, 0, 0, 3),
                    ("available_devices_compete", "mixed_nodes"),
                )
            },
        ),
        (
            "C10",
            None,
            {
                "driver-a.example.com/pool-1": simple(
                    "node-a", Counts(1, 1, 1, 0, 0, 0, 0), slices="2/2"
                ),
                "driver-b.example.com/pool-1": simple(
                    "node-a", Counts(1, 1, 0, 0, 0, 0, 1), slices="2/2"
                ),
            },
        ),
        (
            "C11",
            None,
            {"gpu.nvidia.com/node-a": simple("node-a", Counts(5, 5, 1, 0, 0, 1, 3), slices="2/2")},
        ),
        (
            "C12",
            None,
            {
                "test-driver.cdi.k8s.io/resourceslice-0": simple(
                    "selector: node-with-dra=true",
                    Counts(2, 2, 0, 0, 0, 0, 2),
                    problems=("available_devices_compete", "counters_beside_devices"),
                )
            },
        ),
        (
            "C14",
            None,
            {
                "gpu.nvidia.com/node-a": simple(
                    "node-a", Counts(3, 3, 0, 0, 0, 0, 3), problems=("overlapping_devices",)
                )
            },
        ),
        ("C16", None, {"gpu.amd.com/node-a": simple("node-a", Counts(2, 2, 0, 0, 0, 0, 2))}),
        (
            "C17",
            None,
            {
                "gpu.nvidia.com/node-a": simple(
                    "node-a", Counts(2, 2, 0, 0, 0, 0, 2), generation=3, slices="2/2"
                ),
                "gpu.nvidia.com/node-b": simple("node-b", Counts(1, 1, 0, 0, 0, 0, 1)),
            },
        ),
        (
            "C19",
            None,
            {
                "gpu.example.com/node-a": simple(
                    "node-a", Counts(1, 1, 1, 0, 0, 0, 0), generation=2
                )
            },
        ),
        ("C21", None, {"gpu.example.com/node-a": simple("node-a", Counts(1, 1, 1, 0, 0, 0, 0))}),
        (
            "C24",
            None,
            {
                "gpu.example.com/node-a": simple(
                    "node-a", Counts(1, 1, 0, 0, 1, 0, 0), generation=4
                )
            },
        ),
        (
            "C34",
            None,
            {
                "gpu.example.com/node-a": simple(
                    "node-a", Counts(1, 1, 1, 0, 0, 0, 0), problems=("device_allocated_twice",)
                )
            },
        ),
        ("C35", None, {"gpu.nvidia.com/node-a": simple("node-a", Counts(1, 1, 1, 0, 0, 0, 0))}),
        (
            "C38",
            None,
            {"gaudi.intel.com/node-a": simple("node-a", Counts(2, 2, 1, 0, 0, 0, 1, 2))},
        ),
        ("C39", None, {"net.example.com/node-a": simple("node-a", Counts(1, 1, 1, 1, 0, 0, 0))}),
        (
            "C41",
            None,
            {
                "hami-core-gpu.project-hami.io/node-a": simple(
                    "node-a", Counts(1, 1, 1, 0, 0, 0, 0)
                )
            },
        ),
        ("C43", None, {"net.example.com/node-a": simple("node-a", Counts(1, 1, 1, 0, 0, 0, 0))}),
        ("C48", 1, {"dra.net/node-a": simple("node-a", Counts(2, 2, 1, 0, 0, 0, 1))}),
        (
            "C48",
            2,
            {"dra.net/node-a": simple("node-a", Counts(1, 1, 1, 0, 0, 0, 0), generation=2)},
        ),
        ("C49", None, {"dra.net/node-a": simple("node-a", Counts(2, 2, 0, 0, 0, 0, 2))}),
        (
            "C51",
            None,
            {
                "gpu.intel.com/node-a": simple(
                    "node-a",
                    Counts(2, 2, 0, 0, 0, 0, 2),
                    generation=0,
                    problems=("generation_zero",),
                )
            },
        ),
        (
            "C52",
            None,
            {
                "dra.cpu/node-a": simple("node-a", Counts(1, 1, 0, 0, 0, 0, 1)),
                "dra.cpu/node-b": simple("node-b", Counts(1, 1, 0, 0, 0, 0, 1)),
            },
        ),
        ("C53", None, {"dra.net/192.0.2.248": simple("192.0.2.248", Counts(2, 2, 0, 0, 0, 0, 2))}),
        ("C54", None, {}),
        ("C56", None, {"gpu.nvidia.com/node-a": simple("node-a", Counts(1, 1, 0, 0, 0, 0, 1))}),
        ("C58", None, {}),
        (
            "C60",
            None,
            {
                "gpu.example.com/node-a": Pool(
                    2, "1/2", "node-a", Counts(None, 1, 0, 0, None, None, 0), ("incomplete_pool",)
                ),
                "gpu.example.com/node-b": Pool(
                    1,
                    "2/2",
                    "node-b",
                    Counts(None, 1, 0, 0, None, None, 0),
                    ("duplicate_device_name",),
                ),
            },
        ),
        (
            "C62",
            None,
            {
                "gpu.nvidia.com/gpu-model-x-fabric1": simple(
                    "selector: cohdi.com/fabric=1", Counts(2, 2, 2, 0, 0, 0, 0)
                )
            },
        ),
        ("C72", None, {}),
    ],
)
def test_pools_of_case_have_the_figures_and_problems(
    tmp_path: Path, name: str, step: int | None, expected: dict[str, Pool]
) -> None:
    assert pools(case(tmp_path, name, step)) == expected


ALL_STEPS = [
    *((path.name[:3], None) for path in sorted(CASES.glob("C*.yaml"))),
    *((name, step) for name in ("C06", "C07", "C37", "C48") for step in (1, 2)),
    *(("C31", step) for step in (1, 2, 3, 4)),
]


@pytest.mark.parametrize("completeness", [("--complete",), ()])
@pytest.mark.parametrize(
    ("name", "step"),
    # All steps at once are two versions of one object, of which the order decides where neither has a resourceVersion.
    [each for each in ALL_STEPS if each != ("C48", None)],
)
def test_documents_in_reversed_order_give_the_same_answer(
    tmp_path: Path, name: str, step: int | None, completeness: tuple[str, ...]
) -> None:
    forwards = inspected(*completeness, write_case(tmp_path, name, step))
    backwards = inspected(*completeness, write_case(tmp_path, name, step, reverse=True))

    assert placeless(backwards) == placeless(forwards)


def placeless(report: dict[str, Any]) -> dict[str, Any]:
    """A report without the lines of its problems, which are others in a file turned round."""
    problems = sorted((each["code"], each["message"]) for each in report["problems"])
    return {**report, "problems": problems}


@pytest.mark.parametrize("path", sorted(CASES.glob("C*.yaml")), ids=lambda path: path.name[:3])
def test_every_case_is_read_whole(path: Path) -> None:
    code, printed = run(path)

    assert code == 0
    assert "[unreadable]" not in printed


def test_incomplete_pool_counts_neither_old_nor_missing_devices(tmp_path: Path) -> None:
    report = case(tmp_path, "C01")

    assert states(report) == {"gpu.example.com/node-a/gpu-1": "unknown"}
    assert "node-a  node-a  2    1/2     unknown (>=1)  0      0" in text(tmp_path, "C01")
    assert messages(report, "incomplete_pool") == [
        "1 of 2 slices of generation 2 are there: the scheduler takes no device from this pool"
    ]


def test_pool_name_on_three_nodes_is_a_collision(tmp_path: Path) -> None:
    report = case(tmp_path, "C03")

    assert states(report) == {"networkdriver.cilium.io/dx-dummy/dummy0": "allocated"}
    assert messages(report, "same_device_on_several_nodes") == [
        "device dummy0 is published on several nodes (node-a, node-b, node-c): one allocation holds all of them"
    ]
    assert messages(report, "more_slices_than_declared") == [
        (
            "3 slices are there where 1 is declared: depending on release, node and order the scheduler takes"
            " devices from it all the same"
        )
    ]


@pytest.mark.parametrize("name", ["C04", "C54", "C58", "C72"])
def test_no_slices_at_all_is_no_error(tmp_path: Path, name: str) -> None:
    report = case(tmp_path, name)

    assert (report["pools"], report["devices"], report["problems"]) == ([], [], [])
    assert "no driver publishes devices here" in text(tmp_path, name)


def test_slice_without_devices_is_another_thing_than_no_slice(tmp_path: Path) -> None:
    assert messages(case(tmp_path, "C05"), "no_devices") == [
        "the pool is complete and has no device: its driver is up and has found none"
    ]
    assert "1 pool, 0 devices seen, 0 free." in text(tmp_path, "C05")


@pytest.mark.parametrize(
    ("name", "claim", "held", "line"),
    [
        (
            "C06",
            "team-a/worker-1-imex-2gq7c",
            "compute-domain.nvidia.com/node-b/channel-0",
            "compute-domain.nvidia.com/node-b: channel-0, by team-a/worker-1-imex-2gq7c (no slice of this pool is there)",
        ),
        (
            "C07",
            "team-a/workload-a-gpu-l4p9k",
            "gpu.example.com/node-c/gpu-0",
            "gpu.example.com/node-c: gpu-0, by team-a/workload-a-gpu-l4p9k (no slice of this pool is there)",
        ),
    ],
)
def test_claim_of_a_vanished_pool_is_listed_by_itself(
    tmp_path: Path, name: str, claim: str, held: str, line: str
) -> None:
    before, after = case(tmp_path, name, 1), case(tmp_path, name, 2)

    assert (holders(before), holders(after)) == (
        {claim: [held]},
        {claim: [f"{held} (unpublished)"]},
    )
    assert [each["code"] for each in after["problems"]] == ["unpublished_allocation"]
    assert f"Held, but not published any more:\n  {line}\n" in text(tmp_path, name, 2)
    assert "Held" not in text(tmp_path, name, 1)


ALLOCATION = """apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: one, namespace: team-a, uid: 00000000-0000-4000-8000-000000000001}}
status: {{allocation: {{devices: {{results: [{{request: r, driver: {driver}, pool: {pool}, device: {device}}}]}}}}}}
"""


@pytest.mark.parametrize(
    ("name", "pool", "held", "expected"),
    [
        (
            "C09",
            "my-pool",
            "gpu-0",
            {"gpu-0": "allocated", "gpu-0-partition-0": "blocked", "gpu-0-partition-1": "blocked"},
        ),
        (
            "C09",
            "my-pool",
            "gpu-0-partition-1",
            {
                "gpu-0": "blocked",
                "gpu-0-partition-0": "available",
                "gpu-0-partition-1": "allocated",
            },
        ),
        (
            "C12",
            "resourceslice-0",
            "device-1-counter-1",
            {"device-1-counter-1": "allocated", "device-2-counters-1": "blocked"},
        ),
        (
            "C12",
            "resourceslice-0",
            "device-2-counters-1",
            {"device-1-counter-1": "blocked", "device-2-counters-1": "allocated"},
        ),
    ],
)
def test_devices_of_one_counter_exclude_each_other(
    tmp_path: Path, name: str, pool: str, held: str, expected: dict[str, str]
) -> None:
    driver = {"C09": "resource-driver.example.com", "C12": "test-driver.cdi.k8s.io"}[name]
    claim = tmp_path / "claim.yaml"
    claim.write_text(ALLOCATION.format(driver=driver, pool=pool, device=held))

    report = inspected("--complete", path_of(name), claim)

    assert states(report) == {f"{driver}/{pool}/{each}": state for each, state in expected.items()}


def test_counters_on_another_node_make_the_node_mixed(tmp_path: Path) -> None:
    assert messages(case(tmp_path, "C09"), "mixed_nodes") == [
        "the slices of this pool name different nodes: dra-example-driver, my-node"
    ]
    assert "my-pool  mixed  1    2/2" in text(tmp_path, "C09")
    assert "nodes: dra-example-driver, my-node" in text(tmp_path, "C09")


def test_one_pool_and_device_name_under_two_drivers_are_kept_apart(tmp_path: Path) -> None:
    report = case(tmp_path, "C10")

    assert states(report) == {
        "driver-a.example.com/pool-1/dev-1": "allocated",
        "driver-b.example.com/pool-1/dev-1": "available",
    }
    assert counters(report) == {
        "driver-a.example.com/pool-1/counter-set-0/units": "0 of 4",
        "driver-b.example.com/pool-1/counter-set-0/units": "4 of 4",
    }
    assert text(tmp_path, "C10").count("counter counter-set-0/units: ") == 2


def test_partition_in_use_blocks_the_whole_card_alone(tmp_path: Path) -> None:
    report = case(tmp_path, "C11")

    part = "gpu.nvidia.com/node-a/gpu-0-mig"
    assert states(report) == {
        f"{part}-1g6gb-14-0": "allocated",
        f"{part}-1g6gb-14-1": "available",
        f"{part}-1g6gb-14-2": "available",
        f"{part}-1g6gb-14-3": "available",
        f"{part}-4g24gb-0-0": "blocked",
    }
    counter = "gpu.nvidia.com/node-a/gpu-0-counter-set"
    assert counters(report) == {
        f"{counter}/copy-engines": "3 of 4",
        f"{counter}/memory": "18173Mi of 24125Mi",
        f"{counter}/memory-slice-0": "0 of 1",
        f"{counter}/memory-slice-1": "1 of 1",
        f"{counter}/memory-slice-2": "1 of 1",
        f"{counter}/memory-slice-3": "1 of 1",
        f"{counter}/multiprocessors": "42 of 56",
    }
    assert device(report, "gpu-0-mig-4g24gb-0-0")["attributes"]["addressingMode"] == "None"
    assert 'addressingMode="None"' in text(tmp_path, "C11")


def test_counters_beside_devices_are_read_and_the_selector_named(tmp_path: Path) -> None:
    assert messages(case(tmp_path, "C12"), "available_devices_compete") == [
        "the counters that are left do not cover all 2 available devices at once: at least 1 of them can be allocated together"
    ]
    assert "resourceslice-0  by selector node-with-dra=true  1    1/1" in text(tmp_path, "C12")


def test_counters_beside_devices_are_usual_up_to_1_34(tmp_path: Path) -> None:
    (pool,) = pools(inspected("--complete", "--release", "1.34", path_of("C12"))).values()

    assert pool.problems == ("available_devices_compete",)


def test_card_beside_its_parts_makes_what_is_free_unsafe(tmp_path: Path) -> None:
    report = case(tmp_path, "C14")

    assert messages(report, "overlapping_devices") == [
        (
            "device gpu-0 and its parts gpu-0-mig-9-4-4, gpu-0-mig-9-5-5 are the same hardware, and no shared counter"
            " says so: what is free cannot be relied on"
        )
    ]
    assert report["pools"][0]["capacity"] == []
    assert device(report, "gpu-0-mig-9-4-4")["attributes"] == {
        "architecture": "Ampere",
        "driverVersion": "580.95.5",
        "parentUUID": "GPU-aaaaaaaa-0000-0000-0000-000000000001",
        "pcieBusID": "0001:00:00.0",
        "productName": "NVIDIA A100 80GB PCIe",
        "profile": "1g.10gb",
        "type": "mig",
        "uuid": "MIG-bbbbbbbb-0000-0000-0000-000000000001",
    }
    assert "1 pool, 3 devices seen, at most 3 free." in text(tmp_path, "C14")
    assert "  <=3  " in text(tmp_path, "C14")


def test_devices_wrapped_in_basic_are_read_without_loss(tmp_path: Path) -> None:
    report = case(tmp_path, "C16")

    assert [each["attributes"]["parentDeviceID"] for each in report["devices"]] == [
        "7066866330502360227",
        "7066866330502360227",
    ]
    assert capacity(device(report, "gpu-32-160")["capacity"]) == {
        "computeUnits": ("152", "0", "152"),
        "memory": ("98296Mi", "0", "98296Mi"),
        "simdUnits": ("608", "0", "608"),
    }
    assert text(tmp_path, "C16").count('parentDeviceID="7066866330502360227"') == 2


def test_taint_without_effect_only_informs(tmp_path: Path) -> None:
    report = case(tmp_path, "C17")

    assert set(states(report).values()) == {"available"}
    assert device(report, "gpu-0-mig-1g12gb-19-0")["taints"] == [
        {
            "key": "gpu.nvidia.com/xid",
            "value": "43",
            "effect": "None",
            "added_at": "2026-07-22T02:24:46Z",
            "rule": None,
        }
    ]
    assert [each["code"] for each in device(report, "gpu-0")["problems"]] == [
        "unknown_taint_effect"
    ]
    printed = text(tmp_path, "C17")
    assert "taint gpu.nvidia.com/xid=43:None since 2026-07-22T02:24:46Z: informs only\n" in printed
    assert (
        "taint gpu.nvidia.com/xid=13:SomeFutureEffect since 2026-07-22T02:25:00Z: informs only\n"
        in printed
    )


@pytest.mark.parametrize(
    ("name", "state", "line"),
    [
        (
            "C19",
            "allocated",
            "taint gpu.example.com/unhealthy:NoExecute since 2025-10-06T08:00:00Z\n",
        ),
        (
            "C21",
            "allocated",
            "taint gpu.example.com/bad:NoExecute since 2026-08-20T10:00:00Z by DeviceTaintRule gpu0-bad\n",
        ),
        (
            "C24",
            "unavailable",
            "taint gpu.example.com/unhealthy:NoExecute since 2025-07-14T09:19:58Z\n",
        ),
    ],
)
def test_tainted_device_keeps_its_state_and_shows_the_taint(
    tmp_path: Path, name: str, state: str, line: str
) -> None:
    assert states(case(tmp_path, name)) == {"gpu.example.com/node-a/gpu-0": state}
    assert line in text(tmp_path, name)


@pytest.mark.parametrize(
    ("name", "step", "held"),
    [
        ("C25", None, {"team-a/shared-gpu": ["gpu.example.com/node-a/gpu-0"]}),
        (
            "C26",
            None,
            {
                "nvidia-dra-driver/cd-daemon-claim-tl2v6": [
                    "compute-domain.nvidia.com/node-a/daemon"
                ],
                "team-a/worker-0-imex-channel-4x8rd": [
                    "compute-domain.nvidia.com/node-a/channel-0"
                ],
            },
        ),
        ("C28", None, {"team-a/pool-claim": ["gpu.example.com/node-a/gpu-0"]}),
        ("C29", None, {"team-a/vm-1-gpu": ["gpu.nvidia.com/node-a/gpu-vfio-0"]}),
        *(
            ("C31", step, {"team-a/job-gpu": ["gpu.example.com/node-a/gpu-0"]})
            for step in (1, 2, 3, 4)
        ),
        ("C37", 1, {"team-a/smi-gpu-v2xkd": ["gpu.nvidia.com/node-a/gpu-0"]}),
        ("C37", 2, {}),
        (
            "C45",
            None,
            {"team-a/worker-0-nics-7lsv2": [f"dra.net/node-a/gpu{n}rdma0" for n in range(8)]},
        ),
        ("C47", None, {"team-a/dummy-interface-static-ip": ["dra.net/node-b/dummy0"]}),
        ("C64", None, {}),
        (
            "C66",
            None,
            {
                "team-a/dual-port-extended-resources-8vlrz": [
                    f"sriovnetwork.k8snetworkplumbingwg.io/node-a/0000-08-0{each}"
                    for each in ("0-2", "0-3", "2-2")
                ]
            },
        ),
        ("C69", None, {"team-a/holder-gpu-t6vqd": ["gpu.example.com/node-a/gpu-0"]}),
        (
            "C70",
            None,
            {
                "team-a/big-cpu-0": [f"dra.cpu/node-a/cpudev{n:03}" for n in range(32)],
                "team-a/big-cpu-1": [f"dra.cpu/node-a/cpudev{n:03}" for n in range(32, 64)],
            },
        ),
    ],
)
def test_claims_without_slices_hold_their_devices_and_say_no_more(
    tmp_path: Path, name: str, step: int | None, held: dict[str, list[str]]
) -> None:
    report = inspected(write_case(tmp_path, name, step))

    assert holders(report) == {
        claim: [f"{each} (unknown)" for each in devices] for claim, devices in held.items()
    }
    assert messages(report, "unpublished_allocation") == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("C25", {"team-a/shared-gpu": ["pods reader"]}),
        ("C28", {"team-a/pool-claim": ["pods w-0", "workers.job.example.com w"]}),
        ("C29", {"team-a/vm-1-gpu": ["virtualmachines.kubevirt.io vm-1"]}),
        ("C35", {"team-a/shared": ["pods p1", "pods p2"]}),
        ("C64", {"team-a/vj-0-gpu-mm4ts": []}),
        ("C69", {"team-a/holder-gpu-t6vqd": ["pods holder"]}),
    ],
)
def test_claims_name_what_they_are_reserved_for(
    tmp_path: Path, name: str, expected: dict[str, list[str]]
) -> None:
    assert users(case(tmp_path, name)) == expected


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "C26",
            (
                "team-a/worker-0-imex-channel-4x8rd: being deleted since 2025-11-05T07:00:00Z, allocated, 1 device"
                " (compute-domain.nvidia.com/node-a/channel-0), reserved for 1 (pods worker-0)"
            ),
        ),
        (
            "C29",
            (
                "team-a/vm-1-gpu: allocated, 1 device (gpu.nvidia.com/node-a/gpu-vfio-0), reserved for 1"
                " (virtualmachines.kubevirt.io vm-1)"
            ),
        ),
        ("C32", "team-a/empty-1: allocated, 0 devices, reserved for 1 (pods p1)"),
        ("C32", "team-a/empty-2: allocated, 0 devices, reserved for 1 (pods p2)"),
        (
            "C35",
            "team-a/shared: allocated, 1 device (gpu.nvidia.com/node-a/gpu-0), reserved for 2 (pods p1, pods p2)",
        ),
        ("C41", "team-a/double-gpu-0: not allocated"),
        ("C64", "team-a/vj-0-gpu-mm4ts: not allocated"),
        (
            "C70",
            (
                "team-a/big-cpu-0: allocated, 32 devices (dra.cpu/node-a/cpudev000, dra.cpu/node-a/cpudev001,"
                " dra.cpu/node-a/cpudev002, dra.cpu/node-a/cpudev003, dra.cpu/node-a/cpudev004 and 27 more),"
                " reserved for 1 (pods big)"
            ),
        ),
    ],
)
def test_claims_are_told_in_a_line(tmp_path: Path, name: str, line: str) -> None:
    assert f"  {line}\n" in text(tmp_path, name)


def test_empty_allocation_is_an_allocation(tmp_path: Path) -> None:
    report = inspected(path_of("C32"))

    assert [
        (each["claim"], each["allocated"], each["allocations"]) for each in report["claims"]
    ] == [
        ("empty-1", True, []),
        ("empty-2", True, []),
    ]


def test_device_given_to_two_claims_names_both(tmp_path: Path) -> None:
    report = case(tmp_path, "C34")

    # Once with the pool, and once with the device.
    assert (
        messages(report, "device_allocated_twice")
        == [
            "device gpu-0 is allocated 2 times, to team-a/first, team-b/second, and cannot be shared"
        ]
        * 2
    )
    assert holders(report) == {
        "team-a/first": ["gpu.example.com/node-a/gpu-0"],
        "team-b/second": ["gpu.example.com/node-a/gpu-0"],
    }


def test_admin_access_is_listed_apart(tmp_path: Path) -> None:
    report = case(tmp_path, "C38")

    assert states(report) == {
        "gaudi.intel.com/node-a/0000-a0-00-0-0x1020": "allocated",
        "gaudi.intel.com/node-a/0000-b0-00-0-0x1020": "available",
    }
    assert holders(report) == {
        "monitoring/monitor-all-5s7kk": [
            "gaudi.intel.com/node-a/0000-a0-00-0-0x1020 (admin)",
            "gaudi.intel.com/node-a/0000-b0-00-0-0x1020 (admin)",
        ],
        "team-a/job-x-gaudi": ["gaudi.intel.com/node-a/0000-a0-00-0-0x1020"],
    }
    printed = text(tmp_path, "C38")
    assert "  admin access: 2 devices\n" in printed
    assert "  monitoring/monitor-all-5s7kk: allocated, admin access, 2 devices (" in printed
    assert (
        "0000-a0-00-0-0x1020: allocated, held by team-a/job-x-gaudi, admin access by monitoring/monitor-all-5s7kk"
        in printed
    )


def test_shared_interface_has_room_left(tmp_path: Path) -> None:
    report = case(tmp_path, "C39")

    left = {
        "egressBandwidth": ("100G", "10G", "90G"),
        "ingressBandwidth": ("100G", "15G", "85G"),
        "vfs": ("100", "2", "98"),
    }
    assert states(report) == {"net.example.com/node-a/nic-0": "allocated+"}
    assert capacity(device(report, "nic-0")["capacity"]) == left
    assert capacity(report["pools"][0]["capacity"]) == left
    printed = text(tmp_path, "C39")
    assert "1 pool, 1 device seen, 0 free, 1 partly used.\n" in printed
    assert "1 (1 partly)" in printed
    assert (
        "nic-0: allocated, 2 shares, partly used, held by team-a/pod0-nic-wd8rp, team-a/pod1-nic-2hfx6"
        in printed
    )
    assert (
        "ingressBandwidth: 85G of 100G left, 15G used; a share takes 100M..100G step 1M, default 1G"
        in printed
    )
    assert "vfs: 98 of 100 left, 2 used; a share takes 1, default 1" in printed


@pytest.mark.parametrize("cores", ['"30"', "30"])
def test_share_of_a_card_is_exact_and_readable(tmp_path: Path, cores: str) -> None:
    file = tmp_path / "C41.yaml"
    file.write_text("---\n".join(documents("C41")).replace('cores: "30"', f"cores: {cores}"))

    report = inspected("--complete", file)

    assert capacity(report["pools"][0]["capacity"]) == {
        "cores": ("100", "30", "70"),
        "memory": ("25757220864", "4Gi", "21462253568"),
    }
    printed = run("--complete", file)[1]
    assert "memory: 20468Mi (21462253568) of 24564Mi (25757220864) left, 4Gi used" in printed
    assert "1 share, room only for a claim that asks for less than by default" in printed


def test_pool_status_answer_that_counts_shares_is_explained(tmp_path: Path) -> None:
    report = case(tmp_path, "C43")

    (request,) = report["pool_status_requests"]
    assert request == {
        "name": "check-net",
        "driver": "net.example.com",
        "pool": None,
        "partition_type_attribute": None,
        "outcome": "answered",
        "message": "",
        "created_at": "2026-07-06T10:00:00Z",
        "pool_count": 1,
        "pools_answered": 1,
        "pools_differing": 1,
        "blocked_by": [],
        "release": "1.36",
        "pools": [
            {
                "driver": "net.example.com",
                "pool": "node-a",
                "server": {
                    "driver": "net.example.com",
                    "poolName": "node-a",
                    "generation": 1,
                    "resourceSliceCount": 1,
                    "totalDevices": 1,
                    "allocatedDevices": 2,
                    "availableDevices": 0,
                    "unavailableDevices": 0,
                    "nodeName": "node-a",
                },
                "differences": [
                    {
                        "field": "allocated",
                        "parameters": {},
                        "name": "allocated",
                        "ours": 1,
                        "server": 2,
                        "reason": "the server counts each share of a device (1.36)",
                        "reasons": ["server_counts_shares"],
                    }
                ],
            }
        ],
    }
    assert capacity(report["pools"][0]["capacity"]) == {"ingressBandwidth": ("100G", "20G", "80G")}
    printed = text(tmp_path, "C43")
    assert (
        "node-a: pool status request disagrees: reports 2 allocated of 1, 0 available\n" in printed
    )
    assert (
        "allocated: 1 here, 2 there: the server counts each share of a device (1.36)\n" in printed
    )
    assert (
        "nic-0: allocated, 2 shares, room only for a claim that asks for less than by default"
        in printed
    )


def test_pool_status_answer_is_compared_by_the_release_that_is_named(tmp_path: Path) -> None:
    report = inspected("--complete", "--release", "1.37", path_of("C43"))

    (request,) = report["pool_status_requests"]
    assert request["release"] == "1.37"
    assert [each["reason"] for each in request["pools"][0]["differences"]] == [
        "not explained: the objects may have changed between the two readings"
    ]


def test_attribute_that_flips_is_shown_as_it_is_now(tmp_path: Path) -> None:
    before, after = case(tmp_path, "C48", 1), case(tmp_path, "C48", 2)

    name = "pci-0000-03-00-0"
    assert device(before, name)["attributes"] == {
        "dra.net/ifName": "rdma0",
        "dra.net/mtu": 9000,
        "dra.net/rdma": True,
    }
    assert device(after, name)["attributes"] == {"dra.net/mtu": 9000, "dra.net/rdma": False}
    assert states(after) == {f"dra.net/node-a/{name}": "allocated"}
    assert holders(after) == {"team-a/w0-nic": [f"dra.net/node-a/{name}"]}


def test_names_and_texts_that_look_like_numbers_stay_text(tmp_path: Path) -> None:
    report = case(tmp_path, "C49")

    assert device(report, "net1-1500-vlan")["attributes"] == {
        "dra.net/alias": "",
        "dra.net/ifName": "Net1.1500",
        "dra.net/pciAddressBus": "00",
        "dra.net/pciAddressDomain": "007",
    }
    assert device(report, "gpu0rdma0")["attributes"] == {
        "dra.net/ifName": "gpu0rdma0",
        "dra.net/ipv4": "192.0.2.20",
        "dra.net/mtu": 8896,
        "dra.net/rdma": True,
    }
    assert [each["code"] for each in device(report, "gpu0rdma0")["problems"]] == [
        "basic_in_flat_version"
    ]
    assert 'dra.net/alias="", dra.net/ifName="Net1.1500", dra.net/pciAddressBus="00"' in text(
        tmp_path, "C49"
    )


def test_memory_of_zero_is_not_known(tmp_path: Path) -> None:
    report = case(tmp_path, "C51")

    first = device(report, "0000-00-02-0-0x7d67")
    assert capacity(first["capacity"]) == {
        "memory": ("0", None, None),
        "millicores": ("1k", "0", "1k"),
    }
    assert (first["attributes"]["health"], first["taints"]) == ("Healthy", [])
    printed = text(tmp_path, "C51")
    assert "memory: not known (0 as published)\n" in printed
    assert "millicores: 1k (1000)\n" in printed
    assert 'health="Healthy"' in printed
    assert "%" not in printed


def test_lists_and_types_of_later_releases_are_shown(tmp_path: Path) -> None:
    report = case(tmp_path, "C52")

    assert device(report, "cpudevnuma000")["attributes"] == {
        "dra.cpu/numCPUs": 64,
        "dra.cpu/smtEnabled": True,
        "dra.net/numaNode": 0,
        "resource.kubernetes.io/numaNode": 0,
        "resource.kubernetes.io/pcieRoot": ["pci0000:00", "pci0000:10"],
    }
    assert device(report, "cpudevnuma001")["attributes"] == {
        "dra.cpu/caches": [0, 1, 2],
        "dra.cpu/future": {"durations": ["5s"]},
        "dra.cpu/numCPUs": 64,
        "resource.kubernetes.io/numaNode": 1,
        "resource.kubernetes.io/pcieRoot": ["pci0000:40"],
    }
    printed = text(tmp_path, "C52")
    assert 'resource.kubernetes.io/pcieRoot=["pci0000:00", "pci0000:10"]' in printed
    assert 'dra.cpu/future=unknown type {"durations": ["5s"]}' in printed
    assert (
        'nodeAllocatableResources (as published): {"cpu": {"mapping": {"capacityKey": "dra.cpu/cpu", "capacityMultiplier": "1"}}}'
        in printed
    )
    assert (
        'nodeAllocatableResourceMappings (as published): {"cpu": {"capacityKey": "dra.cpu/cpu", "allocationMultiplier": "1"}}'
        in printed
    )


def test_names_like_addresses_and_texts_of_any_script_are_kept(tmp_path: Path) -> None:
    report = case(tmp_path, "C53")

    attributes = device(report, "pci-0000-03-00-0")["attributes"]
    assert (attributes["dra.net/pciAddress"], attributes["dra.net/sriovVfs"]) == (
        "0000:03:00.0",
        0,
    )
    assert (
        device(report, "eth0v1")["attributes"]["dra.net/pciVendor"] == "Ünïcode Netzwerk 株式会社"
    )
    printed = text(tmp_path, "C53")
    assert 'dra.net/pciVendor="Ünïcode Netzwerk 株式会社"' in printed
    assert "dra.net/sriov=true, dra.net/sriovVfs=0" in printed


def test_free_device_is_free_whatever_the_pod_says(tmp_path: Path) -> None:
    assert states(case(tmp_path, "C56")) == {"gpu.nvidia.com/node-a/gpu-0": "available"}


def test_incomplete_and_invalid_pools_give_their_own_reasons(tmp_path: Path) -> None:
    report = case(tmp_path, "C60")

    assert messages(report, "incomplete_pool") == [
        "1 of 2 slices of generation 2 are there: the scheduler takes no device from this pool"
    ]
    assert messages(report, "duplicate_device_name") == [
        "duplicate device name dev-1: the scheduler rejects the pool on nodes that see it, status requests do not notice"
    ]


def test_device_to_be_attached_first_says_what_it_waits_for(tmp_path: Path) -> None:
    printed = text(tmp_path, "C62")

    assert printed.count("to be attached first: waits for FabricDeviceReady\n") == 2
    assert "by selector cohdi.com/fabric=1" in printed


def test_device_of_an_incomplete_pool_may_be_allocated(tmp_path: Path) -> None:
    claim = tmp_path / "claim.yaml"
    claim.write_text(ALLOCATION.format(driver="gpu.example.com", pool="node-a", device="gpu-1"))

    report = inspected("--complete", path_of("C01"), claim)

    assert states(report) == {"gpu.example.com/node-a/gpu-1": "allocated"}
    assert pools(report)["gpu.example.com/node-a"].counts == Counts(None, 1, 1, 0, None, None, 0)
    assert messages(report, "unpublished_allocation") == []


def test_device_of_an_older_generation_is_held_but_not_published(tmp_path: Path) -> None:
    claim = tmp_path / "claim.yaml"
    claim.write_text(ALLOCATION.format(driver="gpu.example.com", pool="node-a", device="gpu-0"))

    printed = run("--complete", path_of("C01"), claim)[1]

    assert (
        "Held, but not published any more:\n  gpu.example.com/node-a: gpu-0, by team-a/one\n"
        in printed
    )


def test_old_servers_take_devices_from_incomplete_pools(tmp_path: Path) -> None:
    (pool,) = pools(inspected("--complete", "--release", "1.34", path_of("C01"))).values()

    assert pool.counts == Counts(None, 1, 0, 0, None, None, None)


@pytest.mark.parametrize("name", ["C11", "C39", "C43"])
def test_command_line_gives_the_same_as_the_call(name: str) -> None:
    arguments = ["--complete", "--format", "json", str(path_of(name))]

    found = subprocess.run(
        [sys.executable, "-c", "from dradash.cli import main; main()", "inspect", *arguments],
        capture_output=True,
        check=True,
        timeout=60,
    )

    assert json.loads(found.stdout) == json.loads(run(*arguments)[1])
