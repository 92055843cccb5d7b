"""What the log is told of objects, as a reader would tell it."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

from ingest.reading import new_event as event_of
from kube.bodies import decode_envelope
from kube.kinds import KINDS
from kube.objects import seen_object
from objects.choices import Op

if TYPE_CHECKING:
    from objects.services.log import NewEvent


def new_event(obj: dict[str, Any], *, op: Op = Op.ADDED) -> NewEvent:
    """The object with a uid made of its kind and name, if it has none."""
    uid = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{obj['kind']}/{obj['metadata']['name']}"))
    whole = {**obj, "metadata": {"uid": uid, **obj["metadata"]}}
    body = json.dumps(whole, separators=(",", ":")).encode()
    seen = seen_object(
        body,
        decode_envelope(body),
        type_="added",
        kind=obj["kind"],
        api_version=obj["apiVersion"],
    )
    return event_of(seen, op=op, kept=KINDS[obj["kind"]].kept)
