"""Builds the control plane's one program from Go modules, once for each state of its sources."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

KUBERNETES_VERSION = "1.37.2"
SOURCES = Path(__file__).parent / "controlplane"
# Without these three the API server calls itself v0.0.0, and feature gates follow that version.
LINKER_FLAGS = (
    "-s -w"
    f" -X k8s.io/component-base/version.gitVersion=v{KUBERNETES_VERSION}"
    " -X k8s.io/component-base/version.gitMajor=1"
    " -X k8s.io/component-base/version.gitMinor=37"
)
BUILD_FLAGS = ("-buildvcs=false", "-ldflags", LINKER_FLAGS)


class ProgramUnavailableError(Exception):
    """The program is not in the cache and cannot be built here; the text says what to do."""


def cache_folder() -> Path:
    """`$DRADASH_CACHE`, else `$XDG_CACHE_HOME/dradash`, else `~/.cache/dradash`."""
    if own := os.environ.get("DRADASH_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dradash"


def program_path() -> Path:
    """Where the program of the present sources is, or would be."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum", "main.go"):
        digest.update((SOURCES / name).read_bytes())
    digest.update("\0".join(BUILD_FLAGS).encode())
    return cache_folder() / "controlplane" / digest.hexdigest()[:16] / "controlplane"


def build() -> Path:
    """Return the program, built if need be: about 6 minutes on 2 cores with empty caches."""
    program = program_path()
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    with (program.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _compile(program)
    return program


def _compile(program: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise ProgramUnavailableError(
            "The test control plane is built with Go 1.26 or later, and `go` is not on the PATH."
            f" Install it, or copy a built program to {program}."
        )
    sys.stderr.write(
        f"Building Kubernetes {KUBERNETES_VERSION} for tests, some minutes: {program}\n"
    )
    unfinished = program.with_suffix(f".{os.getpid()}")
    command = [go, "build", *BUILD_FLAGS, "-o", str(unfinished), "."]
    built = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, check=False)
    if built.returncode:
        unfinished.unlink(missing_ok=True)
        raise ProgramUnavailableError(f"`go build` in {SOURCES} failed:\n{built.stderr[-4000:]}")
    unfinished.rename(program)


if __name__ == "__main__":
    print(build())
