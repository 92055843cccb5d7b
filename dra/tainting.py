"""Which taints a device has, from its slice and from DeviceTaintRules, whose meaning changed between releases."""

from collections.abc import Sequence
from typing import Final

from dra.values import (
    DeviceKey,
    DeviceSelector,
    PoolKey,
    Problem,
    Release,
    Severity,
    Taint,
    TaintRule,
)

BLOCKING_EFFECTS: Final = frozenset({"NoSchedule", "NoExecute"})
KNOWN_EFFECTS: Final = BLOCKING_EFFECTS | {"None"}

# Up to here a rule without selector taints every device for the scheduler; from then on it taints none.
_SELECTOR_REQUIRED_SINCE: Final = Release(1, 37)
# From here on the API server drops selector fields it does not know, and keeps the rule with what is left.
_CEL_SELECTORS_UNTIL: Final = Release(1, 35)


def blocks(taints: Sequence[Taint]) -> bool:
    """Whether a claim without tolerations cannot get the device. `None` and effects nobody knows only inform."""
    return any(taint.effect in BLOCKING_EFFECTS for taint in taints)


def rules_for_pool(
    rules: Sequence[TaintRule], *, key: PoolKey, release: Release | None
) -> tuple[TaintRule, ...]:
    """The rules that can select a device of the pool, in order of name."""
    found = [rule for rule in rules if _may_select_pool(rule, key=key, release=release)]
    return tuple(sorted(found, key=lambda rule: (rule.name, rule.uid)))


def _may_select_pool(rule: TaintRule, *, key: PoolKey, release: Release | None) -> bool:
    if rule.selector is None:
        return taints_without_selector(release)
    return rule.selector.driver in {None, key.driver} and rule.selector.pool in {None, key.pool}


def taints_without_selector(release: Release | None) -> bool:
    """Whether a rule without selector taints every device. An unknown release is taken for a new one."""
    return release is not None and release < _SELECTOR_REQUIRED_SINCE


def taints_of(
    key: DeviceKey,
    *,
    published: tuple[Taint, ...],
    rules: tuple[TaintRule, ...],
    release: Release | None,
) -> tuple[tuple[Taint, ...], bool]:
    """Taints of the slice and of `rules_for_pool`, each once, and whether they are all that there may be.

    A rule that chooses by class or by CEL, as 1.34 allows, cannot be evaluated here: its taint is left out, and the answer is not sure.
    """
    found = list(published)
    is_sure = True
    for rule in rules:
        if rule.selector is not None and rule.selector.device not in {None, key.device}:
            continue
        if _is_unreadable(rule, release=release):
            is_sure = False
        elif rule.taint not in found:
            found.append(rule.taint)
    return tuple(found), is_sure


def _is_unreadable(rule: TaintRule, *, release: Release | None) -> bool:
    return rule.has_unknown_selector_fields and (release is None or release < _CEL_SELECTORS_UNTIL)


def rule_problems(rules: Sequence[TaintRule], *, release: Release | None) -> tuple[Problem, ...]:
    """What people overlook in taint rules, in words."""
    found = []
    for rule in rules:
        if rule.selector is None:
            found.append(_without_selector(rule, release=release))
        elif _is_unreadable(rule, release=release):
            found.append(_unreadable_selector(rule))
        elif rule.selector == DeviceSelector():
            found.append(_empty_selector(rule))
        if rule.taint.effect not in KNOWN_EFFECTS:
            found.append(unknown_effect(rule.taint, of=f"DeviceTaintRule {rule.name}"))
    return tuple(sorted(found))


def _without_selector(rule: TaintRule, *, release: Release | None) -> Problem:
    name = f"DeviceTaintRule {rule.name} has no deviceSelector"
    if taints_without_selector(release):
        meaning = "this release of Kubernetes applies it to every device when it schedules"
        severity: Severity = "error" if rule.taint.effect in BLOCKING_EFFECTS else "info"
        return Problem("rule_without_selector", f"{name}: {meaning}", severity)
    meaning = "since 1.37 it selects nothing; earlier releases apply it to every device"
    return Problem("rule_without_selector", f"{name}: {meaning}", "warning")


def _empty_selector(rule: TaintRule) -> Problem:
    lost = (
        ", perhaps because the API server dropped fields that it does not know"
        if not rule.has_unknown_selector_fields
        else ", as the API server ignores the other fields in it"
    )
    message = f"DeviceTaintRule {rule.name} has an empty deviceSelector{lost}: it selects every device of the cluster"
    return Problem("rule_with_empty_selector", message, "warning")


def _unreadable_selector(rule: TaintRule) -> Problem:
    message = (
        f"DeviceTaintRule {rule.name} selects by class or CEL, which is not evaluated here: "
        "whether the devices it may select are tainted is not known"
    )
    return Problem("rule_selector_not_evaluated", message, "warning")


def unknown_effect(taint: Taint, *, of: str) -> Problem:
    """Say that a taint does nothing because its effect is not known."""
    message = f"{of} has taint {taint.key} with the effect {taint.effect!r}, which Kubernetes does not know: it does nothing"
    return Problem("unknown_taint_effect", message, "info")
