"""One device, capacity, node or claim in words, as `dradash inspect` prints it."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from dra.findings import claim_words, in_words
from dra.quantity import ZERO, Quantity, QuantityFormat
from dra.sharing import has_room_for_share, is_unknown_amount
from dra.tainting import BLOCKING_EFFECTS, blocks
from dra.values import (
    AllocationResult,
    AssessedDevice,
    Attribute,
    CapacityUse,
    NodeSelection,
    RequestPolicy,
    ResourceClaim,
    Taint,
)
from dra.words import statement_words

UNKNOWN: Final = "unknown"
_WIDTH: Final = 110
_NANOS: Final = 10**9
# What would move the cursor, hide text, or turn its direction round.
_UNPRINTABLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_BINARY: Final = (("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10))


def printable(line: str) -> str:
    """A line without anything that a terminal would act on: names in a dump may hold whatever somebody wrote into it."""
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode(), line)


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def figure(value: object) -> str:
    """A figure that may be unknown."""
    return UNKNOWN if value is None else str(value)


def node_cell(node: NodeSelection) -> str:
    """Where something can be used, short enough for a table."""
    if node.kind == "selector":
        return f"by selector {node.text}"
    plain = {"all": "all nodes", "per_device": "by device", "none": "no node", "mixed": "mixed"}
    return plain.get(node.kind) or node.node_name or ""


def amount(quantity: Quantity) -> str:
    """A quantity as Kubernetes prints it, and beside it what is easier to read: `20468Mi (21462253568)`, `1k (1000)`."""
    text = str(quantity)
    whole, rest = divmod(quantity.nanos, _NANOS)
    if rest or quantity.format is not QuantityFormat.DECIMAL_SI:
        return text
    if not text.isdigit():
        return f"{text} ({whole})" if whole < 10**6 else text
    for suffix, unit in _BINARY:
        if whole and whole % unit == 0:
            return f"{whole // unit}{suffix} ({text})"
    return text


def wrapped(items: Iterable[str], *, indent: str) -> Iterator[str]:
    """Items side by side, as many as a line holds; an item is never torn."""
    line = ""
    for item in items:
        if line and len(line) + len(item) > _WIDTH:
            yield f"{indent}{line},"
            line = ""
        line = f"{line}, {item}" if line else item
    if line:
        yield indent + line


def attribute_words(name: str, attribute: Attribute) -> str:
    """An attribute with its value as JSON, so that the text "None" is not taken for nothing, nor "00" for a number."""
    if attribute.kind == "unknown":
        return f"{name}=unknown type {_json(attribute.value)}"
    if attribute.kind == "version":
        return f"{name}={attribute.value}"
    if attribute.kind == "versions":
        return f"{name}=[{', '.join(attribute.value)}]"
    return f"{name}={_json(attribute.value)}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def device_lines(device: AssessedDevice) -> Iterator[str]:
    """A device: its state and holders first, then what it is."""
    yield f"    {device.key.device}: {_state_words(device)}"
    published = device.device
    attributes = sorted(published.attributes.items())
    yield from wrapped((attribute_words(*each) for each in attributes), indent="      ")
    for use in device.capacity:
        yield f"      {_device_capacity(device, use)}"
    for taint in device.taints:
        yield f"      {taint_words(taint)}"
    if published.binding_conditions:
        yield f"      to be attached first: waits for {', '.join(published.binding_conditions)}"
    for name, value in sorted(published.extra.items()):
        yield f"      {name} (as published): {_json(value)}"
    for problem in device.problems:
        # The others stand with the pool, and what is not known with the capacity.
        if problem.severity == "info" and problem.code != "unknown_capacity":
            yield f"      - {statement_words(problem)} [{problem.code}]"


def _state_words(device: AssessedDevice) -> str:
    holding = [holder for holder in device.holders if not holder.has_admin_access]
    watching = [holder for holder in device.holders if holder.has_admin_access]
    words: list[str] = [device.state]
    shares = sum(1 for holder in holding if holder.share_id is not None)
    if shares:
        words.append(counted(shares, "share"))
    if device.is_partly_used:
        words.append("partly used")
    elif shares and _has_room_when_asked(device, holding):
        words.append("room only for a claim that asks for less than by default")
    if holding:
        words.append(f"held by {in_words(map(claim_words, holding))}")
    if watching:
        words.append(f"admin access by {in_words(map(claim_words, watching))}")
    return ", ".join(words)


def _has_room_when_asked(device: AssessedDevice, holding: Sequence[AllocationResult]) -> bool:
    """Whether another share fits, but only for a claim that names how much it wants."""
    if blocks(device.taints) or has_room_for_share(device.device, holders=holding):
        return False
    return all(
        use.available is not None
        and not use.available.is_zero
        and not use.available < _least(device, use)
        for use in device.capacity
    )


def _least(device: AssessedDevice, use: CapacityUse) -> Quantity:
    policy = device.device.capacity[use.name].policy
    if policy is None:
        return ZERO
    return min(policy.valid_values, default=policy.minimum or ZERO)


def _device_capacity(device: AssessedDevice, use: CapacityUse) -> str:
    if is_unknown_amount(use.name, use.total):
        return f"{use.name}: not known ({use.total} as published)"
    if not device.device.allows_multiple_allocations:
        return f"{use.name}: {amount(use.total)}"
    policy = device.device.capacity[use.name].policy
    asked = f"; a share takes {policy_words(policy)}" if policy else ""
    return f"{capacity_words(use)}{asked}"


def capacity_words(use: CapacityUse) -> str:
    """What is left of one capacity that is shared, and what of it is used."""
    left = figure(use.available and amount(use.available))
    used = f", {amount(use.consumed)} used" if use.consumed and not use.consumed.is_zero else ""
    return f"{use.name}: {left} of {amount(use.total)} left{used}"


def policy_words(policy: RequestPolicy) -> str:
    """Which amounts a share may take: `100M..100G step 1M, default 1G`."""
    words = []
    if policy.minimum is not None or policy.maximum is not None:
        least, most = policy.minimum, policy.maximum
        step = f" step {policy.step}" if policy.step else ""
        words.append(f"{'' if least is None else least}..{'' if most is None else most}{step}")
    if policy.valid_values:
        words.append(" or ".join(map(str, policy.valid_values)))
    if policy.default is not None:
        words.append(f"default {policy.default}")
    return ", ".join(words) or "any amount"


def taint_words(taint: Taint) -> str:
    """A taint as kubectl writes it, since when, from where, and whether it does anything."""
    value = f"={taint.value}" if taint.value else ""
    since = f" since {taint.added_at}" if taint.added_at else ""
    rule = f" by DeviceTaintRule {taint.rule}" if taint.rule else ""
    effect = "" if taint.effect in BLOCKING_EFFECTS else ": informs only"
    return f"taint {taint.key}{value}:{taint.effect}{since}{rule}{effect}"


def claim_line(claim: ResourceClaim) -> str:
    """A claim: allocated or not, what it holds, and for whom."""
    words = []
    if claim.deletion_timestamp:
        words.append(f"being deleted since {claim.deletion_timestamp}")
    words.append(_allocation_words(claim.results) if claim.is_allocated else "not allocated")
    if claim.reserved_for:
        users = [
            f"{each.resource}{'.' if each.api_group else ''}{each.api_group} {each.name}"
            for each in claim.reserved_for
        ]
        words.append(f"reserved for {len(users)} ({in_words(users)})")
    return f"  {claim.ref.namespace}/{claim.ref.name}: {', '.join(words)}"


def _allocation_words(results: Sequence[AllocationResult]) -> str:
    held = _device_names(result for result in results if not result.has_admin_access)
    watched = _device_names(result for result in results if result.has_admin_access)
    words = ["allocated"]
    if held or not watched:
        words.append(counted(len(held), "device") + (f" ({in_words(held)})" if held else ""))
    if watched:
        words.append(f"admin access, {counted(len(watched), 'device')} ({in_words(watched)})")
    return ", ".join(words)


def _device_names(results: Iterable[AllocationResult]) -> set[str]:
    return {"/".join(result.key) for result in results}
