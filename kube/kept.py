"""What is kept of an object that says more than we need. The rest may change as it likes: it is never stored, and no change.

Works on raw JSON, member by member. What is not of the shape that it should have is kept as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from kube.bodies import Envelope, decode_envelope, joined

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
