"""Bodies: each distinct content once, compressed with a dictionary trained on bodies like it.

What an object became is stored as the difference to what it was, where that is shorter: each life of a claim says five times nearly the
same. A difference is always one to a whole body, so that reading one takes one other.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import zstandard

from kube.kinds import RESOURCE_SLICE
from objects import queries
from objects.models import BodyDictionary
from objects.services.staging import Cursor, copy_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

LEVEL: Final = 3
# Compression level for a few bodies, for which there is time: a fifth shorter.
PATIENT_LEVEL: Final = 9
# From this many bodies on a dictionary pays; more samples than the second number make it no better.
ENOUGH_BODIES: Final = 100
_MOST_SAMPLES: Final = 400
_MOST_WITHOUT: Final = 2000
_DICTIONARY_BYTES: Final = 64 << 10
# When more come at once, as when all slices of a driver are published anew, to read what was before takes longer than it is worth.
_FEW: Final = 200
_WORTH: Final = 0.75
# A dictionary is trained anew when it compresses this much worse than on the day it was made, and when there are this many times as many
# bodies as it was trained on: what comes first in a list may be few, and all alike.
_WORN: Final = 0.8
_MORE: Final = 1.5

_COLUMNS: Final = {
    "cluster_id": "int8",
    "digest": "uuid",
    "base": "uuid",
    "dictionary_id": "int4",
    "content": "bytea",
}


class _Spec(msgspec.Struct):
    driver: str = ""


class _Head(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


_head_decoder: Final = msgspec.json.Decoder(_Head)


class Group(NamedTuple):
    """Bodies that look alike; of kinds other than slices `driver` is empty."""

    kind: str
    driver: str


@dataclass(frozen=True, slots=True)
class NewBody:
    """A content that may or may not be stored already."""

    digest: UUID
    group: Group
    content: bytes
    before: UUID | None
    """What the object was until now, if it was there."""


@dataclass(frozen=True, slots=True)
class _Base:
    """A whole body that others are stored as differences to."""

    digest: UUID
    content: bytes


def store_bodies(
    cursor: Cursor, cluster_id: int, bodies: Mapping[UUID, NewBody], *, now: datetime
) -> int:
    """Store those that are not there yet; returns how many. Trains a first dictionary as soon as enough come at once."""
    if not bodies:
        return 0
    cursor.execute(
        "SELECT digest FROM objects_body WHERE cluster_id = %s AND digest = ANY(%s)",
        (cluster_id, list(bodies)),
        binary=True,
    )
    stored = {digest for (digest,) in cursor.fetchall()}
    new = [body for digest, body in bodies.items() if digest not in stored]
    are_few = len(new) <= _FEW
    bases = _bases(cluster_id, new) if are_few else {}
    by_group: dict[Group, list[NewBody]] = defaultdict(list)
    for body in new:
        by_group[body.group].append(body)
    return sum(
        _store_group(
            cursor,
            cluster_id,
            group,
            alike,
            bases=bases,
            level=PATIENT_LEVEL if are_few else LEVEL,
            now=now,
        )
        for group, alike in by_group.items()
    )


def _bases(cluster_id: int, new: Iterable[NewBody]) -> dict[UUID, _Base]:
    """By digest of what an object was: the whole body that it is, or is a difference to."""
    before = {body.before for body in new if body.before is not None}
    whole = queries.whole_bodies(cluster_id, before)
    contents = queries.bodies(cluster_id, whole.values())
    return {
        digest: _Base(base, contents[base]) for digest, base in whole.items() if base in contents
    }


def _store_group(
    cursor: Cursor,
    cluster_id: int,
    group: Group,
    new: Sequence[NewBody],
    *,
    bases: Mapping[UUID, _Base],
    level: int,
    now: datetime,
) -> int:
    dictionary_id = queries.newest_dictionary_id(cluster_id, kind=group.kind, driver=group.driver)
    if dictionary_id is None and len(new) >= ENOUGH_BODIES:
        samples = [body.content for body in _spread(new)]
        dictionary_id = train_dictionary(cluster_id, group, samples, now=now)
    # Before rows are copied: the connection does one thing at a time.
    dictionary = queries.dictionary_content(dictionary_id) if dictionary_id else None
    rows = (
        (cluster_id, body.digest, base, dictionary_id, content)
        for body, base, content in _compressed(new, bases, dictionary, level=level)
    )
    return copy_rows(cursor, "objects_body", _COLUMNS, rows)


def _compressed(
    new: Iterable[NewBody],
    bases: Mapping[UUID, _Base],
    dictionary: zstandard.ZstdCompressionDict | None,
    *,
    level: int,
) -> Iterator[tuple[NewBody, UUID | None, bytes]]:
    """Each body with the digest of its base, None where it is stored whole, and what is stored of it."""
    compressor = zstandard.ZstdCompressor(level=level, dict_data=dictionary, write_dict_id=False)
    for body in new:
        content = compressor.compress(body.content)
        base = bases.get(body.before) if body.before else None
        if base is not None:
            base, content = _shorter(body.content, content, base, dictionary)
        yield body, base.digest if base else None, content


def _shorter(
    content: bytes,
    compressed: bytes,
    base: _Base,
    dictionary: zstandard.ZstdCompressionDict | None,
) -> tuple[_Base | None, bytes]:
    """The content as the difference to a base, or as it is where that saves little: it will be a better base for what follows."""
    prefix = queries.with_base(dictionary, base.content)
    difference = zstandard.ZstdCompressor(level=PATIENT_LEVEL, dict_data=prefix).compress(content)
    if len(difference) + len(base.digest.bytes) < _WORTH * len(compressed):
        return base, difference
    return None, compressed


def train_dictionary(
    cluster_id: int, group: Group, samples: Sequence[bytes], *, now: datetime
) -> int | None:
    """Train and store a dictionary; None when the samples have too little in common for one."""
    try:
        trained = zstandard.train_dictionary(_DICTIONARY_BYTES, list(samples))
    except zstandard.ZstdError:
        return None
    compressor = zstandard.ZstdCompressor(level=LEVEL, dict_data=trained)
    compressed = sum(len(compressor.compress(sample)) for sample in samples)
    made = BodyDictionary.objects.create(
        cluster_id=cluster_id,
        kind=group.kind,
        driver=group.driver,
        content=trained.as_bytes(),
        trained_at=now,
        sample_count=len(samples),
        ratio=sum(map(len, samples)) / max(compressed, 1),
    )
    return made.pk


def renew_dictionaries(cluster_id: int, *, now: datetime) -> list[int]:
    """Train where enough bodies have none, or where the newest one has worn out or had few samples; returns the new ones' ids."""
    made = []
    has_one = set()
    for use in queries.dictionary_uses(cluster_id, limit=_MOST_SAMPLES):
        group = Group(use.kind, use.driver)
        has_one.add(group)
        is_worn = use.ratio < _WORN * use.trained_ratio
        has_more = len(use.digests) >= _MORE * use.sample_count
        if len(use.digests) >= ENOUGH_BODIES and (is_worn or has_more):
            samples = list(queries.bodies(cluster_id, use.digests).values())
            made.append(train_dictionary(cluster_id, group, samples, now=now))
    without = queries.digests_without_dictionary(cluster_id, limit=_MOST_WITHOUT)
    for kind, digests in without.items():
        for group, samples in _grouped(kind, queries.bodies(cluster_id, digests)).items():
            if group not in has_one and len(samples) >= ENOUGH_BODIES:
                chosen = samples[:_MOST_SAMPLES]
                made.append(train_dictionary(cluster_id, group, chosen, now=now))
    return [dictionary_id for dictionary_id in made if dictionary_id is not None]


def group_of(kind: str, content: bytes) -> Group:
    """Which bodies a content looks like."""
    if kind != RESOURCE_SLICE.name:
        return Group(kind, "")
    try:
        return Group(kind, _head_decoder.decode(content).spec.driver)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Group(kind, "")


def _grouped(kind: str, contents: Mapping[UUID, bytes]) -> dict[Group, list[bytes]]:
    groups: dict[Group, list[bytes]] = defaultdict(list)
    for content in contents.values():
        groups[group_of(kind, content)].append(content)
    return groups


def _spread(new: Sequence[NewBody]) -> Iterable[NewBody]:
    return new[:: max(1, len(new) // _MOST_SAMPLES)][:_MOST_SAMPLES]
