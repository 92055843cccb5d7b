"""How soon a change in a real API server is on the page and in the API: `python -m bench.freshness`.

A control plane from `tests.cluster`, the product as `dradash up` starts it, and a pool page that asks for its live part as the
browser's script does. Each change is measured from the moment at which its write has returned.
"""

from __future__ import annotations

import argparse
import http.cookiejar
import json
import math
import os
import random
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cluster.controlplane import ControlPlane
from tests.cluster.objects import device, resource_slice, taint
from tests.cluster.rights import ACCOUNT, NAMESPACE, shipped_rights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

REPOSITORY = Path(__file__).parent.parent
LIVE_SCRIPT = REPOSITORY / "static" / "dradash" / "live.js"
FIRST_PORT, LAST_PORT = 26000, 26199
LIMIT_SECONDS = 2.0
API_POLL_SECONDS = 0.1
START_SECONDS = 180
DRIVER = "gpu.example.com"
POOL, DEVICES = "node-0", 8
_FREE = re.compile(r"(\d+) of \d+ devices are free")


def main() -> int:
    """Print the figures; 1 when pages are later than they may be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=100)
    parser.add_argument("--pools", type=int, default=100, help="pools that stand by, unchanged")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="dradash-fresh-", dir="/tmp") as folder,
        ControlPlane(start_controllers=False) as plane,
    ):
        kubeconfig = prepare(plane, pools=given.pools)
        with Product.running(Path(folder), kubeconfig) as product:
            page, api = measure(plane, product, changes=given.changes)
    tell("on the page", page)
    tell("in the API", api)
    return 0 if percentile(page, 0.95) <= LIMIT_SECONDS else 1


def prepare(plane: ControlPlane, *, pools: int) -> Path:
    """Rights as they are shipped, the pool that changes, and others beside it."""
    plane.apply(shipped_rights())
    others = (
        resource_slice(
            f"other-{number}",
            [device(f"gpu-{index}") for index in range(DEVICES)],
            driver=DRIVER,
            pool=f"other-{number}",
            node_name=f"other-{number}",
        )
        for number in range(pools)
    )
    plane.apply([changing(is_tainted=False), *others])
    return plane.kubeconfig(ACCOUNT, token=plane.service_account_token(NAMESPACE, ACCOUNT))


def changing(*, is_tainted: bool) -> dict[str, Any]:
    """The slice that changes: one of its devices is tainted, or not."""
    devices = [device(f"gpu-{index}") for index in range(DEVICES)]
    if is_tainted:
        devices[0]["taints"] = taint()
    return resource_slice("changing", devices, driver=DRIVER, pool=POOL)


def measure(
    plane: ControlPlane, product: Product, *, changes: int
) -> tuple[list[float], list[float]]:
    """Seconds from each write to the page and to the API."""
    pool = product.wait_for_pool()
    paths = f"/pools/{pool}/", f"/api/v1/pools/{pool}/"
    page = Watched(paths[0], product.live_part(paths[0]))
    api = Watched(paths[1], product.api_answer(paths[1]))
    delays: tuple[list[float], list[float]] = ([], [])
    for number in range(changes):
        # At no fixed moment between two questions of the page.
        time.sleep(random.uniform(0.2, 2.2))
        is_tainted = number % 2 == 0
        plane.apply([changing(is_tainted=is_tainted)])
        written = time.monotonic()
        wanted = DEVICES - is_tainted
        for seconds, watched in zip(delays, (page, api), strict=True):
            seconds.append(max(0.0, watched.wait_for(wanted) - written))
        print(f"\r{number + 1} of {changes}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    page.stop()
    api.stop()
    return delays


def tell(where: str, seconds: Sequence[float]) -> None:
    middle, late = percentile(seconds, 0.5), percentile(seconds, 0.95)
    print(
        f"A change is {where} after {middle:.2f} s (median), {late:.2f} s (95th percentile),"
        f" {max(seconds):.2f} s (latest of {len(seconds)})."
    )


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


@dataclass(frozen=True)
class Look:
    """What is shown after a question: the number of free devices, by which ETag, and how the question was answered."""

    free: int | None
    etag: str
    status: int


class Watched:
    """A thread that looks at an address again and again, and remembers when its number of free devices was first seen."""

    def __init__(self, path: str, looks: Iterator[Look]) -> None:
        self._changed = threading.Condition()
        self._path = path
        self._latest: Look | None = None
        self._free: int | None = None
        self._since = 0.0
        self._is_over = False
        self._looks = looks
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        for look in self._looks:
            with self._changed:
                if self._is_over:
                    return
                self._latest = look
                if look.free != self._free:
                    self._free, self._since = look.free, time.monotonic()
                    self._changed.notify_all()

    def wait_for(self, free: int, *, seconds: float = 60) -> float:
        """The moment since when it shows this number."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._free == free, seconds):
                sys.exit(
                    f"not shown within {seconds} s: {free} free devices; {self._last_shown()}"
                )
            return self._since

    def _last_shown(self) -> str:
        if self._latest is None:
            return f"{self._path} was never answered"
        return (
            f"{self._path} has shown {self._free} for {time.monotonic() - self._since:.1f} s,"
            f" by ETag {self._latest.etag or 'none'}, and was answered with {self._latest.status} last"
        )

    def stop(self) -> None:
        with self._changed:
            self._is_over = True
        self._thread.join()


class Product:
    """A running `dradash up`, seen by one signed-in person and by one program with a token."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.token = token
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), cookies)

    @classmethod
    @contextmanager
    def running(cls, folder: Path, kubeconfig: Path) -> Iterator[Product]:
        """Started with nothing but a kubeconfig and a password, and stopped as by Ctrl-C."""
        port, password = free_port(), secrets.token_urlsafe()
        environment = {
            **os.environ,
            "DRADASH_HOME": str(folder / "home"),
            "DRADASH_CLUSTERS": str(kubeconfig),
            "DRADASH_ADMIN_PASSWORD": password,
            "PORT": str(port),
        }
        program = [sys.executable, "-m", "dradash.cli"]
        log = (folder / "up.log").open("wb")
        process = subprocess.Popen(
            [*program, "up"], env=environment, stdout=log, stderr=log, cwd=REPOSITORY
        )
        try:
            wait_until(lambda: b"DRA-Dash is at" in (folder / "up.log").read_bytes(), process)
            made = subprocess.run(
                [*program, "token", "create", "--user", "admin"],
                env=environment,
                cwd=REPOSITORY,
                capture_output=True,
                text=True,
                check=True,
            )
            product = cls(f"http://127.0.0.1:{port}", re.findall(r"dradash_\S+", made.stdout)[0])
            product.sign_in("admin", password)
            yield product
        except BaseException:
            for text in sorted((folder / "home" / "logs").glob("*.log")):
                print(f"\n--- {text.name}\n{text.read_text()[-2000:]}", file=sys.stderr)
            raise
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            log.close()

    def sign_in(self, name: str, password: str) -> None:
        _, _, form = self.ask("/accounts/login/")
        (token,) = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)[:1]
        fields = {"username": name, "password": password, "csrfmiddlewaretoken": token}
        content = urllib.parse.urlencode(fields).encode()
        self.ask("/accounts/login/", content=content, Referer=self.url)

    def ask(
        self, path: str, *, content: bytes | None = None, **headers: str
    ) -> tuple[int, str | None, str]:
        """Status, ETag and text."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        question = urllib.request.Request(self.url + path, data=content, headers=named)
        try:
            with self._opener.open(question, timeout=30) as answer:
                return answer.status, answer.headers["ETag"], answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers["ETag"], error.read().decode()
        except OSError as error:
            # What asks again and again does so; what is late for it is measured as late.
            print(f"\n{path}: {error}", file=sys.stderr)
            return 0, None, ""

    def wait_for_pool(self) -> str:
        """The id of the pool that changes, once it is known."""
        deadline = time.monotonic() + START_SECONDS
        path = f"/api/v1/pools/?driver={DRIVER}&node={POOL}"
        while time.monotonic() < deadline:
            status, _, text = self.ask(path, Authorization=f"Bearer {self.token}")
            if status == 200 and (rows := json.loads(text)["results"]):
                return str(rows[0]["id"])
            time.sleep(0.5)
        sys.exit("the pool was not found in time")

    def live_part(self, path: str) -> Iterator[Look]:
        """What the live part of a pool page shows, asked for when and how the browser's script does."""
        _, _, page = self.ask(path)
        (part,) = re.findall(r'<div id="pool-now".*?>', page, re.DOTALL)
        (interval,) = re.findall(r'data-live="(\d+)"', part)
        (etag,) = re.findall(r'data-etag="([^"]+)"', part)
        (tick,) = re.findall(r"setInterval\(tick, (\d+)\)", LIVE_SCRIPT.read_text())
        etag, shown, due, status = etag.replace("&quot;", '"'), page, 0.0, 200
        while True:
            match = _FREE.search(shown)
            yield Look(int(match.group(1)) if match else None, etag, status)
            time.sleep(int(tick) / 1000)
            if time.monotonic() < due:
                continue
            due = time.monotonic() + int(interval)
            status, new_etag, text = self.ask(path, HX_Request="true", If_None_Match=etag)
            if status == 200 and new_etag:
                etag, shown = new_etag, text

    def api_answer(self, path: str) -> Iterator[Look]:
        """What the REST API says, asked for ten times a second."""
        etag: str = ""
        free: int | None = None
        while True:
            status, new_etag, text = self.ask(
                path, Authorization=f"Bearer {self.token}", If_None_Match=etag or '"none"'
            )
            if status == 200:
                etag, free = new_etag or "", json.loads(text)["devices"]["available"]
            yield Look(free, etag, status)
            time.sleep(API_POLL_SECONDS)


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit("DRA-Dash does not start; see `dradash up`")
        time.sleep(0.1)


def free_port() -> int:
    for port in range(FIRST_PORT, LAST_PORT + 1):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if probe.connect_ex(("127.0.0.1", port)):
                return port
    sys.exit(f"no free port from {FIRST_PORT} to {LAST_PORT}")


if __name__ == "__main__":
    sys.exit(main())
