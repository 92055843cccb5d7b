"""Does what somebody does first, `make test` and `make run`, in a new clone.

As root from a folder that root alone can enter, as root's own home is, and then as an ordinary user. Who is not root tries the latter
only. Takes what is committed.
"""

import os
import pwd
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dradash.up.address import free_local_port

REPOSITORY = Path(__file__).resolve().parent.parent
# A few that need both servers; what they test does not matter here.
TESTS = "tests/integration/dradash/test_prepare.py tests/integration/dradash/test_probes.py -n 2"
PAGE_SECONDS = 120
STOP_SECONDS = 60
ORDINARY_USER = "nobody"


@dataclass(frozen=True, slots=True)
class Person:
    """Who tries it; `options` are those of `subprocess.Popen` that make a process theirs."""

    name: str
    folder: Path
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Of a new machine: nothing of ours is set, a Python that everybody may run, and home beside the clone."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if name.upper().endswith("_PROXY") or name.startswith(("PIP_", "SSL_", "LANG"))
        }
        home = str(home_of(self.name, self.folder))
        return kept | {"HOME": home, "PATH": "/usr/local/bin:/usr/bin:/bin"}

    def start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        print(f"{self.name}: {shlex.join(command)}", flush=True)
        clone = self.folder / "dradash"
        return subprocess.Popen(
            command, cwd=clone, env=self.environment, start_new_session=True, **self.options
        )

    def run(self, command: Sequence[str]) -> None:
        if self.start(command).wait() != 0:
            sys.exit("That failed.")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="dradash-first-start-") as name:
        folder = Path(name)
        subprocess.run(
            ["git", "clone", "--quiet", str(REPOSITORY), str(folder / "dradash")], check=True
        )
        own_name = pwd.getpwuid(os.geteuid()).pw_name
        for person in (own_name, ORDINARY_USER):
            home_of(person, folder).mkdir()
        try_both(Person(own_name, folder))
        if os.geteuid() == 0:
            owner = pwd.getpwnam(ORDINARY_USER)
            subprocess.run(["chown", "--recursive", ORDINARY_USER, name], check=True)
            ordinary = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
            try_both(Person(ORDINARY_USER, folder, ordinary))
    print("Both commands work in a new clone.")


def home_of(person: str, folder: Path) -> Path:
    return folder / f"home-of-{person}"


def try_both(person: Person) -> None:
    person.run(["make", "test", f"ARGS={TESTS}"])
    port = free_local_port()
    started = person.start(["make", "run", f"PORT={port}", "ARGS=--simulated"])
    try:
        wait_for_page(started, f"http://127.0.0.1:{port}/accounts/login/")
    finally:
        # As a terminal does: to all that it started.
        os.killpg(started.pid, signal.SIGINT)
        started.wait(timeout=STOP_SECONDS)


def wait_for_page(started: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + PAGE_SECONDS
    while not answers(url):
        if started.poll() is not None or time.monotonic() > deadline:
            sys.exit("`make run` does not get so far that a page answers.")
        time.sleep(0.5)
    print(f"{url} answers.", flush=True)


def answers(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    main()
