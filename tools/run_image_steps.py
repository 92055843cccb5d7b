"""Runs the steps of the Dockerfile in an empty folder, where no container engine is at hand.

Takes ENV, WORKDIR, COPY and RUN as they stand, then starts the image's command against private servers and asks `/readyz`. Steps that
need a container (FROM, USER, EXPOSE, and adding a user) are named and left out. So it shows that files, packages and commands fit
together, and nothing about the base image.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from dradash import config
from dradash.up import launch, postgres, redis_server
from dradash.up.address import free_local_port
from dradash.up.folder import HomeFolder, prepare

REPOSITORY = Path(__file__).resolve().parent.parent
NEEDS_CONTAINER = ("FROM", "USER", "EXPOSE")
READY_SECONDS = 60
IMAGE_PORT = "8000"


class Image:
    """A folder that stands for the image's file system."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root
        self.command: list[str] = []
        self.environment = {
            name: os.environ[name]
            for name in os.environ
            if name.upper().endswith("_PROXY") or name.startswith(("PIP_", "SSL_", "LANG"))
        }
        self.environment |= {"PATH": f"{root}/bin:/usr/bin:/bin", "HOME": str(root)}
        self._make_python()

    def run_step(self, instruction: str, rest: str) -> None:
        match instruction:
            case "ENV":
                for pair in shlex.split(rest):
                    name, _, value = pair.partition("=")
                    self.environment[name] = self.inside(value)
            case "WORKDIR":
                self.folder = Path(self.inside(rest))
                self.folder.mkdir(parents=True, exist_ok=True)
            case "COPY":
                self._copy(*rest.split())
            case "RUN" if rest.startswith("useradd"):
                print("  left out: it needs a container")
            case "RUN":
                self.run(["/bin/sh", "-ec", rest])
            case "CMD":
                self.command = json.loads(rest)
            case _ if instruction in NEEDS_CONTAINER:
                print("  left out: it needs a container")
            case _:
                sys.exit(f"This script does not know {instruction}.")

    def run(self, command: Sequence[str]) -> None:
        subprocess.run(command, check=True, cwd=self.folder, env=self.environment)

    def inside(self, value: str) -> str:
        """A path of the image, in the folder that stands for it."""
        return f"{self.root}{value}" if value.startswith("/") else value

    def _make_python(self) -> None:
        """An empty Python, as the base image has it; its pip is ours, told to install over there."""
        venv.EnvBuilder(with_pip=False, symlinks=True).create(self.root)
        pip = self.root / "bin" / "pip"
        interpreter = self.root / "bin" / "python"
        pip.write_text(f'#!/bin/sh\nexec {sys.executable} -m pip --python {interpreter} "$@"\n')
        pip.chmod(0o755)

    def _copy(self, source: str, target: str) -> None:
        destination = self.folder / target
        if source != ".":
            destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / source, destination)
            return
        for name in _build_context():
            (destination / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, destination / name)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="dradash-image-") as folder, ExitStack() as running:
        image = Image(Path(folder) / "image")
        for instruction, rest in steps((REPOSITORY / "Dockerfile").read_text()):
            print(f"{instruction} {rest}", flush=True)
            image.run_step(instruction, rest)
        home = HomeFolder(Path(folder) / "servers")
        running.enter_context(private_servers(home))
        image.environment |= {
            "SECRET_KEY": "of-this-check-only-" + "x" * 40,
            "DATABASE_URL": config.database_url(home.path).replace("/dradash?", "/postgres?"),
            "REDIS_URL": config.redis_url(home.path),
        }
        print("prepare", flush=True)
        image.run([str(image.root / "bin" / "python"), "manage.py", "prepare"])
        ask_ready(image)
    print("The image's steps work in a clean folder.")


def steps(dockerfile: str) -> Iterator[tuple[str, str]]:
    """Instruction and rest of each step."""
    whole = dockerfile.replace("\\\n", " ")
    for line in whole.splitlines():
        if line.strip() and not line.startswith("#"):
            instruction, _, rest = line.partition(" ")
            yield instruction, " ".join(rest.split())


@contextmanager
def private_servers(home: HomeFolder) -> Iterator[None]:
    prepare(home)
    postgres.initialise(home)
    commands = (
        launch.command(
            "postgres",
            home.run,
            postgres.server_command(home.postgres, home.sockets, settings={}),
            without_root=True,
        ),
        redis_server.server_command(home.redis, home.sockets / "redis.sock"),
    )
    servers = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in commands]
    try:
        _wait_for_postgres(home)
        yield
    finally:
        for server in servers:
            server.terminate()
            server.wait()


def ask_ready(image: Image) -> None:
    """Start the image's command as it stands, but for the port, and wait for `/readyz`."""
    port = free_local_port()
    command = [part.replace(f":{IMAGE_PORT}", f":{port}") for part in image.command]
    command[0] = str(image.root / "bin" / command[0])
    print(shlex.join(command), flush=True)
    web = subprocess.Popen(command, cwd=image.folder, env=image.environment)
    try:
        deadline = time.monotonic() + READY_SECONDS
        while not (answer := _ready(f"http://127.0.0.1:{port}/readyz")):
            if web.poll() is not None or time.monotonic() > deadline:
                sys.exit("The image's command does not get ready.")
            time.sleep(0.2)
        print(answer)
    finally:
        web.terminate()
        web.wait()


def _ready(url: str) -> str | None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as answer:
            body: str = answer.read().decode()
            return body
    except (urllib.error.URLError, OSError):
        return None


def _wait_for_postgres(home: HomeFolder) -> None:
    deadline = time.monotonic() + READY_SECONDS
    ask = [postgres.program("pg_isready"), "--quiet", "--host", str(home.sockets)]
    while subprocess.run(ask).returncode != 0:
        if time.monotonic() > deadline:
            sys.exit("Postgres does not start.")
        time.sleep(0.1)


def _build_context() -> list[str]:
    """What `COPY .` sees: the repository's files without those that .dockerignore names."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    left_out = {line.strip("/ ") for line in (REPOSITORY / ".dockerignore").read_text().split()}
    return [
        name
        for name in listed
        if name.split("/")[0] not in left_out and (REPOSITORY / name).is_file()
    ]


if __name__ == "__main__":
    main()
