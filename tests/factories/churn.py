"""A cluster in which things come, change and go, stored as the collection stores them."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from clusters import registry
from clusters.models import Cluster, ClusterKind
from dra.values import Release
from ingest.messages import EventArrived, ReadingDone
from ingest.reading import new_event
from ingest.writing import Writer
from kube.bodies import decode_envelope
from kube.kinds import KINDS
from kube.objects import seen_object
from objects.choices import Op
from tests.factories import kube
from tests.factories.clusters import NOON, watched_cluster

STEP = timedelta(seconds=7)
_NODES = ("node-1", "node-2", "node-3")
_CLAIMS = tuple(f"claim-{number}" for number in range(6))
_RULES = ("broken", "maintenance")
_CLASSES = ("gpu", "nic")


@dataclass
class Churn:
    """One change after the other, by chance but the same for the same seed."""

    seed: int
    cluster: Cluster = field(default_factory=watched_cluster)
    now: datetime = NOON
    version: int = 1
    _living: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    _generation: int = 1

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        kinds = [entry.name for entry in registry.watched_kinds()]
        self._writer = Writer(
            cluster_id=self.cluster.pk,
            clock=lambda: self.now,
            served=frozenset(kinds),
            release=Release(1, 37),
            cursors=dict(
                ClusterKind.objects.filter(cluster=self.cluster).values_list(
                    "kind", "resource_version"
                )
            ),
            reading=set(),
            first_reads=set(kinds),
        )
        self._writer.begin()
        for kind in kinds:
            self._writer.store([ReadingDone(kind, "1", self._version_of(kind), frozenset())])
        self._writer.end_windows(set(kinds))

    def step(self) -> None:
        """A few seconds later, something has changed, and everything was looked at."""
        self.now += STEP
        make = self._random.choice(
            (
                self._slice,
                self._slice,
                self._claim,
                self._claim,
                self._rule,
                self._node,
                self._class,
            )
        )
        self.tell(*make())
        self._writer.end_windows(set(self._writer.cursors))

    def steps(self, count: int) -> None:
        """So many of them."""
        for _ in range(count):
            self.step()

    def tell(self, kind: str, name: str, obj: dict[str, Any] | None) -> None:
        """None: it goes, if it is there."""
        before = self._living.pop((kind, name), None)
        told = obj or before
        if told is None:
            return
        if obj is not None:
            self._living[kind, name] = obj
        op = Op.DELETED if obj is None else Op.MODIFIED if before else Op.ADDED
        self.version += 1
        # Who comes again under its name is another one.
        born = self.version if op == Op.ADDED else told["metadata"]["labels"]["born"]
        told["metadata"]["labels"] = {"born": str(born)}
        told["metadata"]["uid"] = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{kind}/{name}/{born}"))
        told["metadata"]["resourceVersion"] = str(self.version)
        body = json.dumps(told, separators=(",", ":")).encode()
        seen = seen_object(
            body, decode_envelope(body), type_="added", kind=kind, api_version=told["apiVersion"]
        )
        message = EventArrived(
            kind, new_event(seen, op=op, kept=KINDS[kind].kept), str(self.version)
        )
        self._writer.store([message])

    def _kept(self, kind: str, name: str, obj: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
        """The same object as before with other contents, if it is there."""
        before = self._living.get((kind, name))
        if before is not None:
            obj["metadata"]["labels"] = before["metadata"]["labels"]
        return kind, name, obj

    def _slice(self) -> tuple[str, str, dict[str, Any] | None]:
        node = self._random.choice(_NODES)
        if self._random.random() < 0.2:
            return "ResourceSlice", node, None
        self._generation += 1
        devices: list[dict[str, Any]] = [
            {
                "name": f"gpu-{number}",
                "attributes": {"model": {"string": self._random.choice("ab")}},
            }
            for number in range(self._random.randint(1, 3))
        ]
        made = kube.resource_slice(
            node,
            pool=node,
            node=node,
            devices=devices,
            generation=self._generation,
            count=self._random.choice((1, 1, 1, 2)),
        )
        return self._kept("ResourceSlice", node, made)

    def _claim(self) -> tuple[str, str, dict[str, Any] | None]:
        name = self._random.choice(_CLAIMS)
        if self._random.random() < 0.25:
            return "ResourceClaim", name, None
        made = kube.resource_claim(
            name,
            pool=self._random.choice(_NODES),
            holds=self._random.choice((None, ["gpu-0"], ["gpu-1"], ["gpu-0", "gpu-2"])),
        )
        return self._kept("ResourceClaim", name, made)

    def _rule(self) -> tuple[str, str, dict[str, Any] | None]:
        name = self._random.choice(_RULES)
        if self._random.random() < 0.4:
            return "DeviceTaintRule", name, None
        made = kube.taint_rule(name, selector={"pool": self._random.choice(_NODES)})
        return self._kept("DeviceTaintRule", name, made)

    def _node(self) -> tuple[str, str, dict[str, Any] | None]:
        name = self._random.choice(_NODES)
        if self._random.random() < 0.2:
            return "Node", name, None
        return self._kept("Node", name, kube.node(name, ready=self._random.random() < 0.7))

    def _class(self) -> tuple[str, str, dict[str, Any] | None]:
        name = self._random.choice(_CLASSES)
        if self._random.random() < 0.3:
            return "DeviceClass", name, None
        driver = self._random.choice(("gpu.example.com", "nic.example.com"))
        return self._kept("DeviceClass", name, kube.device_class(name, driver=driver))

    @staticmethod
    def _version_of(kind: str) -> str:
        return f"{KINDS[kind].group or ''}/{KINDS[kind].versions[0]}".strip("/")
