"""Rights that are taken away, and tokens that end: named, without hurting what can still be read, and healed by themselves."""

from collections.abc import Iterator

import pytest

from ingest import services
from objects.choices import Op
from tests.cluster.controlplane import ControlPlane
from tests.cluster.objects import device, held_claim, resource_slice
from tests.cluster.product import Product, clock, eventually, install, wait_for_right
from tests.cluster.rights import ACCOUNT, NAMESPACE, ROLE, role_without, shipped_rights
from ui.words import words_of

pytestmark = pytest.mark.django_db(transaction=True)

DRIVER = "gpu.example.com"
CLAIMS = "ResourceClaim"
FOLLOWED = ("DeviceClass", "DeviceTaintRule", "Node", CLAIMS, "ResourceSlice")


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with ControlPlane(start_controllers=False) as started:
        yield started


@pytest.fixture
def product(plane: ControlPlane) -> Product:
    plane.wipe()
    plane.apply([resource_slice("slice", [device("a"), device("b")], driver=DRIVER)])
    plane.apply([held_claim("held", DRIVER, "a")])
    watching = Product.watching(plane)
    watching.sync()
    assert watching.figures("node-0", DRIVER) == (2, 1, 0, 0, 0, 1, 0)
    return watching


def test_right_for_one_kind_revoked_leaves_the_others_and_comes_back(product: Product) -> None:
    plane, path = product.plane, "/apis/resource.k8s.io/v1/resourceclaims"
    plane.apply([role_without("resourceclaims")])
    wait_for_right(plane, path, is_given=False)

    product.sync()

    assert product.kind_states() == dict.fromkeys(FOLLOWED, "watching") | {CLAIMS: "forbidden"}
    assert 'User "system:serviceaccount:dradash:dradash" cannot' in words_of(
        product.kind(CLAIMS).failure
    )
    assert product.figures("node-0", DRIVER) == (2, None, None, None, None, None, None)
    assert product.rest("pools/")["results"][0]["devices"]["available"] is None
    assert product.gaps(CLAIMS) == [("forbidden", False)]
    assert product.reach() == "ok"
    assert "we may not read ResourceClaims" in product.page("/pools/")

    plane.apply(shipped_rights())
    wait_for_right(plane, path, is_given=True)
    product.retry_now()
    product.sync()

    assert product.kind_states() == dict.fromkeys(FOLLOWED, "watching")
    assert product.figures("node-0", DRIVER) == (2, 1, 0, 0, 0, 1, 0)
    assert product.gaps(CLAIMS) == [("forbidden", True)]
    assert product.events(CLAIMS) == [(Op.RESYNC_ADDED, "held")]
    assert "we may not read" not in product.page("/pools/")


def test_all_rights_revoked_while_followed_are_named_and_heal_by_themselves(
    product: Product,
) -> None:
    plane = product.plane
    with product.following():
        plane.delete("ClusterRoleBinding", ROLE)
        eventually(lambda: set(product.kind_states().values()) == {"forbidden"}, seconds=60)
        eventually(lambda: product.reach() == "forbidden")
        services.rediscover_cluster(product.cluster.pk, clock=clock)
        reach_after_discovery = product.reach()
        plane.apply(shipped_rights())
        eventually(lambda: set(product.kind_states().values()) == {"watching"}, seconds=120)
        eventually(lambda: product.reach() == "ok")

    assert reach_after_discovery in {"ok", "forbidden"}
    assert product.figures("node-0", DRIVER) == (2, 1, 0, 0, 0, 1, 0)
    assert product.events("ResourceSlice") == [(Op.RESYNC_ADDED, "slice")]
    assert product.gaps("ResourceSlice") == [("forbidden", True)]


def test_token_expired_is_told_as_unauthorized_and_a_fresh_one_is_taken_up(
    product: Product,
) -> None:
    plane = product.plane
    expired = plane.service_account_token(NAMESPACE, ACCOUNT, -120)
    plane.kubeconfig(ACCOUNT, token=expired)

    product.sync()
    reach, states = product.reach(), set(product.kind_states().values())
    page = product.page("/pools/")
    figures = product.figures("node-0", DRIVER)
    install(plane)
    product.retry_now()
    product.sync()

    assert (reach, states) == ("unauthorized", {"failing"})
    assert "sign-in refused" in page
    # What was known stays in view, with its age.
    assert figures == (2, 1, 0, 0, 0, 1, 0)
    assert product.reach() == "ok"
    assert set(product.kind_states().values()) == {"watching"}
    assert product.gaps(CLAIMS) == [("api_unreachable", True)]
    assert product.events(CLAIMS) == [(Op.RESYNC_ADDED, "held")]
