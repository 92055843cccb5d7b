import pytest

from kube.connect import connect
from kube.discovery import read_identity
from kube.identity import Identity
from kube.targets import Target
from simulator.server import start

BEFORE = Identity("uid", "ca", "https://a")


@pytest.mark.parametrize(
    ("found", "before", "is_another"),
    [
        (BEFORE, BEFORE, False),
        (Identity("uid", "new ca", "https://b"), BEFORE, False),
        (Identity("another", "ca", "https://a"), BEFORE, True),
        # The uid may not be read, now or before.
        (Identity("", "ca", "https://b"), BEFORE, False),
        (Identity("", "new ca", "https://a"), BEFORE, True),
        (BEFORE, Identity("", "ca", "https://b"), False),
        # Nor are there certificates of its own.
        (Identity("", "", "https://a"), Identity("", "", "https://a"), False),
        (Identity("", "", "https://b"), Identity("", "", "https://a"), True),
    ],
)
def test_cluster_is_another_by_uid_then_by_authority_then_by_address(
    found: Identity, before: Identity, is_another: bool
) -> None:
    assert found.is_another_than(before) is is_another


def test_identity_is_the_uid_of_kube_system_and_how_the_cluster_is_reached() -> None:
    with start(seed=5) as one, start(seed=5) as again, start(seed=6) as another:
        found = [
            read_identity(connect(Target("url", url=each.url))) for each in (one, again, another)
        ]

    assert [each.server for each in found] == [one.url, again.url, another.url]
    assert found[0].uid == found[1].uid
    assert found[0].uid != found[2].uid
    assert {each.authority for each in found} == {""}


def test_identity_without_the_right_to_read_the_namespace_is_the_address() -> None:
    with start() as simulator:
        simulator.revoke("get", "namespaces")

        found = read_identity(connect(Target("url", url=simulator.url)))

    assert found == Identity("", "", simulator.url)
