from kube.kinds import KINDS


def test_numbers_of_kinds_are_what_events_were_stored_with() -> None:
    assert {kind.number: kind.name for kind in KINDS.values()} == {
        1: "ResourceSlice",
        2: "ResourceClaim",
        3: "DeviceClass",
        4: "DeviceTaintRule",
        5: "ResourcePoolStatusRequest",
        6: "Node",
    }
