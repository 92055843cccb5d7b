"""What happens when the database, the API server or the room for the log is away: `python -m bench.outages`.

Starts a Postgres of its own, a simulated cluster that changes all the time, and a worker that follows it. Takes each thing away for
a while, says what the product said meanwhile, and checks at the end that everything that the cluster still tells is stored.
Room can only be taken away by root, who may mount a small file system.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench import kills
from dradash.up import launch, postgres, privileges

PORT = "25302"
SMALL_BYTES = 12 << 20


class Postgres:
    """A server in a folder of its own, that can be stopped hard and started again."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.folder = folder
        folder.chmod(0o755)
        self.data.mkdir(mode=0o700)
        privileges.give_folder(self.data)
        self._run(postgres.initialise_command(self.data)).wait()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://{postgres.USER}@/postgres?host={self.folder}&port={PORT}"

    def start(self) -> None:
        settings = {"port": PORT, "shared_buffers": "64MB"}
        self._process = self._run(
            postgres.server_command(self.data, self.folder, settings=settings)
        )
        kills.wait_until(self._answers)

    def stop(self) -> None:
        """As after a crash."""
        if self._process is not None:
            self._process.send_signal(3)
            self._process.wait()

    def _run(self, command: list[str]) -> subprocess.Popen[bytes]:
        launched = launch.command("postgres", self.folder, command, without_root=True)
        return subprocess.Popen(launched, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _answers(self) -> bool:
        import psycopg

        with suppress(psycopg.OperationalError):
            psycopg.connect(self.url, connect_timeout=2).close()
            return True
        return False


class Scene:
    """A cluster that changes, a worker that follows, and what is wrong in the end."""

    def __init__(self, server: Postgres, simulator: Any, cluster_id: int) -> None:
        self.server = server
        self.simulator = simulator
        self.cluster_id = cluster_id

    @contextmanager
    def changing(self, *, seed: int) -> Iterator[None]:
        churn = kills.Churn(self.simulator, seed=seed, pools=50, changes_per_second=40)
        churn.start()
        try:
            yield
        finally:
            churn.is_over.set()
            churn.join()

    def said(self) -> dict[str, Any]:
        """What pages would say of the cluster at this moment."""
        from clusters.models import Cluster, ClusterKind, Gap
        from ui.words import words_of

        kinds = ClusterKind.objects.filter(cluster_id=self.cluster_id)
        gaps = Gap.objects.filter(cluster_id=self.cluster_id, ended_at__isnull=True)
        return {
            "reach": Cluster.objects.get(pk=self.cluster_id).reach,
            "states": sorted(set(kinds.values_list("state", flat=True))),
            "messages": sorted(
                {words_of(each) for each in kinds.values_list("failure", flat=True) if each}
            ),
            "open gaps": sorted(set(gaps.values_list("reason", flat=True))),
        }

    def gaps_since(self, moment: Any) -> list[tuple[str, str]]:
        from clusters.models import Gap

        rows = Gap.objects.filter(cluster_id=self.cluster_id, started_at__gte=moment)
        return sorted(set(rows.values_list("kind", "reason")))

    def is_current(self) -> bool:
        from clusters.models import ClusterKind, Gap

        now = kills.clock()
        kinds = ClusterKind.objects.filter(cluster_id=self.cluster_id)
        is_fresh = all(
            row.state == "watching"
            and row.last_synced_at is not None
            and now - row.last_synced_at < timedelta(seconds=15)
            for row in kinds
        )
        has_gap = Gap.objects.filter(cluster_id=self.cluster_id, ended_at__isnull=True).exists()
        return is_fresh and not has_gap

    def wrong(self) -> list[str]:
        """Give the worker the time of two windows for the latest changes, then compare."""
        kills.wait_until(self.is_current, seconds=120)
        time.sleep(2 * kills.WINDOW_SECONDS + 2)
        return [
            *kills.wrong_objects(self.cluster_id, self.simulator),
            *kills.wrong_figures(self.cluster_id, self.simulator),
        ]


def database_away(scene: Scene, *, seconds: float) -> list[str]:
    from django.db import connection

    first = len(scene.simulator.log)
    with scene.changing(seed=1):
        time.sleep(3)
        connection.close()
        scene.server.stop()
        time.sleep(seconds)
        scene.server.start()
        time.sleep(3)
    wrong = scene.wrong()
    changes = [c for c in scene.simulator.log[first:] if c.kind in kills.KINDS]
    versions = {change.resource_version for change in changes}
    stored = [c for c in kills.logged_changes(scene.cluster_id) if c[3] in versions]
    print(f"  {len(changes)} changes, {len(stored)} in the log")
    return [*wrong, *([] if len(stored) == len(changes) else ["changes were lost or doubled"])]


def api_away(scene: Scene, *, seconds: float) -> list[str]:
    began = kills.clock()
    scene.simulator.down()
    time.sleep(seconds)
    said = scene.said()
    print(f"  meanwhile: {said}")
    scene.simulator.up()
    with scene.changing(seed=2):
        time.sleep(3)
    wrong = scene.wrong()
    print(f"  gaps: {scene.gaps_since(began - timedelta(seconds=60))}")
    is_said = said["reach"] == "unreachable" and said["open gaps"] == ["api_unreachable"]
    return wrong if is_said else [*wrong, "the outage was not said"]


def disk_full(scene: Scene, *, seconds: float) -> list[str]:
    from django.db import connection

    began = kills.clock()
    small = scene.server.folder / "small"
    small.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SMALL_BYTES}", "tmpfs", str(small)],
        check=True,
    )
    try:
        privileges.give_folder(small)
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLESPACE small LOCATION '{small}'")
            today = f"objects_objectevent_p{began:%Y%m%d}"
            cursor.execute(f"ALTER TABLE {today} SET TABLESPACE small")
        with scene.changing(seed=3):
            time.sleep(3)
            filler = small / "filler"
            with suppress(OSError), filler.open("wb") as file:
                while True:
                    file.write(b"\0" * 65536)
                    file.flush()
            kills.wait_until(lambda: scene.said()["open gaps"] == ["disk_full"], seconds=seconds)
            said = scene.said()
            print(f"  meanwhile: {said}")
            filler.unlink()
            time.sleep(3)
        wrong = scene.wrong()
        print(f"  gaps: {scene.gaps_since(began - timedelta(seconds=60))}")
        return wrong if said["open gaps"] == ["disk_full"] else [*wrong, "it was not said"]
    finally:
        connection.close()
        scene.server.stop()
        subprocess.run(["umount", str(small)], check=True)


SCENARIOS: dict[str, Callable[..., list[str]]] = {
    "database": database_away,
    "api": api_away,
    "disk": disk_full,
}


def play(names: list[str], *, seconds: float) -> bool:
    """Whether all went well. `disk` comes last: its server does not survive it."""
    folder = Path(tempfile.mkdtemp(prefix="dradash-outages-", dir="/tmp"))
    server = Postgres(folder)
    os.environ |= {
        "DATABASE_URL": server.url,
        "DRADASH_HOME": str(folder / "home"),
        "SECRET_KEY": "only for this run",
    }
    import django

    django.setup()
    from django.core.management import call_command

    from clusters import services
    from clusters.choices import Source
    from kube.targets import Target
    from simulator import server as simulated

    try:
        server.start()
        call_command("migrate", verbosity=0)
        with simulated.start() as simulator:
            simulator.put_all(kills.resource_slice(number) for number in range(50))
            wanted = services.WatchedCluster(
                "outages", Source.SIMULATED, Target("url", url=simulator.url)
            )
            cluster = services.ensure_clusters([wanted], now=kills.clock())[0]
            worker = kills.Worker(cluster.pk, dict(os.environ))
            try:
                kills.wait_until(lambda: kills.is_followed(cluster.pk))
                scene = Scene(server, simulator, cluster.pk)
                wrong = [
                    each for name in names for each in _play_one(name, scene, seconds=seconds)
                ]
            finally:
                worker.stop()
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return not wrong


def _play_one(name: str, scene: Scene, *, seconds: float) -> list[str]:
    print(f"{name} away for {seconds:.0f} s", flush=True)
    wrong = SCENARIOS[name](scene, seconds=seconds)
    print("  " + ("\n  ".join(wrong[:20]) if wrong else "all is as it should be"), flush=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="*", default=["database", "api", "disk"])
    parser.add_argument("--seconds", type=float, default=30.0)
    arguments = parser.parse_args()
    return 0 if play(arguments.scenarios, seconds=arguments.seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
