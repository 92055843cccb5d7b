"""A real Kubernetes control plane for tests, on loopback: all its servers, but no node."""

import argparse
import atexit
import json
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar, Unpack

from tests.cluster import client, keys, processes
from tests.cluster.client import Client, Document, Documents
from tests.cluster.options import OptionKeywords, Options
from tests.cluster.program import build

__all__ = ["ControlPlane", "build"]

T = TypeVar("T")
# The API server grants no shorter ServiceAccount tokens.
_SHORTEST_TOKEN_SECONDS = 600
_PORTS = {
    "etcd": 0,
    "etcd-peer": 1,
    "api": 2,
    "kube-controller-manager": 3,
    "kube-scheduler": 4,
}


class ControlPlane:
    """A running control plane; a context manager. `Options` says what the keywords mean.

    All files are in `folder`, which must be new: by default a temporary one that goes away in the
    end. All processes are killed in the end, or with this process, however that ends.
    """

    def __init__(self, *, folder: Path | None = None, **options: Unpack[OptionKeywords]) -> None:
        self.options = Options(**options)
        self._wanted_folder = folder
        self._servers: dict[str, processes.Server] = {}
        self._leaving: list[processes.Server] = []
        self._is_open = False

    # Life cycle

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> Self:
        """Start all servers and wait until they are ready; without `close` they end at exit."""
        self._program = build()
        prefix = "dradash-controlplane-"
        self.folder = self._wanted_folder or Path(tempfile.mkdtemp(prefix=prefix))
        self._lifeline = processes.Lifeline()
        self._ports = processes.PortBlock()
        self._is_open = True
        atexit.register(self.close)
        try:
            self._start_everything()
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """End every process and remove the temporary folder. May be called again."""
        if not self._is_open:
            return
        self._is_open = False
        atexit.unregister(self.close)
        for server in (*self._servers.values(), *self._leaving):
            server.kill()
        self._servers.clear()
        self._leaving.clear()
        self._lifeline.cut()
        self._ports.release()
        if self._wanted_folder is None:
            shutil.rmtree(self.folder)

    def _start_everything(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._keys = keys.Keys.create(self.folder / "keys")
        self._write_tokens()
        self.client = Client(self.url, self.ca_file, self.admin_token)
        self._start_etcd()
        self.start_api_server()
        if self.options.start_controllers:
            self.start_controllers()

    # Addresses and rights

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._port('api')}"

    @property
    def ca_file(self) -> Path:
        """The authority behind the certificates of all servers."""
        return self._keys.ca_file

    @property
    def pids(self) -> tuple[int, ...]:
        """The servers' processes."""
        return tuple(server.pid for server in self._servers.values())

    @property
    def admin_token(self) -> str:
        return self.user_token("admin")

    def component_url(self, name: str) -> str:
        """Return where "kube-controller-manager" or "kube-scheduler" serves its `/metrics`."""
        return f"https://127.0.0.1:{self._port(name)}"

    def user_token(self, user: str) -> str:
        """Return the token of "admin" or of one of `Options.users`, who have no rights."""
        return f"{user}-token"

    def kubeconfig(self, user: str = "admin", *, token: str | None = None) -> Path:
        """Write a kubeconfig, with another token than the user's own if one is given."""
        path = self.folder / f"{user}.kubeconfig"
        text = keys.kubeconfig_text(
            url=self.url,
            ca_file=self.ca_file,
            token=token or self.user_token(user),
            user=user,
        )
        path.write_text(text)
        return path

    def as_token(self, token: str) -> Client:
        """Return a client that comes with another token than the admin's."""
        return Client(self.url, self.ca_file, token)

    def service_account_token(
        self, namespace: str, name: str, expiration_seconds: int = 3600
    ) -> str:
        """Return a token of the TokenRequest API; the ServiceAccount is made if there is none.

        Less than 600 s, which the API refuses, is had by signing such a token again with an
        earlier end. API servers accept tokens for one more minute: use -120 for an expired one.
        """
        account = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": name, "namespace": namespace},
        }
        if self.get("ServiceAccount", name, namespace) is None:
            self.apply([account])
        granted = max(expiration_seconds, _SHORTEST_TOKEN_SECONDS)
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        answer = self.client.call("POST", path, {"spec": {"expirationSeconds": granted}})
        token: str = answer["status"]["token"]
        if granted == expiration_seconds:
            return token
        return self._keys.sign_again(token, seconds_earlier=granted - expiration_seconds)

    def kubectl(self, *arguments: str, stdin: str = "", user: str = "admin") -> str:
        """Run kubectl and return what it printed; CalledProcessError has its stderr."""
        own = ("kubectl", "--kubeconfig", str(self.kubeconfig(user)))
        command = [str(self._program), *own, *arguments]
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, check=True
        ).stdout

    # Objects, as admin: see `Client`

    def apply(self, documents: Iterable[Document]) -> Documents:
        return self.client.apply(documents)

    def get(self, kind: str, name: str, namespace: str | None = None) -> Document | None:
        return self.client.get(kind, name, namespace)

    def list(self, kind: str, namespace: str | None = None) -> Documents:
        return self.client.list(kind, namespace)

    def delete(self, kind: str, name: str, namespace: str | None = None) -> None:
        self.client.delete(kind, name, namespace)

    def wipe(self) -> None:
        self.client.wipe()

    def wait_for(self, check: Callable[[], T | None], *, what: str, seconds: float = 20) -> T:
        return client.wait_for(check, what=what, seconds=seconds)

    # Faults

    def restart_api_server(self, sig: int = signal.SIGTERM) -> None:
        self.stop_api_server(sig)
        self.start_api_server()

    def stop_api_server(self, sig: int = signal.SIGTERM) -> None:
        """End new connections. After SIGTERM open watches live on, up to a minute."""
        server = self._servers.pop("kube-apiserver")
        self._leaving.append(server)
        server.send(sig)
        processes.wait_until_refused(self._port("api"))
        self.client.forget_connections()

    def start_api_server(self) -> None:
        """Start the API server on its old port and wait until it is ready."""
        etcd = f"http://127.0.0.1:{self._port('etcd')}"
        self._start(
            "kube-apiserver",
            f"--etcd-servers={etcd}",
            f"--secure-port={self._port('api')}",
            f"--service-account-key-file={self._keys.service_account_public_key}",
            f"--service-account-signing-key-file={self._keys.service_account_key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.96.0.0/16",
            f"--client-ca-file={self.ca_file}",
            "--token-auth-file=tokens.csv",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            *self._serving_flags(),
            *self.options.api_server_flags(),
        )
        self._wait_for_ok("kube-apiserver", f"{self.url}/readyz")

    def stop_controllers(self) -> None:
        """End controller manager and scheduler."""
        for name in ("kube-controller-manager", "kube-scheduler"):
            if server := self._servers.pop(name, None):
                server.kill()

    def start_controllers(self) -> None:
        """Start controller manager and scheduler and wait until they are ready."""
        self._start_controller_manager()
        if self.options.start_scheduler:
            self._start_scheduler()
        for name in ("kube-controller-manager", "kube-scheduler"):
            if name in self._servers:
                self._wait_for_ok(name, f"{self.component_url(name)}/healthz")
        if self.options.makes_service_accounts:
            self.wait_for(
                lambda: self.get("ServiceAccount", "default", "default"),
                what="the default ServiceAccount, without which pods are refused",
            )

    def snapshot_etcd(self) -> Path:
        """Return a copy of etcd's data. Etcd is away for a moment; the other servers stay.

        Killed, etcd loses nothing: what it acknowledged is in the kernel's hands. After SIGTERM
        it would wait 10 s and more for its watchers.
        """
        copies = self.folder / "snapshots"
        copies.mkdir(exist_ok=True)
        copy = copies / str(len([*copies.iterdir()]))
        self._servers.pop("etcd").kill()
        shutil.copytree(self.folder / "etcd", copy)
        self._start_etcd()
        self._wait_for_ok("kube-apiserver", f"{self.url}/readyz")
        return copy

    def restore_etcd(self, snapshot: Path) -> None:
        """Replace etcd's data by an older copy, as after a disaster; all servers start again."""
        had_controllers = "kube-controller-manager" in self._servers
        self.stop_controllers()
        self.stop_api_server(signal.SIGKILL)
        self._servers.pop("etcd").kill()
        shutil.rmtree(self.folder / "etcd")
        shutil.copytree(snapshot, self.folder / "etcd")
        self._start_etcd()
        self.start_api_server()
        if had_controllers:
            self.start_controllers()

    # Servers

    def _port(self, name: str) -> int:
        return self._ports.base + _PORTS[name]

    def _start(self, name: str, *flags: str) -> None:
        command = [str(self._program), name, *flags]
        log = self.folder / f"{name}.log"
        self._servers[name] = processes.Server(command, log=log, lifeline=self._lifeline)

    def _wait_for_ok(self, name: str, url: str, *, seconds: float = 60) -> None:
        server = self._servers[name]
        probe = Client(url, self.ca_file, self.admin_token)

        def is_ok() -> bool:
            server.require_running()
            with suppress(OSError):
                return probe.request("GET", "").status == 200
            return False

        try:
            self.wait_for(is_ok, what=url, seconds=seconds)
        except TimeoutError as error:
            raise processes.ServerFailedError(f"{error}\n{server.log_end()}") from error

    def _write_tokens(self) -> None:
        users = {"admin": ("system:masters",), **self.options.users}
        lines = [
            f'{self.user_token(user)},{user},{user},"{",".join(groups)}"\n'
            for user, groups in users.items()
        ]
        (self.folder / "tokens.csv").write_text("".join(lines))

    def _serving_flags(self) -> tuple[str, ...]:
        return (
            "--bind-address=127.0.0.1",
            f"--tls-cert-file={self._keys.server_certificate}",
            f"--tls-private-key-file={self._keys.server_key}",
        )

    def _start_etcd(self) -> None:
        own = f"http://127.0.0.1:{self._port('etcd')}"
        peer = f"http://127.0.0.1:{self._port('etcd-peer')}"
        self._start(
            "etcd",
            "--data-dir=etcd",
            f"--listen-client-urls={own}",
            f"--advertise-client-urls={own}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
            "--log-level=error",
            *self.options.flags.get("etcd", ()),
        )

    def _start_controller_manager(self) -> None:
        self._start(
            "kube-controller-manager",
            f"--secure-port={self._port('kube-controller-manager')}",
            f"--kubeconfig={self.kubeconfig()}",
            f"--service-account-private-key-file={self._keys.service_account_key}",
            f"--root-ca-file={self.ca_file}",
            "--leader-elect=false",
            *self._delegation_flags(),
            *self._serving_flags(),
            *self.options.controller_manager_flags(),
        )

    def _start_scheduler(self) -> None:
        configuration = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(self.kubeconfig())},
            "leaderElection": {"leaderElect": False},
        }
        (self.folder / "scheduler.json").write_text(json.dumps(configuration))
        self._start(
            "kube-scheduler",
            f"--secure-port={self._port('kube-scheduler')}",
            "--config=scheduler.json",
            *self._delegation_flags(),
            *self._serving_flags(),
            *self.options.scheduler_flags(),
        )

    def _delegation_flags(self) -> tuple[str, ...]:
        return (
            f"--authentication-kubeconfig={self.kubeconfig()}",
            f"--authorization-kubeconfig={self.kubeconfig()}",
            "--authentication-skip-lookup=true",
        )


def main() -> None:
    """Run a control plane by hand, until Ctrl-C."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--emulated-version", help="1.34 to 1.37")
    parser.add_argument("--pool-status-requests", action="store_true")
    parser.add_argument("--folder", type=Path, help="keep all files there")
    with (
        suppress(KeyboardInterrupt),
        ControlPlane(**vars(parser.parse_args())) as plane,
    ):
        kubeconfig = plane.kubeconfig()
        print(f"{plane.url} is ready. In another terminal:")
        print(f"  export KUBECONFIG={kubeconfig}")
        print(f"  alias kubectl='{build()} kubectl'", flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
