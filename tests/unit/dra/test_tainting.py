import pytest

from dra.catalogue import Severity
from dra.pools import assess_pool
from dra.tainting import rule_problems, rules_for_pool, taints_of
from dra.values import DeviceKey, DeviceName, DeviceSelector, Release, TaintRule
from dra.words import statement_words
from tests.unit.dra.objects import DRIVER, KEY, device, resource_slice, taint_rule

DEVICE = DeviceKey(KEY.driver, KEY.pool, DeviceName("a"))
OLD, NEW = Release(1, 36), Release(1, 37)


def state(rule: TaintRule, release: Release | None) -> str:
    pool = assess_pool(
        KEY,
        [resource_slice("s", device("a"))],
        allocations=(),
        taint_rules=[rule],
        release=release,
    )
    return pool.devices[0].state


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        (Release(1, 34), "unavailable"),
        (Release(1, 36), "unavailable"),
        (Release(1, 37), "available"),
        (None, "available"),
    ],
)
def test_rule_without_selector_means_something_else_in_each_release(
    release: Release | None, expected: str
) -> None:
    assert state(taint_rule(selector=None), release) == expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (DeviceSelector(), "unavailable"),
        (DeviceSelector(driver=DRIVER), "unavailable"),
        (DeviceSelector(driver=DRIVER, pool="node-a", device="a"), "unavailable"),
        (DeviceSelector(device="b"), "available"),
        (DeviceSelector(driver="other"), "available"),
        (DeviceSelector(pool="other"), "available"),
        (DeviceSelector(driver=""), "available"),
    ],
)
def test_selector_must_match_in_all_that_it_names(selector: DeviceSelector, expected: str) -> None:
    assert state(taint_rule(selector=selector), NEW) == expected


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        (Release(1, 34), "unknown"),
        (None, "unknown"),
        (Release(1, 35), "unavailable"),
        (NEW, "unavailable"),
    ],
)
def test_rule_that_selects_by_class_is_not_evaluated_where_the_server_does(
    release: Release | None, expected: str
) -> None:
    rule = taint_rule(selector=DeviceSelector(), has_unknown_selector_fields=True)

    assert state(rule, release) == expected


def test_taints_of_slice_and_rules_are_listed_once_in_order_of_rule_names() -> None:
    first, second = (taint_rule(selector=DeviceSelector(), name=name) for name in ("b", "a"))
    rules = rules_for_pool([first, second, first], key=KEY, release=NEW)

    found = taints_of(DEVICE, published=(first.taint,), rules=rules, release=NEW)

    assert found == ((first.taint, second.taint), True)


@pytest.mark.parametrize(
    ("rule", "release", "code", "severity", "words"),
    [
        (taint_rule(selector=None), OLD, "rule_taints_every_device", "error", "every device"),
        (
            taint_rule(selector=None, effect="None"),
            OLD,
            "rule_marks_every_device",
            "info",
            "every device",
        ),
        (taint_rule(selector=None), NEW, "rule_without_selector", "warning", "selects nothing"),
        (
            taint_rule(selector=DeviceSelector()),
            NEW,
            "rule_with_empty_selector",
            "warning",
            "perhaps",
        ),
        (
            taint_rule(selector=DeviceSelector(), has_unknown_selector_fields=True),
            NEW,
            "rule_with_empty_selector",
            "warning",
            "ignores the other fields",
        ),
        (
            taint_rule(selector=DeviceSelector(), has_unknown_selector_fields=True),
            Release(1, 34),
            "rule_selector_not_evaluated",
            "warning",
            "not evaluated here",
        ),
        (
            taint_rule(selector=DeviceSelector(driver="d"), effect="Odd"),
            NEW,
            "unknown_taint_effect",
            "info",
            "'Odd'",
        ),
    ],
)
def test_rule_that_people_misread_is_explained(
    rule: TaintRule, release: Release, code: str, severity: Severity, words: str
) -> None:
    (problem,) = rule_problems([rule], release=release)

    assert (problem.code, problem.severity) == (code, severity)
    assert words in statement_words(problem)


def test_ordinary_rule_has_no_problem() -> None:
    assert rule_problems([taint_rule(selector=DeviceSelector(driver="d"))], release=NEW) == ()
