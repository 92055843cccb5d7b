from collections.abc import Iterator

import pytest

from tests.cluster import cases
from tests.cluster.controlplane import ControlPlane


@pytest.fixture(scope="module")
def case_plane() -> Iterator[ControlPlane]:
    with cases.case_control_plane() as plane:
        yield plane


@pytest.mark.parametrize("name", cases.case_names())
def test_live_controller_answers_as_recorded(case_plane: ControlPlane, name: str) -> None:
    case = cases.read_case(name)

    assert cases.run_case(case_plane, case) == case.status


def test_taint_rule_counts_nothing_where_controller_gate_is_off() -> None:
    case = cases.read_case(cases.RULE_GATE_OFF)

    with cases.case_control_plane(taint_rules=False) as plane:
        status = cases.run_case(plane, case)

    assert status == case.status
