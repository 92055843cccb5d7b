import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kube.bodies import decode_envelope
from kube.digest import body_digest, with_pool_generation
from kube.kinds import RESOURCE_CLAIM, RESOURCE_SLICE, Kind
from kube.objects import Seen, seen_object

SPEC = '{"driver":"d.example.com","pool":{"name":"p/1","generation":%s,"resourceSliceCount":1},%s}'
DEVICES = '"nodeName":"n","devices":[{"name":"gpu-0"}]'


def seen(body: str, kind: Kind = RESOURCE_SLICE) -> Seen:
    raw = body.encode()
    return seen_object(
        raw,
        decode_envelope(raw),
        type_="added",
        kind=kind.name,
        api_version="resource.k8s.io/v1",
    )


def slice_body(
    *,
    resource_version: str = "7",
    object_generation: int = 1,
    pool_generation: str = "4",
    rest: str = DEVICES,
    more: str = "",
    beginning: str = "",
) -> str:
    metadata = (
        f'{{"name":"a","uid":"u","resourceVersion":"{resource_version}",'
        f'"generation":{object_generation},"labels":{{"x":"y"}}{more}}}'
    )
    return f'{{{beginning}"metadata":{metadata},"spec":{SPEC % (pool_generation, rest)}}}'


def test_digest_normalised_slice_lacks_what_changes_without_meaning() -> None:
    _, generation, body = body_digest(seen(slice_body(more=',"managedFields":[{"a":{}}]')))

    assert generation == 4
    assert body == (
        b'{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice",'
        b'"metadata":{"name":"a","uid":"u","labels":{"x":"y"}},'
        b'"spec":{"driver":"d.example.com","pool":{"name":"p/1","resourceSliceCount":1},'
        b'"nodeName":"n","devices":[{"name":"gpu-0"}]}}'
    )


@pytest.mark.parametrize(
    "other",
    [
        slice_body(resource_version="8"),
        slice_body(object_generation=2, pool_generation="5"),
        slice_body(more=',"managedFields":[{"manager":"m"}]'),
        slice_body(beginning='"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1",'),
    ],
    ids=["resource-version", "next-generation", "managed-fields", "from-a-watch"],
)
def test_digest_same_content_gives_the_same_name(other: str) -> None:
    name, _, body = body_digest(seen(slice_body()))

    assert (body_digest(seen(other))[0], body_digest(seen(other))[2]) == (name, body)


@pytest.mark.parametrize(
    "other",
    [
        slice_body(rest='"nodeName":"n","devices":[{"name":"gpu-1"}]'),
        slice_body(more=',"annotations":{"a":"b"}'),
        slice_body().removesuffix("}") + ',"unheardOf":1}',
    ],
    ids=["device", "annotation", "field-of-a-newer-release"],
)
def test_digest_other_content_gives_another_name(other: str) -> None:
    assert body_digest(seen(other))[0] != body_digest(seen(slice_body()))[0]


@pytest.mark.parametrize(
    ("spec", "generation", "rest"),
    [
        (
            '{"pool":{"generation":3,"name":"p"},"driver":"d"}',
            3,
            {"pool": {"name": "p"}, "driver": "d"},
        ),
        (
            '{"driver":"d\\"","pool":{"name":"p\\"","generation":3,"resourceSliceCount":1}}',
            3,
            {"driver": 'd"', "pool": {"name": 'p"', "resourceSliceCount": 1}},
        ),
        (
            '{"driver":"d","pool":{"name":"p","generation":-1}}',
            -1,
            {"driver": "d", "pool": {"name": "p"}},
        ),
        ('{"driver":"d","pool":{"name":"p"}}', None, {"driver": "d", "pool": {"name": "p"}}),
        ('{"driver":"d","pool":null}', None, {"driver": "d", "pool": None}),
        ('{"driver":"d"}', None, {"driver": "d"}),
        ('"text"', None, "text"),
        (
            '{"driver":"d","pool":{"name":"p","generation":"x"}}',
            None,
            {"driver": "d", "pool": {"name": "p", "generation": "x"}},
        ),
    ],
)
def test_digest_unusual_spec_is_taken_apart(
    spec: str, generation: int | None, rest: object
) -> None:
    found = body_digest(seen(f'{{"metadata":{{"name":"a"}},"spec":{spec}}}'))

    assert (found[1], json.loads(found[2])["spec"]) == (generation, rest)


def test_digest_claims_keep_their_generations() -> None:
    body = '{"metadata":{"name":"a","generation":2},"spec":{"pool":{"generation":3}}}'

    found = body_digest(seen(body, RESOURCE_CLAIM))

    assert found[1] is None
    assert json.loads(found[2])["metadata"] == {"name": "a", "generation": 2}
    assert json.loads(found[2])["spec"] == {"pool": {"generation": 3}}


@pytest.mark.parametrize("metadata", ["null", "7", '"x"'])
def test_digest_odd_metadata_does_not_raise(metadata: str) -> None:
    found = body_digest(seen(f'{{"metadata":{metadata},"spec":{{}}}}'))

    assert json.loads(found[2])["metadata"] == json.loads(metadata)


@settings(deadline=None)
@given(generation=st.integers(0, 2**63 - 1), devices=st.lists(st.text(max_size=5), max_size=3))
def test_digest_pool_generation_put_back_gives_the_object(
    generation: int, devices: list[str]
) -> None:
    rest = json.dumps({"devices": devices})[1:-1]
    whole = json.loads(slice_body(pool_generation=str(generation), rest=rest))

    _, found, body = body_digest(seen(slice_body(pool_generation=str(generation), rest=rest)))

    assert json.loads(with_pool_generation(body, found))["spec"] == whole["spec"]
