"""What a test control plane may be told, and the flags that each server gets for it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

# No kubelet renews its lease here, and pods of nodes that a test wrote must stay.
_NO_KUBELET = ("--node-monitor-grace-period=24h", "--node-startup-grace-period=24h")
_ACCOUNT_CONTROLLER = "serviceaccount-controller"


class OptionKeywords(TypedDict, total=False):
    """The fields of `Options`, as keywords of `ControlPlane`."""

    emulated_version: str | None
    pool_status_requests: bool
    runtime_config: Mapping[str, bool]
    feature_gates: Mapping[str, bool]
    start_controllers: bool
    start_scheduler: bool
    controllers: Sequence[str]
    flags: Mapping[str, Sequence[str]]
    users: Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Options:
    """By default a plain cluster of the program's own release, with everything running."""

    emulated_version: str | None = None
    """`1.34` to `1.37`: that release's API versions and gates. All other behaviour stays."""
    pool_status_requests: bool = False
    """Serve and answer ResourcePoolStatusRequests (1.36 on), with partition types (1.37 on)."""
    runtime_config: Mapping[str, bool] = field(default_factory=dict)
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    """For API server, controller manager and scheduler alike."""
    start_controllers: bool = True
    """False: neither controller manager nor scheduler until `start_controllers()`."""
    start_scheduler: bool = True
    """False: never a scheduler, for states that were written by hand."""
    controllers: Sequence[str] = ("*",)
    """As kube-controller-manager's --controllers."""
    flags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """More flags for "etcd", "kube-apiserver", "kube-controller-manager" or "kube-scheduler"."""
    users: Mapping[str, Sequence[str]] = field(
        default_factory=lambda: {"dashboard": (), "nobody": ()}
    )
    """Users with a token of their own, and their groups, beside "admin"."""

    @property
    def minor_version(self) -> int:
        return int((self.emulated_version or "1.37").removeprefix("1."))

    @property
    def makes_service_accounts(self) -> bool:
        """Whether each namespace gets its default ServiceAccount, which pods need."""
        named = set(self.controllers)
        return self.start_controllers and (
            _ACCOUNT_CONTROLLER in named
            or ("*" in named and f"-{_ACCOUNT_CONTROLLER}" not in named)
        )

    def api_server_flags(self) -> Iterator[str]:
        yield from self._shared_flags()
        if served := self._runtime_config():
            yield f"--runtime-config={served}"
        if not self.makes_service_accounts:
            yield "--disable-admission-plugins=ServiceAccount"
        yield from self.flags.get("kube-apiserver", ())

    def controller_manager_flags(self) -> Iterator[str]:
        yield from self._shared_flags()
        yield from _NO_KUBELET
        yield f"--controllers={','.join(self.controllers)}"
        yield from self.flags.get("kube-controller-manager", ())

    def scheduler_flags(self) -> Iterator[str]:
        yield from self._shared_flags()
        yield from self.flags.get("kube-scheduler", ())

    def _shared_flags(self) -> Iterator[str]:
        if self.emulated_version:
            yield f"--emulated-version={self.emulated_version}"
        if gates := _joined(self._pool_status_gates() | dict(self.feature_gates)):
            yield f"--feature-gates={gates}"

    def _pool_status_gates(self) -> dict[str, bool]:
        # A gate that the emulated release does not know makes the server fail at its start.
        first_minor = {"DRAResourcePoolStatus": 36, "DRAPartitionableDevicesType": 37}
        if not self.pool_status_requests:
            return {}
        return {gate: True for gate, minor in first_minor.items() if self.minor_version >= minor}

    def _runtime_config(self) -> str:
        wanted = {"resource.k8s.io/v1alpha3": True} if self.pool_status_requests else {}
        return _joined(wanted | dict(self.runtime_config))


def _joined(switches: Mapping[str, bool]) -> str:
    return ",".join(f"{name}={str(is_on).lower()}" for name, is_on in switches.items())
