"""What pages and API cost at the whole large workload: `python -m bench.pages`, or as a part of `python -m bench`.

Words are parts of the names of what is asked. With DATABASE_URL set it is asked of what is stored there. Each address is asked by Django's
test client, through all middleware, in a process that has loaded what a web process has, and has answered it once before. Counted is
the time on the server, in wall and CPU seconds, and the queries.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg

from bench.servers import Step, environment, migrate, private_postgres, simulated_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dradash.settings")

TIMES = 50
# How many rows stand before page 1,000.
DEEP = 999 * 50
HTMX = {"HX-Request": "true"}
POOLS = {
    "pools": "/pools/",
    "pools, second page": "/pools/?sort=name&cursor={cursor}",
    **{f"pools by {word}": f"/pools/?sort={word}" for word in ("name", "node", "available")},
    **{f"pools by {word}, down": f"/pools/?sort=-{word}" for word in ("available", "total")},
    "pools of a driver": "/pools/?driver=gpu.example.com",
    "pools with a problem": "/pools/?problem=any",
    "pools of a node": "/pools/?q=node:node-00007",
    "pools that fit a partition": "/pools/?q=fits:3g.40gb",
    "pools by a part of a name": "/pools/?q=node-0123",
    "pools, live part": "/pools/",
    "pools, live part unchanged": "/pools/",
}
API_POOLS = {
    "API pools": "/api/v1/pools/",
    "API pools, 1,000": "/api/v1/pools/?limit=1000",
    **{
        f"API pools by {word}": f"/api/v1/pools/?ordering={word}"
        for word in ("name", "node", "-available", "-allocated", "-total")
    },
    "API pools of a driver": "/api/v1/pools/?driver=gpu.example.com",
    "API pools with a problem": "/api/v1/pools/?problem=any",
    "API pools unchanged": "/api/v1/pools/",
}
OTHERS = {
    "overview": "/",
    "devices": "/devices/",
    "devices, page 1,000": "/devices/?cursor={deep}",
    "devices by node, page 1,000": "/devices/?sort=node&cursor={deep_by_node}",
    "devices of a model": "/devices/?q=productName=Example",
    "devices with memory": "/devices/?q=memory>=40Gi",
    "devices by a part of a name": "/devices/?q=gpu-7",
    "pool": "/pools/{pool}/",
    "device": "/devices/{device}/",
    "API devices": "/api/v1/devices/",
    "API devices, page 1,000": "/api/v1/devices/?limit=50&cursor={deep}",
    "API devices by node, down, page 1,000": "/api/v1/devices/?limit=50&ordering=-node&cursor={deep_by_node_down}",
    "API devices with memory": "/api/v1/devices/?capacity=memory>=40Gi",
    "API pool": "/api/v1/pools/{pool}/",
    "API history of a pool": "/api/v1/pools/{pool}/history/",
    "clusters": "/clusters/",
    "API slices": "/api/v1/resource-slices/",
}


@dataclass(frozen=True)
class Asked:
    """One address asked again and again; times in milliseconds."""

    name: str
    status: int
    median: float
    p95: float
    cpu: float
    # Of the backend of this process; None when Postgres is on another machine.
    postgres_cpu: float | None
    queries: int
    kilobytes: int


def main() -> None:
    """Print a table."""
    words = sys.argv[1:]
    if "DATABASE_URL" in os.environ:
        import django

        django.setup()
        for each in measure(only=words):
            print(line(each), flush=True)
        return
    with private_postgres() as database, simulated_cluster("L") as cluster:
        migrate(database)
        Step(database, cluster.url)("sync")
        run(database, *words)


def run(database: str, *words: str) -> None:
    """Print the table in a process whose database this is."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
    command = [sys.executable, "-m", "bench.pages", *words]
    subprocess.run(command, env=environment(database), check=True)


def line(each: Asked) -> str:
    backend = "       –" if each.postgres_cpu is None else f"{each.postgres_cpu:8.1f}"
    return (
        f"{each.name:<32}{each.status:5}{each.median:8.1f} ms{each.p95:8.1f} ms p95"
        f"{each.cpu:8.1f} ms CPU{backend} ms Postgres{each.queries:4} queries{each.kilobytes:6} kB"
    )


def measure(*, only: Sequence[str] = (), times: int = TIMES) -> Iterator[Asked]:
    """Ask each address `times` times, signed in, over what DATABASE_URL names."""
    client, places = signed_in(), _places()
    for name, pattern in {**POOLS, **API_POOLS, **OTHERS}.items():
        if only and not any(word in name for word in only):
            continue
        url = pattern.format(**places)
        headers = dict(HTMX) if "live" in name else {}
        if "unchanged" in name:
            headers["If-None-Match"] = client.get(url, headers=headers).headers["ETag"]
        yield ask(client, name, url, headers=headers, times=times)


def signed_in() -> Any:
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client

    from dradash.loading import finish_loading

    finish_loading()
    settings.ALLOWED_HOSTS = ["*"]
    user, _ = get_user_model().objects.get_or_create(username="bench")
    client = Client(raise_request_exception=True)
    client.force_login(user)
    return client


def _places() -> Mapping[str, Any]:
    """What the addresses name."""
    from pools import listings
    from pools.models import Device, Pool

    pool = Pool.objects.filter(driver="gpu.example.com").order_by("name")[100]
    device = Device.objects.filter(pool_id=pool.id).order_by("name")[0]
    middle = _cursor(listings.POOLS, "name", [pool.name, pool.driver, pool.id])
    deep = Device.objects.order_by("driver", "pool_name", "name", "id")[DEEP]
    names = [deep.driver, deep.pool_name, deep.name, deep.id]
    by_node = [deep.node_name or "", *names]
    return {
        "pool": pool.id,
        "device": device.id,
        "cursor": middle,
        "deep": _cursor(listings.DEVICES, "name", names),
        "deep_by_node": _cursor(listings.DEVICES, "node", by_node),
        "deep_by_node_down": _cursor(listings.DEVICES, "-node", by_node),
    }


def _cursor(listing: Any, word: str, values: Sequence[Any]) -> str:
    """As a page of the list without filters makes it."""
    from ui.paging import cursor_mark, encode_cursor

    mark = cursor_mark((listing.id, listing.read({}).wanted), listing.order(word))
    return encode_cursor(values, is_backward=False, mark=mark)


def ask(client: Any, name: str, url: str, *, headers: Mapping[str, str], times: int) -> Asked:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as captured:
        _whole(client.get(url, headers=headers))
    queries = len(captured)
    seconds = []
    cpu, backend = time.process_time(), _backend_seconds()
    for _ in range(times):
        began = time.perf_counter()
        status, size = _whole(client.get(url, headers=headers))
        seconds.append(time.perf_counter() - began)
    cpu, backend_after = time.process_time() - cpu, _backend_seconds()
    seconds.sort()
    return Asked(
        name=name,
        status=status,
        median=1000 * seconds[times // 2],
        p95=1000 * seconds[max(0, -(-times * 95 // 100) - 1)],
        cpu=1000 * cpu / times,
        postgres_cpu=None
        if backend is None or backend_after is None
        else 1000 * (backend_after - backend) / times,
        queries=queries,
        kilobytes=size // 1024,
    )


def _backend_seconds() -> float | None:
    """CPU that the backend has used; not that of parallel workers, which end with their query."""
    import psutil
    from django.db import connection

    connection.ensure_connection()
    with suppress(psutil.Error):
        used = psutil.Process(connection.connection.info.backend_pid).cpu_times()
        return float(used.user + used.system)
    return None


def _whole(response: Any) -> tuple[int, int]:
    body = response.getvalue() if response.streaming else response.content
    return response.status_code, len(body)


if __name__ == "__main__":
    main()
