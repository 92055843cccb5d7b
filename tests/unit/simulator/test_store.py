import pytest

from simulator.statuses import Refusal
from simulator.store import LogLine, Store
from tests.unit.simulator.client import resource_slice


@pytest.fixture
def store() -> Store:
    return Store(stamp=lambda: "2026-11-29T12:00:00Z", seed=1, first_revision=100)


def test_put_of_a_new_object_completes_its_metadata(store: Store) -> None:
    stored = store.put(resource_slice("w0"))

    metadata = stored.decoded()["metadata"]
    assert metadata.pop("uid") == stored.uid
    assert metadata == {
        "name": "w0",
        "resourceVersion": "101",
        "generation": 1,
        "creationTimestamp": "2026-11-29T12:00:00Z",
    }


def test_put_of_a_changed_spec_raises_the_generation(store: Store) -> None:
    uid = store.put(resource_slice("w0")).uid

    changed = store.put(resource_slice("w0", allNodes=True))

    assert changed.uid == uid
    assert changed.decoded()["metadata"]["generation"] == 2


def test_put_of_a_changed_label_leaves_the_generation(store: Store) -> None:
    store.put(resource_slice("w0"))
    labelled = resource_slice("w0")
    labelled["metadata"]["labels"] = {"a": "b"}

    assert store.put(labelled).decoded()["metadata"]["generation"] == 1


def test_put_without_a_change_writes_nothing(store: Store) -> None:
    first = store.put(resource_slice("w0"))

    assert store.put(resource_slice("w0")) is first
    assert store.log == [LogLine("ADDED", "ResourceSlice", "w0", 101)]


def test_put_with_another_uid_deletes_the_object_of_that_name_first(store: Store) -> None:
    store.put(resource_slice("w0"))
    other = resource_slice("w0")
    other["metadata"]["uid"] = "11111111-1111-4111-8111-111111111111"

    store.put(other)

    assert [(change.type, change.resource_version) for change in store.log] == [
        ("ADDED", 101),
        ("DELETED", 102),
        ("ADDED", 103),
    ]


def test_put_that_must_add_refuses_a_name_that_is_taken(store: Store) -> None:
    store.put(resource_slice("w0"))

    with pytest.raises(Refusal, match="already exists"):
        store.put(resource_slice("w0"), must_be="ADDED")


def test_delete_of_an_object_with_finalizers_only_marks_it(store: Store) -> None:
    held = resource_slice("w0")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    store.put(held)

    marked = store.delete("ResourceSlice", "w0")

    assert marked is not None
    assert marked.decoded()["metadata"]["deletionTimestamp"] == "2026-11-29T12:00:00Z"
    assert store.items("ResourceSlice") == [marked]


def test_taking_the_last_finalizer_off_deletes_what_is_marked(store: Store) -> None:
    held = resource_slice("w0")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    store.put(held)
    store.delete("ResourceSlice", "w0")

    store.put(resource_slice("w0"))

    assert store.items("ResourceSlice") == []
    assert [change.type for change in store.log] == ["ADDED", "MODIFIED", "DELETED"]


def test_snapshot_at_shows_the_objects_as_they_were(store: Store) -> None:
    store.put(resource_slice("w0"))
    store.put(resource_slice("w1"))
    store.delete("ResourceSlice", "w0")
    store.put(resource_slice("w1", allNodes=True))

    then = store.snapshot_at("ResourceSlice", 102)

    assert then is not None
    assert [(stored.key, stored.resource_version) for stored in then.items] == [
        ("w0", 101),
        ("w1", 102),
    ]


def test_snapshot_at_a_forgotten_revision_is_unknown(store: Store) -> None:
    store.put(resource_slice("w0"))
    store.put(resource_slice("w1"))
    store.forget_history()

    assert store.snapshot_at("ResourceSlice", 101) is None
    assert store.snapshot_at("ResourceSlice", 102) is not None


def test_restore_undoes_later_writes_and_gives_their_revisions_out_again(store: Store) -> None:
    first = store.put(resource_slice("w0"))
    store.put(resource_slice("w0", allNodes=True))
    store.put(resource_slice("w1"))

    store.restore(101)

    assert store.items("ResourceSlice") == [first]
    assert store.log == [LogLine("ADDED", "ResourceSlice", "w0", 101)]
    assert store.put(resource_slice("w2")).resource_version == 102


def test_deleted_object_carries_the_revision_of_its_deletion(store: Store) -> None:
    store.put(resource_slice("w0"))

    deleted = store.delete("ResourceSlice", "w0")

    assert deleted is not None
    assert deleted.decoded()["metadata"]["resourceVersion"] == "102"


class Monotonic:
    """A clock that moves when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def change_for(store: Store, clock: Monotonic, *, seconds: int) -> None:
    """One change a second."""
    for _ in range(seconds):
        clock.now += 1
        store.put(resource_slice("w0", devices=[{"name": f"gpu-{clock.now:.0f}"}]))


def test_store_that_changes_for_hours_keeps_minutes_of_events() -> None:
    clock = Monotonic()
    store = Store(
        stamp=lambda: "2026-11-29T12:00:00Z",
        seed=1,
        first_revision=100,
        log_kept=50,
        monotonic=clock,
    )

    change_for(store, clock, seconds=3 * 3600)

    oldest = store.history_start("ResourceSlice")
    events = store.events_after("ResourceSlice", oldest)
    assert 300 <= len(events) <= 602
    assert events[0].resource_version == oldest + 1
    assert 50 <= len(store.log) <= 100


def test_store_of_rare_changes_keeps_the_latest_ones_however_old() -> None:
    clock = Monotonic()
    store = Store(stamp=str, seed=1, first_revision=100, monotonic=clock)
    change_for(store, clock, seconds=60)

    clock.now += 24 * 3600
    change_for(store, clock, seconds=1)

    assert store.history_start("ResourceSlice") == 100
    assert len(store.events_after("ResourceSlice", 100)) == 61
