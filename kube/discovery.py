"""What a cluster serves and what we may do there.

Around the start of an API server answers are wrong for seconds, so a single reading raises a
capability at once but never lowers one. Listed is no proof of support: gated fields and pool
status requests are taken by servers that do nothing with them.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from kube.capabilities import Capabilities, Right, ServerVersion
from kube.connect import Connection, Watchdog
from kube.failures import (
    CertificateError,
    ConfigError,
    Forbidden,
    KubeFailure,
    Malformed,
    NotFound,
    Rejected,
    ServerError,
    Throttled,
    TimedOut,
    Unreachable,
)
from kube.identity import Identity
from kube.kinds import DRA_GROUP, KINDS, Kind, ServedResource, served

API_SERVER: Final = "kube-apiserver"
# Readings in a row that must agree before a capability is taken back.
READINGS_TO_LOWER: Final = 2

_AGGREGATED: Final = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json"
)
_REVIEWS_PATH: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_GATE: Final = re.compile(
    rb'^kubernetes_feature_enabled\{[^}]*\bname="([A-Za-z0-9_]+)"[^}]*\} ([01])\b'
)
# A server that is there, and does not tell what it was asked for.
_ANSWERED_OTHERWISE: Final = (Forbidden, NotFound, Rejected, ServerError, Throttled, Malformed)
_KUBE_SYSTEM_PATH: Final = "/api/v1/namespaces/kube-system"
_IDENTITY_SECONDS: Final = 10.0
_METRICS_SECONDS: Final = 20.0


def read_identity(connection: Connection) -> Identity:
    """Who answers. Raises what says that nobody does; that we may not look at the namespace is an answer."""
    try:
        namespace = connection.get_json(_KUBE_SYSTEM_PATH, timeout=_IDENTITY_SECONDS)
    except (Unreachable, TimedOut, CertificateError, ConfigError):
        raise
    except KubeFailure:
        namespace = None
    metadata = namespace.get("metadata") if isinstance(namespace, dict) else None
    uid = metadata.get("uid") if isinstance(metadata, dict) else None
    return Identity(
        uid=uid if isinstance(uid, str) else "",
        authority=connection.authority,
        server=connection.host,
    )


def discover(connection: Connection, *, previous: Capabilities | None) -> Capabilities:
    """A new reading, held against the previous one. Raises when the server does not answer."""
    version = _read_version(connection)
    served = _read_resources(connection)
    missed: dict[str, int] = {}
    resources = _kept_resources(served, previous=previous, missed=missed)
    rights = _kept_rights(_read_rights(connection, resources), previous=previous, missed=missed)
    gates = _read_gates(connection)
    if gates is None and previous is not None and previous.server_version == version:
        gates = previous.gates
    return Capabilities(version, resources, rights, gates, missed)


def _read_version(connection: Connection) -> ServerVersion:
    said = connection.get_json("/version")
    if not isinstance(said, dict):
        said = {}
    emulated = ".".join(
        str(said[key]) for key in ("emulationMajor", "emulationMinor") if said.get(key)
    )
    plain = f"{_number(said.get('major'))}.{_number(said.get('minor'))}"
    return ServerVersion(
        major=_number(said.get("major")),
        minor=_number(said.get("minor")),
        git_version=str(said.get("gitVersion", "")),
        emulated=emulated if emulated and emulated != plain else None,
    )


def _number(value: object) -> int | None:
    """Managed clusters write "34+"."""
    digits = re.match("([0-9]{1,9})(?![0-9])", str(value))
    return int(digits[1]) if digits else None


def _read_resources(connection: Connection) -> dict[str, ServedResource]:
    listed: dict[str, dict[str, set[str]]] = {}
    for path in ("/apis", "/api"):
        answer = connection.get_json(path, headers={"Accept": _AGGREGATED})
        if isinstance(answer, dict) and answer.get("kind") == "APIGroupDiscoveryList":
            listed |= _aggregated(answer)
        else:
            group = DRA_GROUP if path == "/apis" else ""
            listed[group] = _one_by_one(connection, group)
    return {
        kind.name: served(kind, version)
        for kind in KINDS.values()
        if (version := _newest(kind, listed.get(kind.group, {}))) is not None
    }


def _newest(kind: Kind, versions: Mapping[str, set[str]]) -> str | None:
    return next((v for v in kind.versions if kind.plural in versions.get(v, ())), None)


def _aggregated(answer: Mapping[str, Any]) -> dict[str, dict[str, set[str]]]:
    """Plurals by version by group."""
    listed: dict[str, dict[str, set[str]]] = {}
    for group in _dicts(answer.get("items")):
        name = str((group.get("metadata") or {}).get("name") or "")
        listed[name] = {
            str(version.get("version")): {
                str(resource.get("resource")) for resource in _dicts(version.get("resources"))
            }
            for version in _dicts(group.get("versions"))
        }
    return listed


def _one_by_one(connection: Connection, group: str) -> dict[str, set[str]]:
    """Where the server does not know aggregated discovery.

    The group's own document is not asked: it lists wrong versions for seconds after a start.
    """
    root = f"/apis/{group}" if group else "/api"
    wanted = {
        version for kind in KINDS.values() if kind.group == group for version in kind.versions
    }
    listed: dict[str, set[str]] = {}
    for version in sorted(wanted):
        try:
            answer = connection.get_json(f"{root}/{version}")
        except NotFound:
            continue
        if isinstance(answer, dict):
            resources = _dicts(answer.get("resources"))
            listed[version] = {str(resource.get("name")) for resource in resources}
    return listed


def _dicts(value: object) -> list[dict[str, Any]]:
    """Lists of discovery documents may be null."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _kept_resources(
    resources: Mapping[str, ServedResource],
    *,
    previous: Capabilities | None,
    missed: dict[str, int],
) -> dict[str, ServedResource]:
    kept = dict(resources)
    for name, before in (previous.resources if previous else {}).items():
        now = resources.get(name)
        if now is not None and not _is_lower(KINDS[name], now, before):
            continue
        if _is_missed_once_more(name, previous, missed):
            kept[name] = before
    return kept


def _is_lower(kind: Kind, now: ServedResource, before: ServedResource) -> bool:
    order = {version: rank for rank, version in enumerate(kind.versions)}
    return order.get(now.version, 0) > order.get(before.version, 0)


def _is_missed_once_more(name: str, previous: Capabilities | None, missed: dict[str, int]) -> bool:
    """Whether it is still too early to believe it."""
    times = 1 + (previous.missed.get(name, 0) if previous else 0)
    if times >= READINGS_TO_LOWER:
        return False
    missed[name] = times
    return True


def _read_rights(
    connection: Connection, resources: Mapping[str, ServedResource]
) -> dict[Right, bool | None]:
    return {
        (name, verb): _may(connection, KINDS[name], verb)
        for name in resources
        for verb in KINDS[name].verbs
    }


def _may(connection: Connection, kind: Kind, verb: str) -> bool | None:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {
            "resourceAttributes": {"group": kind.group, "resource": kind.plural, "verb": verb}
        },
    }
    try:
        answer = connection.post_json(_REVIEWS_PATH, review)
    except _ANSWERED_OTHERWISE:
        return None
    status = answer.get("status") if isinstance(answer, dict) else None
    allowed = status.get("allowed") if isinstance(status, dict) else None
    return allowed if isinstance(allowed, bool) else None


def _kept_rights(
    rights: Mapping[Right, bool | None],
    *,
    previous: Capabilities | None,
    missed: dict[str, int],
) -> dict[Right, bool | None]:
    kept = dict(rights)
    for right, allowed in rights.items():
        before = previous.rights.get(right) if previous else None
        if allowed is None or (
            before and not allowed and _is_missed_once_more(" ".join(right), previous, missed)
        ):
            kept[right] = before
    return kept


def _read_gates(connection: Connection) -> dict[str, dict[str, bool]] | None:
    """The API server's own gates; None whatever keeps us from them: of a large cluster this answer is slow, and nothing else needs it.

    Those of the other components are behind ports that only the control plane reaches.
    """
    lines = connection.stream(
        "/metrics",
        {},
        read_timeout=_METRICS_SECONDS,
        accept_gzip=True,
        watchdog=Watchdog(_METRICS_SECONDS),
    )
    try:
        gates = parse_gates(lines)
    except KubeFailure:
        return None
    return {API_SERVER: gates} if gates else None


def parse_gates(lines: Iterable[bytes]) -> dict[str, bool]:
    """From Prometheus text, whose families come in one block each: reads no further."""
    gates: dict[str, bool] = {}
    for line in lines:
        match = _GATE.match(line)
        if match:
            gates[match.group(1).decode()] = match.group(2) == b"1"
        elif gates:
            break
    return gates
