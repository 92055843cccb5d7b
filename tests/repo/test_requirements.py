"""The lists that `make install` takes are what uv.lock says."""

import re
import tomllib
from pathlib import Path

import pytest

from tools import environment

REPOSITORY = Path(__file__).resolve().parents[2]
LOCK = tomllib.loads((REPOSITORY / "uv.lock").read_text())
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())


def locked() -> dict[str, tuple[str, set[str]]]:
    """Version and hashes by name."""
    packages = {}
    for package in LOCK["package"]:
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        packages[package["name"]] = (package["version"], {file["hash"] for file in files})
    return packages


def listed(name: str) -> dict[str, tuple[str, set[str]]]:
    text = (REPOSITORY / "requirements" / f"{name}.txt").read_text().replace("\\\n", " ")
    found = {}
    for line in text.splitlines():
        package, _, rest = line.partition("==")
        found[package.strip()] = (rest.split()[0], set(re.findall(r"--hash=(\S+)", rest)))
    return found


def needed(*groups: str) -> set[str]:
    """Names that the project asks for, and all that they ask for."""
    packages = {package["name"]: package for package in LOCK["package"]}
    project = packages["dradash"]
    waiting = [(need["name"], tuple(need.get("extra", []))) for need in project["dependencies"]]
    for group in groups:
        needs = (
            project.get("dev-dependencies", {}).get(group)
            or project["optional-dependencies"][group]
        )
        waiting += [(need["name"], tuple(need.get("extra", []))) for need in needs]
    seen: set[tuple[str, tuple[str, ...]]] = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        needs = list(packages[name].get("dependencies", []))
        for extra in extras:
            needs += packages[name].get("optional-dependencies", {}).get(extra, [])
        waiting += [(need["name"], tuple(need.get("extra", []))) for need in needs]
    return {name for name, _ in seen}


@pytest.mark.parametrize(
    ("name", "groups"), [("run", ()), ("embedded", ("embedded",)), ("dev", ("dev",))]
)
def test_list_names_what_is_needed_with_versions_and_hashes_of_the_lock(
    name: str, groups: tuple[str, ...]
) -> None:
    expected = {package: locked()[package] for package in needed(*groups)}

    assert listed(name) == expected


def test_pip_of_the_set_up_is_the_one_of_the_lock() -> None:
    version, hashes = locked()["pip"]

    assert f"pip-{version}-py3-none-any.whl" == environment.PIP_WHEEL
    assert f"sha256:{environment.PIP_SHA256}" in hashes


def test_oldest_python_is_the_one_that_the_project_names() -> None:
    oldest = ".".join(str(part) for part in environment.OLDEST_PYTHON)

    assert PROJECT["project"]["requires-python"] == f">={oldest}"
