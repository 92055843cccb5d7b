"""A hundred clusters on this machine: `python -m bench many`.

Simulated API servers in a few processes, a private Postgres and Redis, and one worker as `dradash up` starts it. One cluster hangs and
one answers garbage from the start; one change a second is made in ten; ten clusters more are added meanwhile. Prints each figure with
its bound, and ends with 1 if any is beyond it. CPU is that of the worker alone, so what else the machine does counts little.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psutil
import psycopg

from bench.servers import environment, migrate, private_postgres
from dradash.up import redis_server

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CLUSTERS: Final = 100
CHANGING: Final = 10
ADDED: Final = 10
SERVERS: Final = 4
READ_SECONDS: Final = 1200
POLL_SECONDS: Final = 0.1

LATEST_SECONDS: Final = 2.0
MOST_BYTES: Final = 600 << 20
MOST_CORES: Final = 0.5
MOST_CONNECTIONS: Final = 40


@dataclass(frozen=True)
class Figure:
    """What was measured, with its bound."""

    name: str
    value: float
    bound: float | None
    unit: str

    @property
    def is_kept(self) -> bool:
        return self.bound is None or self.value <= self.bound

    def __str__(self) -> str:
        bound = "" if self.bound is None else f"at most {self.bound:g} {self.unit}"
        verdict = "" if self.is_kept else "  BEYOND"
        return f"{self.name:<58}{self.value:>10.2f} {self.unit:<12}{bound}{verdict}"


class Servers:
    """A process with many simulated clusters."""

    def __init__(self, count: int, *, changing: int) -> None:
        command = [sys.executable, "-m", "bench.serve_many", str(count), str(changing)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.urls: list[str] = []

    def wait(self) -> None:
        self.urls = json.loads(self.answer())

    def order(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{text}\n")
        self._process.stdin.flush()

    def answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def private_redis(folder: Path) -> Iterator[str]:
    """The address of a Redis of our own."""
    socket = folder / "redis.sock"
    command = redis_server.server_command(folder, socket)
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield f"unix://{socket}?db=0"
    finally:
        server.terminate()
        server.wait()


@contextmanager
def worker(variables: dict[str, str], log: Path) -> Iterator[psutil.Process]:
    """The worker, as `dradash up` starts it."""
    from dradash.up import programs
    from dradash.up.address import Address
    from dradash.up.folder import HomeFolder

    home = HomeFolder(Path(variables["DRADASH_HOME"]))
    program = next(
        p for p in programs.product(home, Address("127.0.0.1", 1)) if p.name == "worker"
    )
    with log.open("wb") as written:
        process = subprocess.Popen(
            program.command,
            env={**variables, **program.environment},
            stdout=written,
            stderr=written,
        )
        try:
            yield psutil.Process(process.pid)
        finally:
            began = time.monotonic()
            process.terminate()
            process.wait(60)
            print(f"the worker ended {time.monotonic() - began:.1f} s after SIGTERM")


@dataclass
class Usage:
    """What the worker takes, looked at every second."""

    process: psutil.Process
    database: str
    bytes: list[int] = field(default_factory=list)
    connections: list[int] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)
    cores: float = 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look anew, while the block runs."""
        self.bytes, self.connections, self.threads = [], [], []
        is_over = threading.Event()
        looker = threading.Thread(target=self._look, args=(is_over,))
        began, cpu = time.monotonic(), self._cpu_seconds()
        looker.start()
        try:
            yield
        finally:
            self.cores = (self._cpu_seconds() - cpu) / (time.monotonic() - began)
            is_over.set()
            looker.join()

    def _look(self, is_over: threading.Event) -> None:
        with psycopg.connect(
            self.database, autocommit=True, application_name="bench"
        ) as connection:
            while not is_over.wait(1):
                self.bytes.append(self.process.memory_info().rss)
                self.threads.append(self.process.num_threads())
                found = connection.execute(
                    "SELECT count(*) FROM pg_stat_activity"
                    " WHERE backend_type = 'client backend' AND application_name = 'dradash'"
                ).fetchone()
                self.connections.append(found[0] if found else 0)

    def _cpu_seconds(self) -> float:
        times = self.process.cpu_times()
        return times.user + times.system

    def figures(self, when: str, *, is_bound: bool) -> list[Figure]:
        return [
            Figure(f"{when}: cores", self.cores, MOST_CORES if is_bound else None, "cores"),
            Figure(f"{when}: memory", max(self.bytes) / 2**20, MOST_BYTES / 2**20, "MiB"),
            Figure(
                f"{when}: Postgres connections", max(self.connections), MOST_CONNECTIONS, "open"
            ),
            Figure(f"{when}: threads", max(self.threads), None, "threads"),
        ]


class Watched:
    """The clusters as the product has them, asked for in SQL as pages would read them."""

    def __init__(self, database: str, kubeconfig: Path) -> None:
        self._kubeconfig = kubeconfig
        self._connection = psycopg.connect(database, autocommit=True, application_name="bench")
        self._urls: dict[str, str] = {}
        self.seen: dict[tuple[str, str], float] = {}

    def close(self) -> None:
        """A Postgres that is to end waits for whoever is connected."""
        from django.db import connections

        self._connection.close()
        connections.close_all()

    def watch(self, urls: Sequence[str]) -> None:
        """Have these followed too, each by a context of one kubeconfig."""
        from clusters import services
        from clusters.choices import Source
        from kube.targets import Target

        for url in urls:
            self._urls[f"cluster-{len(self._urls):03}"] = url
        write_kubeconfig(self._kubeconfig, self._urls)
        wanted = [
            services.WatchedCluster(
                name,
                Source.KUBECONFIG,
                Target("kubeconfig", path=str(self._kubeconfig), context=name),
            )
            for name in self._urls
        ]
        services.ensure_clusters(wanted, now=clock())

    def read_count(self) -> int:
        """Clusters of which everything was read and derived."""
        found = self._connection.execute(
            "SELECT count(*) FROM clusters_cluster c WHERE"
            " (SELECT bool_and(state = 'watching') FROM clusters_clusterkind k WHERE k.cluster_id = c.id)"
            " AND NOT EXISTS (SELECT FROM pools_dirtypool d WHERE d.cluster_id = c.id)"
        ).fetchone()
        return found[0] if found else 0

    def wait_until_read(self, count: int) -> float:
        """How long it took until so many clusters were read."""
        began = time.monotonic()
        while self.read_count() < count:
            if time.monotonic() - began > READ_SECONDS:
                sys.exit(f"only {self.read_count()} clusters were read in {READ_SECONDS} s")
            time.sleep(0.5)
        return time.monotonic() - began

    def look(self) -> None:
        """Note which changes are stored by now: what is committed is on the next page that is asked for."""
        rows = self._connection.execute(
            "SELECT c.name, e.resource_version FROM objects_objectevent e"
            " JOIN clusters_cluster c ON c.id = e.cluster_id"
            " WHERE e.at > now() - interval '10 seconds' AND e.op IN (1, 2, 3)"
        ).fetchall()
        now = time.time()
        for name, version in rows:
            self.seen.setdefault((self._urls[name], version), now)

    def reach(self, url: str) -> str:
        """What the product says of one cluster."""
        name = next(name for name, each in self._urls.items() if each == url)
        found = self._connection.execute(
            "SELECT reach, reach_failure::text FROM clusters_cluster WHERE name = %s", [name]
        ).fetchone()
        return ", ".join(str(part) for part in found) if found else ""


def clock() -> Any:
    from datetime import UTC, datetime

    return datetime.now(UTC)


def write_kubeconfig(file: Path, urls: dict[str, str]) -> None:
    """One context for each; put in place whole, since it may be read at any moment."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": n, "cluster": {"server": url}} for n, url in urls.items()],
        "users": [{"name": "nobody", "user": {}}],
        "contexts": [{"name": n, "context": {"cluster": n, "user": "nobody"}} for n in urls],
    }
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(content))
    unfinished.replace(file)


def changes_of(watched: Watched, servers: Servers, seconds: int) -> list[float]:
    """Have changes made, and say how long each took to be stored; one that was never is infinitely late."""
    servers.order(f"change {seconds}")
    until = time.monotonic() + seconds + 10
    while time.monotonic() < until:
        watched.look()
        time.sleep(POLL_SECONDS)
    made = json.loads(servers.answer())
    return sorted(watched.seen.get((url, version), math.inf) - at for url, version, at in made)


def latency(when: str, late: Sequence[float]) -> list[Figure]:
    return [
        Figure(f"{when}: changes made", len(late), None, "changes"),
        Figure(f"{when}: visible, median", late[len(late) // 2], None, "s"),
        Figure(
            f"{when}: visible, 95th percentile", late[len(late) * 95 // 100], LATEST_SECONDS, "s"
        ),
        Figure(f"{when}: visible, latest", late[-1], None, "s"),
    ]


def measure(database: str, folder: Path, servers: list[Servers], *, seconds: int) -> list[Figure]:
    """The worker from its start to its end."""
    import django

    django.setup()
    with closing(Watched(database, folder / "kubeconfig")) as watched:
        return follow(watched, database, folder, servers, seconds=seconds)


def follow(
    watched: Watched, database: str, folder: Path, servers: list[Servers], *, seconds: int
) -> list[Figure]:
    changing, *others, spare = servers
    spoilt = others[-1].urls[-2:]
    others[-1].order(f"hang {len(others[-1].urls) - 2}")
    others[-1].order(f"garble {len(others[-1].urls) - 1}")
    watched.watch([url for each in (changing, *others) for url in each.urls])
    with worker(dict(os.environ), folder / "worker.log") as process:
        usage = Usage(process, database)
        figures = first_read(watched, usage)
        # Until windows have grown to their length, and every cluster was asked what it serves.
        time.sleep(60)
        figures += at_rest(usage, seconds=seconds)
        figures += under_change(watched, changing, usage, seconds=seconds)
        figures += while_added(watched, changing, spare, usage, seconds=seconds)
        print(f"the one that hangs: {watched.reach(spoilt[0])}")
        print(f"the one that answers garbage: {watched.reach(spoilt[1])}")
    return figures


def first_read(watched: Watched, usage: Usage) -> list[Figure]:
    """All but the two that are spoilt."""
    with usage.watched():
        read = watched.wait_until_read(CLUSTERS - 2)
    figures = usage.figures("first read", is_bound=False)
    return [Figure(f"first read of {CLUSTERS - 2} clusters", read, None, "s wall"), *figures]


def at_rest(usage: Usage, *, seconds: int) -> list[Figure]:
    """While nothing changes anywhere."""
    with usage.watched():
        time.sleep(seconds)
    return usage.figures("nothing changes", is_bound=True)


def under_change(
    watched: Watched, changing: Servers, usage: Usage, *, seconds: int
) -> list[Figure]:
    """Ten change once a second each."""
    with usage.watched():
        late = changes_of(watched, changing, seconds)
    return latency("ten change", late) + usage.figures("ten change", is_bound=True)


def while_added(
    watched: Watched, changing: Servers, spare: Servers, usage: Usage, *, seconds: int
) -> list[Figure]:
    """The same ten, while ten clusters more are read from their beginning."""
    watched.watch(spare.urls)
    with usage.watched():
        late = changes_of(watched, changing, seconds)
    missing = CLUSTERS - 2 + ADDED - watched.read_count()
    return [
        *latency("ten are added", late),
        *usage.figures("ten are added", is_bound=False),
        Figure("of the added, not read in that time", missing, 0, "clusters"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="of each part")
    seconds = parser.parse_args().seconds
    # What was started ends with this, however that is asked for.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = Path(tempfile.mkdtemp(prefix="dradash-many-", dir="/tmp"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        each = (CLUSTERS - CHANGING) // (SERVERS - 1)
        counts = [CHANGING, *[each] * (SERVERS - 1), ADDED]
        servers = [stack.enter_context(Servers(count, changing=CHANGING)) for count in counts]
        database = stack.enter_context(private_postgres())
        variables = environment(database) | {
            "REDIS_URL": stack.enter_context(private_redis(folder)),
            "DRADASH_HOME": str(folder),
            "KUBECONFIG": str(folder / "none"),
            "DRADASH_CLUSTERS": "",
        }
        os.environ |= variables | {"DJANGO_SETTINGS_MODULE": "dradash.settings"}
        migrate(database)
        for each_server in servers:
            each_server.wait()
        figures = measure(database, folder, servers, seconds=seconds)
    print("\n".join(map(str, figures)))
    return 0 if all(figure.is_kept for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
