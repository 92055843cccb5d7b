"""What the log, the history and the gaps say of a driver's roll-out and of troubles of the control plane."""

import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from objects.choices import Op
from objects.models import Body
from tests.cluster.client import Document
from tests.cluster.controlplane import ControlPlane
from tests.cluster.objects import device, held_claim, resource_slice, taint
from tests.cluster.product import Product, eventually
from tests.series import for_each

pytestmark = pytest.mark.django_db(transaction=True)

DRIVER = "gpu.example.com"
SLICES, CLAIMS = "ResourceSlice", "ResourceClaim"


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """One whose allocations are written by hand, so no scheduler or controller tidies them up."""
    with ControlPlane(start_controllers=False) as started:
        yield started


@pytest.fixture
def product(plane: ControlPlane) -> Product:
    plane.wipe()
    return Product.watching(plane)


def gpus(number: int, *, generation: int = 1, count: int = 1, **parts: object) -> Document:
    devices = [device(f"gpu-{number}-{index}", **parts) for index in range(2)]
    return resource_slice(
        f"slice-{number}", devices, driver=DRIVER, generation=generation, count=count
    )


def has_come_to(product: Product, generation: int, seen: int) -> bool:
    return product.progress("node-0") == (generation, seen, 3)


def test_roll_out_slice_by_slice_is_incomplete_meanwhile_and_stores_no_body(
    product: Product,
) -> None:
    plane = product.plane
    plane.apply([gpus(number, count=3) for number in range(3)])
    plane.apply([held_claim("held", DRIVER, "gpu-0-0")])
    product.sync()
    bodies = Body.objects.filter(cluster=product.cluster).count()
    assert product.samples("node-0") == [(1, True, 6, 5)]

    def roll_out(number: int) -> None:
        plane.apply([gpus(number, generation=2, count=3)])
        eventually(partial(has_come_to, product, 2, number + 1))

    with product.following():
        for_each(range(3), roll_out)

    assert product.figures("node-0", DRIVER) == (6, 1, 0, 0, 0, 5, 0)
    assert product.samples("node-0") == [(1, True, 6, 5), (2, False, None, 0), (2, True, 6, 5)]
    assert product.events(SLICES)[3:] == [(Op.MODIFIED, f"slice-{n}") for n in range(3)]
    assert Body.objects.filter(cluster=product.cluster).count() == bodies
    pool = product.rest("pools/")["results"][0]
    history = product.rest(f"pools/{pool['id']}/history/")
    latest = history["points"][-1]
    assert (latest["generation"], latest["complete"], latest["devices"]["total"]) == (2, True, 6)


@pytest.mark.parametrize(
    ("sig", "reasons"),
    [
        # Asked politely, it lets open watches live on: whether a window ends while it is away is chance.
        (signal.SIGTERM, {"relist", "api_unreachable"}),
        (signal.SIGKILL, {"api_unreachable"}),
    ],
)
def test_restart_of_the_api_server_repeats_nothing_and_recovers_by_itself(
    product: Product, sig: signal.Signals, reasons: set[str]
) -> None:
    plane = product.plane
    plane.apply([gpus(0), resource_slice("other", [device("x")], driver=DRIVER, pool="other")])
    plane.apply([held_claim("held", DRIVER, "gpu-0-0")])
    product.sync()

    with product.following():
        plane.apply([gpus(0, taints=taint())])
        eventually(lambda: product.figures("node-0", DRIVER) == (2, 1, 0, 1, 0, 0, 0))
        plane.restart_api_server(sig)
        plane.apply([gpus(0)])
        eventually(lambda: product.figures("node-0", DRIVER) == (2, 1, 0, 0, 0, 1, 0), seconds=90)
        # Nothing of claims has changed since long before the restart: their cursor is too old.
        eventually(lambda: product.kind(CLAIMS).relists == 1, seconds=90)
        eventually(lambda: set(product.kind_states().values()) == {"watching"}, seconds=90)

    changes = product.events(SLICES)[2:]
    assert changes[0] == (Op.MODIFIED, "slice-0")
    assert changes[1:] in ([(Op.MODIFIED, "slice-0")], [(Op.RESYNC_MODIFIED, "slice-0")])
    assert product.events(CLAIMS) == [(Op.RESYNC_ADDED, "held")]
    (gap,) = product.gaps(CLAIMS)
    assert gap in {(reason, True) for reason in reasons}
    assert product.reach() == "ok"


def test_change_made_while_the_api_server_restarts_is_found_once(product: Product) -> None:
    """Deleted, made and changed while nobody could see it: told as found by a full read."""
    plane = product.plane
    plane.apply([gpus(0), resource_slice("gone", [device("x")], driver=DRIVER, pool="gone")])
    product.sync()

    plane.restart_api_server(signal.SIGKILL)
    plane.delete(SLICES, "gone")
    plane.apply([gpus(0, taints=taint())])
    plane.apply([resource_slice("new", [device("x")], driver=DRIVER, pool="new")])
    plane.restart_api_server(signal.SIGKILL)
    product.sync()

    assert sorted(product.events(SLICES)[2:]) == [
        (Op.RESYNC_ADDED, "new"),
        (Op.RESYNC_MODIFIED, "slice-0"),
        (Op.RESYNC_DELETED, "gone"),
    ]
    assert product.gaps(SLICES) == [("relist", True)]
    assert product.figures("node-0", DRIVER) == (2, 0, 0, 2, 0, 0, 0)


def restore_while_followed(product: Product, snapshot: Path) -> None:
    with product.following():
        product.plane.restore_etcd(snapshot)
        eventually(lambda: product.figures("node-0", DRIVER) == (2, 0, 0, 0, 0, 2, 0), seconds=90)
        eventually(lambda: set(product.kind_states().values()) == {"watching"}, seconds=90)


def restore_and_sync(product: Product, snapshot: Path) -> None:
    product.plane.restore_etcd(snapshot)
    product.sync()


@pytest.mark.parametrize("restore", [restore_while_followed, restore_and_sync])
def test_etcd_of_an_older_copy_is_noticed_and_read_anew(
    product: Product, restore: Callable[[Product, Path], None]
) -> None:
    """Followed all along, the API server is seen to be away as well; else the window is silent."""
    plane = product.plane
    plane.apply([gpus(0)])
    snapshot = plane.snapshot_etcd()
    plane.apply([gpus(0, taints=taint())])
    plane.apply([resource_slice("late", [device("x")], driver=DRIVER, pool="late")])
    plane.apply([held_claim(f"late-{number}", DRIVER, "gpu-0-1") for number in range(20)])
    product.sync()
    assert product.figures("node-0", DRIVER) == (2, 1, 0, 1, 0, 0, 0)

    restore(product, snapshot)

    assert product.figures("node-0", DRIVER) == (2, 0, 0, 0, 0, 2, 0)
    assert sorted(product.events(SLICES)[2:]) == [
        (Op.RESYNC_MODIFIED, "slice-0"),
        (Op.RESYNC_DELETED, "late"),
    ]
    assert product.gaps(SLICES) == [("restored", True)]
    assert "Device" in product.page("/pools/")
