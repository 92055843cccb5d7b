import threading
from types import SimpleNamespace
from typing import Any

import pytest

from kube.watchdog import Watchdog


def response(ended: threading.Event) -> Any:
    return SimpleNamespace(shutdown=ended.set)


def test_watchdog_cuts_when_its_time_is_up() -> None:
    ended = threading.Event()
    watchdog = Watchdog(0.05)

    watchdog.guard(response(ended))

    assert (ended.wait(10), watchdog.has_fired) == (True, True)


def test_watchdog_with_less_time_than_another_is_not_held_up_by_it() -> None:
    late, early = threading.Event(), threading.Event()
    patient, strict = Watchdog(60), Watchdog(0.05)
    patient.guard(response(late))
    strict.guard(response(early))

    assert early.wait(10)
    assert (late.is_set(), patient.has_fired) == (False, False)
    patient.cancel()


def test_watchdog_that_was_called_off_cuts_nothing() -> None:
    ended, probe = threading.Event(), threading.Event()
    watchdog, later = Watchdog(0.05), Watchdog(0.1)
    watchdog.guard(response(ended))
    later.guard(response(probe))

    watchdog.cancel()

    assert (probe.wait(10), ended.is_set()) == (True, False)


def test_watchdogs_share_one_thread() -> None:
    before = threading.active_count()
    some, others = Watchdog(60), Watchdog(60)

    some.guard(response(threading.Event()))
    others.guard(response(threading.Event()))

    assert threading.active_count() <= before + 1
    some.cancel()
    others.cancel()


@pytest.mark.parametrize("error", [OSError, ValueError, RuntimeError])
def test_watchdog_of_a_response_that_had_just_ended_is_silent(error: type[Exception]) -> None:
    def shutdown() -> None:
        raise error

    watchdog: Any = Watchdog(60)
    watchdog.guard(SimpleNamespace(shutdown=shutdown))

    watchdog.cut()

    assert watchdog.has_fired is False
    watchdog.cancel()
