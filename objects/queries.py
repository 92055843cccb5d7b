"""Reads of the object log: contents of bodies, versions of objects, and what was live at a moment."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec
import psycopg
import zstandard
from django.db import connection

from kube.digest import with_pool_generation
from objects.models import BodyDictionary, KubeObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from ui.snapshot import Snapshot

# Dictionaries never change, so a process keeps those it met.
_MOST_DICTIONARIES: Final = 256
_dictionaries: OrderedDict[int, zstandard.ZstdCompressionDict] = OrderedDict()
_dictionaries_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Version:
    """What an object was: its body is `digest`, with this pool generation put back in a slice."""

    digest: UUID
    generation: int | None


def rows(sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Rows in binary form, at half the cost of Django's cursor."""
    connection.ensure_connection()
    with psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(sql, parameters, binary=True)
        return cursor.fetchall()


def bodies(cluster_id: int, digests: Iterable[UUID]) -> dict[UUID, bytes]:
    """The normalised JSON of each digest that is stored; what is the difference to a body that is not, counts as not stored either."""
    wanted = list(set(digests))
    if not wanted:
        return {}
    stored = rows(
        "SELECT digest, base, dictionary_id, content FROM objects_body"
        " WHERE cluster_id = %s AND digest = ANY(%s)",
        (cluster_id, wanted),
    )
    # A base is whole, so this goes one step deep.
    bases = bodies(cluster_id, [base for _, base, _, _ in stored if base is not None])
    # Decompressors are not safe to share between threads, and cheap to make.
    decompressors: dict[int | None, zstandard.ZstdDecompressor] = {}
    contents = {}
    for digest, base, dictionary_id, content in stored:
        if base is not None:
            if base in bases:
                prefix = with_base(_dictionary(dictionary_id), bases[base])
                contents[digest] = zstandard.ZstdDecompressor(dict_data=prefix).decompress(content)
            continue
        if dictionary_id not in decompressors:
            dictionary = _dictionary(dictionary_id)
            decompressors[dictionary_id] = zstandard.ZstdDecompressor(dict_data=dictionary)
        contents[digest] = decompressors[dictionary_id].decompress(content)
    return contents


def decoded(content: bytes) -> Any:
    """The value of an object's JSON; None where a server wrote what cannot be read, such as half of a character or 1e400."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def whole_bodies(cluster_id: int, digests: Iterable[UUID]) -> dict[UUID, UUID]:
    """Of each body that is stored: itself if it is stored whole, else the whole body that it is a difference to."""
    wanted = list(set(digests))
    if not wanted:
        return {}
    stored = rows(
        "SELECT digest, coalesce(base, digest) FROM objects_body"
        " WHERE cluster_id = %s AND digest = ANY(%s)",
        (cluster_id, wanted),
    )
    return dict(stored)


def with_base(
    dictionary: zstandard.ZstdCompressionDict | None, base: bytes
) -> zstandard.ZstdCompressionDict:
    """What a difference to a base is compressed with: the dictionary's content, then the base, which is nearer and so costs less to name."""
    content = (dictionary.as_bytes() if dictionary else b"") + base
    return zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def _dictionary(dictionary_id: int | None) -> zstandard.ZstdCompressionDict | None:
    return dictionary_content(dictionary_id) if dictionary_id else None


def object_body(
    snapshot: Snapshot, cluster_id: int, object_id: int
) -> tuple[KubeObject, bytes] | None:
    """An object and its JSON, at the snapshot's moment, with the pool generation in its place.

    None when there is no such object, when it was not live at that moment, or when that is longer ago than what is kept.
    """
    obj = KubeObject.objects.filter(cluster_id=cluster_id, id=object_id).first()
    if obj is None:
        return None
    version: Version | None = Version(obj.digest, obj.generation)
    if snapshot.at is not None:
        version = version_at(cluster_id, object_id, kind=obj.kind, at=snapshot.at)
    if version is None:
        return None
    content = bodies(cluster_id, [version.digest]).get(version.digest)
    if content is None:
        return None
    return obj, with_pool_generation(content, version.generation)


def version_at(cluster_id: int, object_id: int, *, kind: str, at: datetime) -> Version | None:
    """What the object was at a moment; None when it was not live, or when nothing is kept from so long ago."""
    return versions_at(cluster_id, {object_id: at}, kind=kind).get(object_id)


_LATEST: Final = """
SELECT wanted.id, latest.* FROM unnest(%s::int8[], %s::timestamptz[]) AS wanted (id, at) CROSS JOIN LATERAL (
    {select} AND object_id = wanted.id AND at <= wanted.at ORDER BY at DESC LIMIT 1
) AS latest
"""
_EVENTS: Final = _LATEST.format(
    select="SELECT digest, generation FROM objects_objectevent WHERE cluster_id = %s"
)
_CHECKPOINTS: Final = _LATEST.format(
    select="SELECT digest, generation FROM objects_checkpoint WHERE cluster_id = %s AND kind = %s"
)


def versions_at(
    cluster_id: int, moments: Mapping[int, datetime], *, kind: str
) -> dict[int, Version]:
    """What each of these objects was at the moment beside its id, those that were live then; two queries at most."""
    if not moments:
        return {}
    events = rows(_EVENTS, (list(moments), list(moments.values()), cluster_id))
    versions = {
        id_: Version(digest, generation)
        for id_, digest, generation in events
        if digest is not None
    }
    older = moments.keys() - {id_ for id_, *_ in events}
    if older:
        at = [moments[id_] for id_ in older]
        checkpoints = rows(_CHECKPOINTS, (list(older), at, cluster_id, kind))
        versions |= {id_: Version(*version) for id_, *version in checkpoints}
    return versions


def living_versions(cluster_id: int, kind: str) -> dict[str, tuple[UUID, int | None, int]]:
    """By uid, as text: digest, generation and id of every living object of a kind."""
    living = rows(
        "SELECT uid::text, digest, generation, id FROM objects_kubeobject"
        " WHERE cluster_id = %s AND kind = %s AND deleted_at IS NULL",
        (cluster_id, kind),
    )
    return {uid: (digest, generation, id_) for uid, digest, generation, id_ in living}


def living_count(cluster_id: int, kind: str) -> int:
    """How many objects of a kind are living."""
    return KubeObject.objects.filter(
        cluster_id=cluster_id, kind=kind, deleted_at__isnull=True
    ).count()


def living_digests(cluster_id: int, kind: str) -> dict[str, tuple[bytes, int | None, int]]:
    """As `living_versions`, with digests as bytes, which a reader compares by the thousand."""
    living = rows(
        "SELECT uid::text, uuid_send(digest), generation, id FROM objects_kubeobject"
        " WHERE cluster_id = %s AND kind = %s AND deleted_at IS NULL",
        (cluster_id, kind),
    )
    return {uid: (digest, generation, id_) for uid, digest, generation, id_ in living}


def dictionary_content(dictionary_id: int) -> zstandard.ZstdCompressionDict:
    """A dictionary, ready for use."""
    with _dictionaries_lock:
        known = _dictionaries.get(dictionary_id)
        if known is not None:
            _dictionaries.move_to_end(dictionary_id)
            return known
    stored = BodyDictionary.objects.values_list("content", flat=True).get(pk=dictionary_id)
    made = zstandard.ZstdCompressionDict(bytes(stored))
    with _dictionaries_lock:
        _dictionaries[dictionary_id] = made
        while len(_dictionaries) > _MOST_DICTIONARIES:
            _dictionaries.popitem(last=False)
    return made


def newest_dictionary_id(cluster_id: int, *, kind: str, driver: str) -> int | None:
    """The dictionary that new bodies of this kind and driver are compressed with."""
    dictionaries = BodyDictionary.objects.filter(cluster_id=cluster_id, kind=kind, driver=driver)
    return dictionaries.order_by("-pk").values_list("pk", flat=True).first()


@dataclass(frozen=True, slots=True)
class DictionaryUse:
    """How well a dictionary does on the newest bodies that were compressed with it; what is stored as a difference tells nothing of that."""

    dictionary_id: int
    kind: str
    driver: str
    sample_count: int
    trained_ratio: float
    ratio: float
    digests: tuple[UUID, ...]


def dictionary_uses(cluster_id: int, *, limit: int) -> Iterator[DictionaryUse]:
    """The newest dictionary of each kind and driver, with the newest `limit` bodies of living objects in it."""
    newest = (
        BodyDictionary.objects.filter(cluster_id=cluster_id)
        .order_by("kind", "driver", "-pk")
        .distinct("kind", "driver")
        .defer("content")
    )
    for dictionary in newest:
        newest_bodies = _newest_bodies(
            cluster_id, dictionary.kind, dictionary_id=dictionary.pk, limit=limit
        )
        plain = sum(size for _, size, _ in newest_bodies)
        packed = sum(size for _, _, size in newest_bodies)
        yield DictionaryUse(
            dictionary_id=dictionary.pk,
            kind=dictionary.kind,
            driver=dictionary.driver,
            sample_count=dictionary.sample_count,
            trained_ratio=dictionary.ratio,
            ratio=plain / packed if packed else dictionary.ratio,
            digests=tuple(digest for digest, _, _ in newest_bodies),
        )


def digests_without_dictionary(cluster_id: int, *, limit: int) -> dict[str, list[UUID]]:
    """By kind, the newest bodies of living objects that were compressed without a dictionary."""
    kinds = rows(
        "SELECT kind FROM clusters_clusterkind WHERE cluster_id = %s ORDER BY kind", (cluster_id,)
    )
    digests: dict[str, list[UUID]] = defaultdict(list)
    for (kind,) in kinds:
        newest = _newest_bodies(cluster_id, kind, dictionary_id=None, limit=limit)
        if newest:
            digests[kind] = [digest for digest, _, _ in newest]
    return digests


def _newest_bodies(
    cluster_id: int, kind: str, *, dictionary_id: int | None, limit: int
) -> list[tuple[UUID, int, int]]:
    """Digest, bytes, and bytes as stored, of bodies that are stored whole."""
    heads = rows(
        """
        SELECT b.digest, substring(b.content FOR 18), octet_length(b.content)
        FROM objects_kubeobject o
        JOIN objects_body b ON b.cluster_id = o.cluster_id AND b.digest = o.digest
        WHERE o.cluster_id = %s AND o.kind = %s AND o.deleted_at IS NULL
          AND b.dictionary_id IS NOT DISTINCT FROM %s::int4 AND b.base IS NULL
        ORDER BY o.changed_at DESC, o.id LIMIT %s
        """,
        (cluster_id, kind, dictionary_id, limit),
    )
    return [(digest, zstandard.frame_content_size(head), stored) for digest, head, stored in heads]
