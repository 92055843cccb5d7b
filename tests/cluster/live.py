"""What a live control plane answered to each recorded case, beside what the core makes of the same objects."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dra.compare import compare_with_server
from dra.parsing import parse_resource_claim, parse_resource_slice, parse_taint_rule
from dra.pools import Fleet, assess_fleet
from dra.server import StatusRequest, answer_1_37
from dra.server_json import parse_pool_statuses, parse_status_request, pool_status_json
from dra.values import AssessedPool, Release, ResourceClaim, ResourceSlice, TaintRule
from dra.words import figure_words, reason_words
from tests.cluster import cases
from tests.cluster.cases import Case
from tests.cluster.client import Document, Documents
from tests.cluster.controlplane import ControlPlane
from tests.cluster.fleets import Trial
from tests.cluster.intended import Row

RELEASE = Release(1, 37)


@dataclass(frozen=True)
class Objects:
    """What the cluster has, as values of the core."""

    slices: list[ResourceSlice]
    claims: list[ResourceClaim]
    rules: list[TaintRule]

    @classmethod
    def of(cls, documents: Documents) -> "Objects":
        def read(kind: str, parse: Any) -> list[Any]:
            return [parse(each).value for each in documents if each["kind"] == kind]

        return cls(
            read("ResourceSlice", parse_resource_slice),
            read("ResourceClaim", parse_resource_claim),
            read("DeviceTaintRule", parse_taint_rule),
        )

    def assessed(self) -> Fleet:
        return assess_fleet(
            self.slices, claims=self.claims, taint_rules=self.rules, release=RELEASE
        )

    def predicted(self, request: StatusRequest) -> Document | None:
        """The status that the server's arithmetic gives; None: never answered."""
        results = [result for each in self.claims for result in each.results]
        answer = answer_1_37(self.slices, results, taint_rules=self.rules, request=request)
        if not answer.is_written:
            return None
        pools = [pool_status_json(pool) for pool in answer.pools]
        condition = {
            "type": "Complete",
            "status": "True",
            "reason": "CalculationComplete",
            "message": answer.message,
        }
        status = {"conditions": [condition], "poolCount": answer.pool_count}
        return status | {"pools": pools} if pools else status


@dataclass(frozen=True)
class LiveCase:
    """One case as it went."""

    case: Case
    status: Document | None
    objects: Objects

    def predicted(self) -> Document | None:
        request = parse_status_request(self.case.request).value
        assert request is not None
        return self.objects.predicted(request)

    def differences(self) -> list[Row]:
        """Our own figures beside the answer."""
        pools: dict[tuple[str, ...], AssessedPool] = {
            p.key: p for p in self.objects.assessed().pools
        }
        return [
            (
                answered.pool,
                figure_words(found.field, found.parameters),
                found.ours,
                found.server,
                reason_words(found.reasons),
            )
            for answered in parse_pool_statuses(self.status).value or ()
            for found in compare_with_server(
                pools[answered.driver, answered.pool], answered, release=RELEASE
            )
        ]


@dataclass
class LiveCases:
    """Runs each case once in a session, whoever asks first."""

    plane: ControlPlane
    _done: dict[str, LiveCase] = field(default_factory=dict)

    def run(self, name: str) -> LiveCase:
        if name not in self._done:
            case = cases.read_case(name)
            status = cases.run_case(self.plane, case)
            kinds = ("ResourceSlice", "ResourceClaim", "DeviceTaintRule")
            documents = [each for kind in kinds for each in self.plane.list(kind)]
            self._done[name] = LiveCase(case, status, Objects.of(documents))
        return self._done[name]


@dataclass
class Tally:
    """What a session found, for its last lines."""

    agreed: set[str] = field(default_factory=set)
    disagreed: set[str] = field(default_factory=set)
    reasons: Counter[str] = field(default_factory=Counter)
    differing: set[str] = field(default_factory=set)
    fleets: int = 0
    fleets_agreed: int = 0
    placed: int = 0
    refused: int = 0

    def note_differences(self, name: str, reasons: list[str]) -> None:
        if reasons:
            self.differing.add(name)
        self.reasons.update(part for reason in reasons for part in reason.split("; "))

    def note_fleet(self, agrees: bool, trials: Sequence[Trial]) -> None:
        self.fleets += 1
        self.fleets_agreed += agrees
        self.placed += sum(trial.is_placed for trial in trials)
        self.refused += sum(not trial.is_placed for trial in trials)

    def lines(self) -> list[str]:
        return [*self._case_lines(), *self._fleet_lines()]

    def _case_lines(self) -> list[str]:
        asked = self.agreed | self.disagreed
        if not asked:
            return []
        upstream = {name for name in asked if cases.is_upstream(name)}
        lines = [
            (
                f"Pool status requests: the real server answered {len(self.agreed & upstream)} of {len(upstream)} of"
                f" upstream's cases, and {len(self.agreed - upstream)} of {len(asked - upstream)} others,"
                " exactly as our model of it says."
            ),
            (
                f"Our own figures equal the server's in {len(asked - self.differing)} of {len(asked)} cases; the others differ"
                " by intent:"
            ),
        ]
        return lines + [f"  {count:3} × {reason}" for reason, count in self.reasons.most_common()]

    def _fleet_lines(self) -> list[str]:
        if not self.fleets:
            return []
        return [
            (
                f"Random fleets: in {self.fleets_agreed} of {self.fleets} the scheduler gave out exactly the devices that we"
                f" call available or partly used: {self.placed} given, {self.refused} refused."
            )
        ]
