"""The live controller, its recorded answers, our model of it, and our own figures: all four for each case."""

import pytest

from tests.cluster import cases
from tests.cluster.controlplane import ControlPlane
from tests.cluster.intended import INTENDED
from tests.cluster.live import LiveCases, Tally


@pytest.fixture(scope="session")
def live(case_plane: ControlPlane) -> LiveCases:
    return LiveCases(case_plane)


@pytest.mark.parametrize("name", cases.case_names())
def test_live_controller_answers_as_recorded(live: LiveCases, name: str) -> None:
    found = live.run(name)

    assert found.status == found.case.status


@pytest.mark.parametrize("name", cases.case_names())
def test_model_of_the_server_says_what_the_live_one_answers(
    live: LiveCases, tally: Tally, name: str
) -> None:
    found = live.run(name)
    predicted = found.predicted()

    (tally.agreed if predicted == found.status else tally.disagreed).add(name)
    assert predicted == found.status


@pytest.mark.parametrize("name", cases.case_names())
def test_own_figures_differ_from_the_live_answer_only_by_intent(
    live: LiveCases, tally: Tally, name: str
) -> None:
    differences = live.run(name).differences()

    tally.note_differences(name, [reason for *_, reason in differences])
    assert differences == INTENDED.get(name, [])


def test_taint_rule_counts_nothing_where_controller_gate_is_off() -> None:
    case = cases.read_case(cases.RULE_GATE_OFF)

    with cases.case_control_plane(taint_rules=False) as plane:
        status = cases.run_case(plane, case)

    assert status == case.status
