"""What is kept of objects that say more than we need, and which objects are kept at all. When the rest changes, nothing has changed.

Works on raw JSON, member by member. What is not of the shape that it should have is kept as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import msgspec

from kube.bodies import Envelope, decode_envelope, joined

if TYPE_CHECKING:
    from kube.objects import Seen

_items_decoder: Final = msgspec.json.Decoder(list[msgspec.Raw])


class _Typed(msgspec.Struct):
    type: str = ""


_type_decoder: Final = msgspec.json.Decoder(_Typed)


@dataclass(frozen=True, slots=True)
class ItemsOfType:
    """Of a list of objects with a `type`, such as conditions, those of one type, and of each these members."""

    type: str
    members: Members


Members = Mapping[str, "Members | ItemsOfType | None"]
"""Members of an object that are kept, by name: whole, or what is given of them."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of the objects of one kind."""

    members: Members
    only_with: tuple[tuple[str, ...], ...] = ()
    """Paths such as `("spec", "resourceClaims")`: an object that has none of these members, or has them empty, is not kept at all.

    Without a path all objects are kept.
    """


_EMPTY: Final = frozenset({b"null", b"[]", b"{}", b'""'})


def kept_of(seen: Seen, kept: Kept | None) -> Seen | None:
    """The object with what is kept of it; None if it is not kept at all, which is as if it were not there."""
    if kept is None:
        return seen
    if kept.only_with and not any(_has(seen.envelope, path) for path in kept.only_with):
        return None
    return replace(seen, envelope=kept_members(seen.envelope, kept.members))


def _has(members: Envelope, path: tuple[str, ...]) -> bool:
    name, *rest = path
    value = members.get(name)
    if value is None or bytes(value) in _EMPTY:
        return False
    try:
        return not rest or _has(decode_envelope(value), tuple(rest))
    except msgspec.DecodeError:
        return True


def kept_members(envelope: Envelope, members: Members) -> Envelope:
    """What `members` names of an object, in the order in which it stands there."""
    return {
        name: _kept(value, members[name]) for name, value in envelope.items() if name in members
    }


def _kept(value: msgspec.Raw, wanted: Members | ItemsOfType | None) -> msgspec.Raw:
    if wanted is None:
        return value
    try:
        if isinstance(wanted, ItemsOfType):
            return _kept_items(value, wanted)
        return msgspec.Raw(joined(kept_members(decode_envelope(value), wanted)))
    except msgspec.DecodeError:
        return value


def _kept_items(value: msgspec.Raw, wanted: ItemsOfType) -> msgspec.Raw:
    items = [
        bytes(_kept(item, wanted.members))
        for item in _items_decoder.decode(value)
        if _type_decoder.decode(item).type == wanted.type
    ]
    return msgspec.Raw(b"[" + b",".join(items) + b"]")
