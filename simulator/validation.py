"""What the API server refuses in a write, as far as it is modelled: pool status requests in full, slices in part."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from simulator.kinds import POOL_STATUS_REQUEST, RESOURCE_SLICE, Resource
from simulator.statuses import Cause

_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_C_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_PATTERN: Final = r"regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
_ANY_CASE: Final = (
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start "
    f"and end with an alphanumeric character (e.g. 'Example.com', {_PATTERN}"
)
_LOWER_CASE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    f"'.', and must start and end with an alphanumeric character (e.g. 'example.com', {_PATTERN}"
)
_IDENTIFIER: Final = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
    "validation is '[A-Za-z_][A-Za-z0-9_]*')"
)
_QUALIFIED: Final = "a fully qualified name must be a domain and a name separated by a slash"


def problems(resource: Resource, obj: Mapping[str, Any]) -> list[Cause]:
    spec = obj.get("spec") or {}
    if resource is POOL_STATUS_REQUEST:
        return list(_pool_status_request(spec))
    if resource is RESOURCE_SLICE:
        return list(_resource_slice(spec))
    return []


def _invalid(field: str, value: object, message: str) -> Cause:
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    return Cause("FieldValueInvalid", field, f"Invalid value: {shown}: {message}")


def _pool_status_request(spec: Mapping[str, Any]) -> Iterator[Cause]:
    yield from _driver(spec.get("driver"))
    if (pool_name := spec.get("poolName")) is not None:
        yield from _pool_name(pool_name)
    limit = spec.get("limit")
    if limit is not None and limit < 1:
        yield _invalid("spec.limit", limit, "must be greater than or equal to 1")
    if limit is not None and limit > 1000:
        yield _invalid("spec.limit", limit, "must be less than or equal to 1000")
    if (attribute := spec.get("defaultPartitionTypeAttribute")) is not None:
        yield from _attribute("spec.defaultPartitionTypeAttribute", attribute)


def _driver(driver: str | None) -> Iterator[Cause]:
    if not driver:
        yield Cause("FieldValueRequired", "spec.driver", "Required value")
        return
    if len(driver) > 253:
        yield _invalid("spec.driver", driver, "must be no more than 253 bytes")
    if not _SUBDOMAIN.fullmatch(driver.lower()):
        yield _invalid("spec.driver", driver, _ANY_CASE)


def _pool_name(name: str) -> Iterator[Cause]:
    if len(name) > 253:
        message = "Too long: may not be more than 253 bytes"
        yield Cause("FieldValueTooLong", "spec.poolName", message)
        return
    for number, segment in enumerate(name.split("/")):
        if not segment:
            yield _invalid("spec.poolName", name, f"segment {number}: must not be empty")
        elif not _SUBDOMAIN.fullmatch(segment):
            yield _invalid("spec.poolName", name, f"segment {number}: {_LOWER_CASE}")


def _attribute(field: str, attribute: str) -> Iterator[Cause]:
    domain, slash, name = attribute.partition("/")
    if not slash:
        domain, name = "", attribute
    if "/" in name:
        # A second slash is let through: the name is not looked at then, and matches nothing.
        return
    if len(name) > 32:
        yield Cause("FieldValueTooLong", field, "Too long: may not be more than 32 bytes")
    if not _C_IDENTIFIER.fullmatch(name):
        yield _invalid(field, name, _IDENTIFIER)
    if not domain:
        yield _invalid(field, attribute, _QUALIFIED)


def _resource_slice(spec: Mapping[str, Any]) -> Iterator[Cause]:
    pool = spec.get("pool") or {}
    if not pool.get("name"):
        yield Cause("FieldValueRequired", "spec.pool.name", "Required value")
    if (count := pool.get("resourceSliceCount", 0)) <= 0:
        yield _invalid("spec.pool.resourceSliceCount", count, "must be greater than zero")
    if (generation := pool.get("generation", 0)) < 0:
        message = "must be greater than or equal to zero"
        yield _invalid("spec.pool.generation", generation, message)
    if spec.get("devices") and spec.get("sharedCounters"):
        message = "only one of sharedCounters or devices is allowed"
        yield _invalid("spec", "", message)
