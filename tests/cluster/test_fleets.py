from tests.cluster import fleets
from tests.cluster.controlplane import ControlPlane

POOL = {"name": "node-0", "generation": 1, "resourceSliceCount": 1}


def plain_device(name: str, **parts: object) -> dict[str, object]:
    return {
        "name": name,
        "attributes": {fleets.UNIQUE: {"string": f"plain-{name}"}},
        **parts,
    }


def test_same_seed_makes_same_fleet() -> None:
    assert fleets.random_fleet(7) == fleets.random_fleet(7)
    assert fleets.random_fleet(7) != fleets.random_fleet(8)


def test_scheduler_refuses_held_and_tainted_devices_only(
    control_plane_default: ControlPlane,
) -> None:
    taint = {"key": "example.com/a", "effect": "NoSchedule"}
    tainted = plain_device("tainted", taints=[taint])
    devices = [plain_device("d0"), plain_device("d1"), tainted]
    spec = {
        "driver": fleets.PLAIN,
        "nodeName": "node-0",
        "pool": POOL,
        "devices": devices,
    }
    fleet = fleets.Fleet(
        seed=0,
        nodes=("node-0",),
        slice_specs=(spec,),
        rule_specs=(),
        holders=({"deviceClassName": "plain"},),
    )

    fleets.apply_fleet(control_plane_default, fleet)
    trials = fleets.try_each_device(control_plane_default)

    assert len([trial.device for trial in trials if trial.is_placed]) == 1
    assert [trial.device for trial in trials if not trial.is_placed][-1] == "tainted"


def test_trials_leave_stored_objects_as_they_were(
    control_plane_default: ControlPlane,
) -> None:
    before = fleets.apply_fleet(control_plane_default, fleets.random_fleet(5))

    trials = fleets.try_each_device(control_plane_default)

    after = fleets.stored_objects(control_plane_default)
    names = [[(o["kind"], o["metadata"]["name"]) for o in objects] for objects in (before, after)]
    assert len(trials) > 10
    assert names[0] == names[1]
