from datetime import UTC, datetime

from simulator.clock import Schedule

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def test_step_runs_what_is_due_in_order_of_time() -> None:
    schedule = Schedule(NOON)
    seen: list[tuple[str, str]] = []
    schedule.after(5, lambda: seen.append(("late", schedule.stamp())))
    schedule.after(2, lambda: seen.append(("early", schedule.stamp())))
    schedule.after(11, lambda: seen.append(("never", schedule.stamp())))

    schedule.step(10)

    assert seen == [("early", "2026-11-29T12:00:02Z"), ("late", "2026-11-29T12:00:05Z")]
    assert schedule.now() == datetime(2026, 11, 29, 12, 0, 10, tzinfo=UTC)


def test_step_runs_actions_of_one_moment_in_the_order_they_were_planned() -> None:
    schedule = Schedule(NOON)
    seen: list[int] = []
    schedule.after(1, lambda: seen.append(1))
    schedule.after(1, lambda: seen.append(2))

    schedule.step(1)

    assert seen == [1, 2]


def test_action_that_plans_another_within_the_step_sees_it_run() -> None:
    schedule = Schedule(NOON)
    seen: list[str] = []
    schedule.after(1, lambda: schedule.after(1, lambda: seen.append(schedule.stamp())))

    schedule.step(3)

    assert seen == ["2026-11-29T12:00:02Z"]


def test_every_repeats_until_the_end_of_the_step() -> None:
    schedule = Schedule(NOON)
    seen: list[str] = []
    schedule.every(10, lambda: seen.append(schedule.stamp()))

    schedule.step(35)

    assert seen == ["2026-11-29T12:00:10Z", "2026-11-29T12:00:20Z", "2026-11-29T12:00:30Z"]
