"""Which taints a device has, from its slice and from DeviceTaintRules, whose meaning changed between releases."""

from collections.abc import Sequence
from typing import Final, Literal

from dra.values import (
    DeviceKey,
    DeviceSelector,
    PoolKey,
    Problem,
    Release,
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
    selecting = [rule for rule in rules if _may_select_pool(rule, key=key, release=release)]
    return tuple(sorted(selecting, key=lambda rule: (rule.name, rule.uid)))


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
    taints = list(published)
    is_sure = True
    for rule in rules:
        if rule.selector is not None and rule.selector.device not in {None, key.device}:
            continue
        if _is_unreadable(rule, release=release):
            is_sure = False
        elif rule.taint not in taints:
            taints.append(rule.taint)
    return tuple(taints), is_sure


def _is_unreadable(rule: TaintRule, *, release: Release | None) -> bool:
    return rule.has_unknown_selector_fields and (release is None or release < _CEL_SELECTORS_UNTIL)


def rule_problems(rules: Sequence[TaintRule], *, release: Release | None) -> tuple[Problem, ...]:
    """What people overlook in taint rules."""
    problems = []
    for rule in rules:
        if rule.selector is None:
            problems.append(_without_selector(rule, release=release))
        elif _is_unreadable(rule, release=release):
            problems.append(Problem.of("rule_selector_not_evaluated", rule=rule.name))
        elif rule.selector == DeviceSelector():
            problems.append(_empty_selector(rule))
        if rule.taint.effect not in KNOWN_EFFECTS:
            problems.append(unknown_effect(rule.taint, of="rule", name=rule.name))
    return tuple(sorted(problems))


def _without_selector(rule: TaintRule, *, release: Release | None) -> Problem:
    if not taints_without_selector(release):
        return Problem.of("rule_without_selector", rule=rule.name)
    if rule.taint.effect in BLOCKING_EFFECTS:
        return Problem.of("rule_taints_every_device", rule=rule.name)
    return Problem.of("rule_marks_every_device", rule=rule.name)


def _empty_selector(rule: TaintRule) -> Problem:
    why = "others_ignored" if rule.has_unknown_selector_fields else "perhaps_dropped"
    return Problem.of("rule_with_empty_selector", rule=rule.name, why=why)


def unknown_effect(taint: Taint, *, of: Literal["device", "rule"], name: str) -> Problem:
    """Say that a taint does nothing because its effect is not known."""
    return Problem.of(
        "unknown_taint_effect", of=of, name=name, taint=taint.key, effect=taint.effect
    )
