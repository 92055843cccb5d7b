import json
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kube.bodies import ListBody, compact, gunzip, split_lines
from kube.failures import Malformed

KEYS = st.sampled_from(["metadata", "items", "spec", "a", 'x"', "},{"])
VALUES: st.SearchStrategy[object] = st.sampled_from(
    [
        None,
        True,
        -5,
        "größe",
        '"',
        "\\",
        "{",
        "]}",
        '},{"metadata":',
        [],
        [1, "]}", {"a": "}"}],
        {"metadata": {"items": []}},
        {"items": [{"metadata": 1}, {"metadata": 2}]},
        {'},{"metadata":': ['\\"', {}]},
    ]
)
ITEMS = st.lists(
    st.builds(
        lambda first, rest: {**first, **rest},
        st.fixed_dictionaries({}, optional={"metadata": VALUES}),
        st.dictionaries(KEYS, VALUES, max_size=3),
    ),
    max_size=6,
)


def pieces(body: bytes, size: int) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)]


@settings(deadline=None)
@given(
    items=ITEMS,
    size=st.integers(1, 80),
    indent=st.sampled_from([None, 0, 2]),
    ascii_only=st.booleans(),
)
def test_list_body_any_items_in_any_pieces_come_out_whole(
    *, items: list[dict[str, object]], size: int, indent: int | None, ascii_only: bool
) -> None:
    content = {"kind": "L", "metadata": {"resourceVersion": "5"}, "items": items}
    text = json.dumps(
        content,
        indent=indent,
        separators=(",", ":") if indent is None else None,
        ensure_ascii=ascii_only,
    )

    body = ListBody(pieces(text.encode(), size))
    found = [json.loads(item) for item, _ in body]

    assert found == items
    assert (body.count, body.envelope.resource_version) == (len(items), "5")


@settings(deadline=None)
@given(items=ITEMS.filter(bool), size=st.integers(1, 80), data=st.data())
def test_list_body_cut_anywhere_is_malformed(
    items: list[dict[str, object]], size: int, data: st.DataObject
) -> None:
    text = json.dumps({"items": items}, separators=(",", ":")).encode()
    cut = data.draw(st.integers(0, len(text) - 1))

    with pytest.raises(Malformed):
        list(ListBody(pieces(text[:cut], size)))


def packed(parts: list[bytes]) -> bytes:
    members = b""
    for part in parts:
        packer = zlib.compressobj(wbits=31)
        members += packer.compress(part) + packer.flush()
    return members


@settings(deadline=None)
@given(parts=st.lists(st.binary(max_size=200), max_size=5), size=st.integers(1, 300))
def test_gunzip_members_in_any_pieces_are_read_to_the_end(parts: list[bytes], size: int) -> None:
    assert b"".join(gunzip(pieces(packed(parts), size))) == b"".join(parts)


def test_gunzip_one_large_member_comes_in_steps() -> None:
    plain = b"0123456789" * 400_000

    steps = list(gunzip([packed([plain])]))

    assert b"".join(steps) == plain
    assert max(map(len, steps)) <= 256 << 10


@pytest.mark.parametrize("cut", [1, 5, 12])
def test_gunzip_member_cut_short_is_malformed(cut: int) -> None:
    with pytest.raises(Malformed):
        list(gunzip([packed([b"whole", b"second"])[:-cut]]))


@settings(deadline=None)
@given(lines=st.lists(st.text("ab", min_size=1, max_size=5), max_size=5), size=st.integers(1, 9))
def test_split_lines_any_pieces_give_the_lines(lines: list[str], size: int) -> None:
    text = "".join(f"{line}\n" for line in lines).encode()

    assert list(split_lines(pieces(text, size))) == [line.encode() for line in lines]


def test_split_lines_last_half_line_is_handed_on() -> None:
    assert list(split_lines([b"one\ntw"])) == [b"one", b"tw"]


def test_split_lines_endless_line_is_malformed() -> None:
    with pytest.raises(Malformed):
        list(split_lines(b"x" * (1 << 20) for _ in range(70)))


def test_compact_drops_blanks_outside_strings_only() -> None:
    assert compact(b'{ "a" : [ 1, "x y" ] }') == b'{"a":[1,"x y"]}'
