"""`dradash up`: what `make run` calls."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.conf import settings
from environs import EnvError

from dradash.config import DradashConfig, read_config
from dradash.up import folder, leftovers, postgres, programs, static_files, supervise
from dradash.up.address import Address, free_local_port, parse_address, require_free
from dradash.up.failure import StartFailure
from dradash.up.folder import HomeFolder
from dradash.up.programs import Program

DEFAULT_PORT = 8000
INTERRUPTED = 130


def main(arguments: Sequence[str]) -> int:
    """Run until stopped; 0 after a stop that was asked for, 1 with a sentence on stderr when it does not start."""
    given = _parser().parse_args(arguments)
    if given.simulated:
        os.environ["DRADASH_SIMULATED"] = "true"
    try:
        config = read_config()
        return _run(config, parse_address(given.host, given.port))
    except (StartFailure, EnvError) as failure:
        print(f"\n{failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dradash up", description="Start everything, and print the address of the first page."
    )
    parser.add_argument("--host", default=os.environ.get("DRADASH_HOST", "127.0.0.1"))
    parser.add_argument("--port", default=os.environ.get("PORT", str(DEFAULT_PORT)))
    parser.add_argument(
        "--simulated", action="store_true", help="watch the bundled simulated cluster"
    )
    return parser


def _run(config: DradashConfig, address: Address) -> int:
    home = HomeFolder(config.home)
    os.environ["DRADASH_HOME"] = str(home.path)
    folder.prepare(home)
    with folder.held(home):
        if ended := leftovers.end(home.run):
            print(f"Ended what an earlier run left: {', '.join(ended)}.", flush=True)
        require_free(address)
        _read_settings()
        servers = list(programs.servers(home))
        if any(program.name == "postgres" for program in servers):
            postgres.initialise(home)
            leftovers.remove_stale_lock(home.postgres)
        groups = {
            "servers": servers,
            "cluster": list(_simulator(config)),
            "product": list(programs.product(home, address)),
        }
        _mark_what_is_done(home)
        configuration = home.run / "supervisor.conf"
        present = {name: group for name, group in groups.items() if group}
        configuration.write_text(programs.supervisor_configuration(home, present))
        return supervise.run(configuration)


def _read_settings() -> None:
    """What every program is about to read: raises EnvError here, once, instead of in each of them for ever."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dradash.settings")
    settings.INSTALLED_APPS  # noqa: B018 -- reading is what fails


def _mark_what_is_done(home: HomeFolder) -> None:
    markers = programs.Markers(home.run)
    markers.forget()
    if static_files.are_collected(home.static):
        markers.pages_ready.touch()


def _simulator(config: DradashConfig) -> Iterator[Program]:
    if not _needs_simulator(config):
        return
    port = free_local_port()
    os.environ["DRADASH_SIMULATOR_URL"] = f"http://127.0.0.1:{port}"
    yield programs.simulator(port)


def _needs_simulator(config: DradashConfig) -> bool:
    """Asked for, or nothing named and no real cluster answers."""
    if config.simulated:
        return True
    return not config.clusters and not _a_cluster_answers()


def _a_cluster_answers() -> bool:
    named = os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
    has_kubeconfig = any(Path(part).is_file() for part in named.split(os.pathsep) if part)
    if not has_kubeconfig and not os.environ.get("KUBERNETES_SERVICE_HOST"):
        return False
    from kube.connect import default_target  # noqa: PLC0415 -- takes half a second, and is rarely needed

    return default_target() is not None
