"""What runs: one entry per program, and the supervisor's configuration made of them."""

import configparser
import io
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dradash import config
from dradash.up import launch, postgres, redis_server
from dradash.up.address import Address
from dradash.up.folder import HomeFolder

REPOSITORY = Path(__file__).resolve().parent.parent.parent
STARTER_FAILED = 3
LOG_BYTES = "10MB"
# Retries come 1, 2, 3 … seconds apart and never end: a full disk or a slow server is waited out.
RETRIES = 1_000_000
# A transaction takes milliseconds, and the interpreter runs one at a time: more would wait for each other.
WORKER_CONNECTIONS = 8
# The allocator of glibc otherwise keeps a heap for each of many threads.
FEW_ARENAS = {"MALLOC_ARENA_MAX": "2"}


@dataclass(frozen=True, slots=True)
class Markers:
    """Files that say how far the start has come; a program waits for the one that it names."""

    run: Path

    @property
    def pages_ready(self) -> Path:
        return self.run / "pages-ready"

    @property
    def work_ready(self) -> Path:
        return self.run / "work-ready"

    def forget(self) -> None:
        for marker in (self.pages_ready, self.work_ready):
            marker.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Program:
    """One program that is kept running."""

    name: str
    command: Sequence[str]
    stop_signal: str = "TERM"
    stop_seconds: int = 10
    after: Path | None = None
    without_root: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


def servers(home: HomeFolder) -> Iterator[Program]:
    """The private Postgres and Redis, each only where the environment names no other."""
    if not config.given_database_url():
        serve = postgres.server_command(home.postgres, home.sockets, settings={})
        yield Program("postgres", serve, stop_signal="INT", stop_seconds=60, without_root=True)
    if not config.given_redis_url():
        yield Program(
            "redis", redis_server.server_command(home.redis, home.sockets / "redis.sock")
        )


def simulator(port: int) -> Program:
    return Program(
        "simulator", [sys.executable, "-m", "simulator", "--port", str(port), "--seed", "1"]
    )


def product(home: HomeFolder, address: Address) -> Iterator[Program]:
    """Pages and worker, and the program that prepares the database for them and ends."""
    markers = Markers(home.run)
    yield Program(
        "web",
        [sys.executable, "-m", "gunicorn", "--bind", str(address)],
        after=markers.pages_ready,
        environment={
            "DATABASE_CONNECT_TIMEOUT_SECONDS": "2",
            "DATABASE_STATEMENT_TIMEOUT_SECONDS": "15",
            **FEW_ARENAS,
        },
    )
    celery = [sys.executable, "-m", "celery", "--app", "dradash", "--workdir", str(REPOSITORY)]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    yield Program(
        "worker",
        [*celery, "worker", *quiet],
        stop_seconds=5,
        after=markers.work_ready,
        environment={"DATABASE_POOL_SIZE": str(WORKER_CONNECTIONS), **FEW_ARENAS},
    )
    yield Program(
        "starter",
        [sys.executable, "-m", "dradash.up.starter", address.host, str(address.port)],
        # Each attempt is short, so that what is waited for is said soon.
        environment={"DATABASE_CONNECT_TIMEOUT_SECONDS": "2"},
    )


def supervisor_configuration(home: HomeFolder, groups: Mapping[str, Sequence[Program]]) -> str:
    """Groups start in their order and stop in the opposite one, each as a whole."""
    parser = configparser.RawConfigParser()
    parser["supervisord"] = {
        "nodaemon": "true",
        "silent": "true",
        "logfile": str(home.logs / "supervisor.log"),
        "logfile_maxbytes": LOG_BYTES,
        "pidfile": str(home.run / "supervisor-number"),
        "childlogdir": str(home.logs),
        "umask": "077",
        **({"user": "root"} if os.geteuid() == 0 else {}),
    }
    for priority, (group, programs) in enumerate(groups.items()):
        names = ",".join(program.name for program in programs)
        parser[f"group:{group}"] = {"programs": names, "priority": str(priority)}
        for program in programs:
            parser[f"program:{program.name}"] = _section(home, program)
    text = io.StringIO()
    parser.write(text)
    return text.getvalue()


def _section(home: HomeFolder, program: Program) -> dict[str, str]:
    started = launch.command(
        program.name,
        home.run,
        program.command,
        without_root=program.without_root,
        ends_with_parent=f"SIG{program.stop_signal}",
        after=program.after,
    )
    section = {
        "command": _escaped(shlex.join(started)),
        "directory": _escaped(str(REPOSITORY)),
        "autorestart": "true",
        "startretries": str(RETRIES),
        "stopsignal": program.stop_signal,
        "stopwaitsecs": str(program.stop_seconds),
        "killasgroup": "true",
        "redirect_stderr": "true",
        "stdout_logfile": _escaped(str(home.logs / f"{program.name}.log")),
        "stdout_logfile_maxbytes": LOG_BYTES,
        "stdout_logfile_backups": "3",
        "environment": ",".join(
            f'{name}="{value}"' for name, value in program.environment.items()
        ),
    }
    return section | (_STARTER if program.name == "starter" else {})


# What the starter prints goes to the terminal and into no file: it may hold the first password.
_STARTER = {
    "autorestart": "unexpected",
    "exitcodes": f"0,{STARTER_FAILED}",
    "startsecs": "0",
    "stdout_events_enabled": "true",
    "stdout_logfile": "NONE",
}


def _escaped(text: str) -> str:
    """The supervisor expands `%(name)s`."""
    return text.replace("%", "%%")
