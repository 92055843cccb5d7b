"""Rules of the repository that no other tool looks at."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
NOT_OF_THE_PRODUCT = {"tests", "bench", "tools"}
ADRS = sorted((REPOSITORY / "docs" / "adr").glob("*.md"))
SUPPRESSION = re.compile(r"#\s*(?:noqa|type:\s*ignore|nosec|pragma: no cover)[^\n]*")
REASONED = re.compile(r"# noqa: [A-Z]+\d+(?:, [A-Z]+\d+)* -- \S|# type: ignore\[[a-z, -]+\]")


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=REPOSITORY, check=True, capture_output=True, text=True
    ).stdout
    return [REPOSITORY / name for name in listed.splitlines() if (REPOSITORY / name).is_file()]


def packages() -> set[str]:
    return {path.parent.name for path in tracked("*/__init__.py")} & {
        path.name for path in REPOSITORY.iterdir()
    }


def lists_of_packages() -> dict[str, set[str]]:
    """The places that name every package: a new one is added to each, or is not checked there."""
    tools = PROJECT["tool"]
    makefile = (REPOSITORY / "Makefile").read_text()
    contracts = {each["name"]: each for each in tools["importlinter"]["contracts"]}
    (typed,) = re.findall(r"^PACKAGES = (.+)$", makefile, re.MULTILINE)
    return {
        "types": set(typed.split()),
        "build": {each.rstrip("*") for each in tools["setuptools"]["packages"]["find"]["include"]},
        "coverage": set(tools["coverage"]["run"]["source_pkgs"]),
        "imports": set(tools["importlinter"]["root_packages"]),
        "door": {"kube", *contracts["One door to Kubernetes"]["source_modules"]},
        "unused": set(tools["deptry"]["known_first_party"]) - NOT_OF_THE_PRODUCT,
    }


def test_every_list_of_packages_names_each_of_them() -> None:
    product = packages() - NOT_OF_THE_PRODUCT

    assert {"dra", "dradash", "ui"} <= product
    assert lists_of_packages() == dict.fromkeys(lists_of_packages(), product)


@pytest.mark.parametrize("path", ADRS, ids=lambda path: path.stem)
def test_adr_has_its_number_in_its_title_and_all_its_parts(path: Path) -> None:
    title, *lines = path.read_text().splitlines()
    headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    said = " ".join([*headings, *(line for line in lines if line.startswith("Status:"))])

    assert re.match(rf"# (?:ADR )?0*{int(path.name[:4])}\b", title)
    assert [
        part for part in ("Context", "Decision", "Consequences", "Status") if part not in said
    ] == []


def test_no_two_adrs_share_a_number() -> None:
    numbers = [path.name[:4] for path in ADRS]

    assert len(set(numbers)) == len(numbers) >= 1


def test_every_suppression_has_a_code_and_silenced_lint_a_reason() -> None:
    bare = [
        f"{path.relative_to(REPOSITORY)}: {found}"
        for path in tracked("*.py")
        if path != Path(__file__)
        for found in SUPPRESSION.findall(path.read_text())
        if not REASONED.match(found)
    ]

    assert bare == []


def test_nothing_of_a_machine_is_in_the_repository() -> None:
    """No home folders, and no keys outside the fixtures that are made to look like them."""
    patterns = re.compile(r"/(?:root|home/(?!someone|x)[a-z]+)/|BEGIN [A-Z ]*PRIVATE KEY")
    found = [
        f"{path.relative_to(REPOSITORY)}: {match[0]}"
        for path in tracked("*.py", "*.md", "*.toml", "*.yml", "*.html", "Makefile", ".ci/*")
        if path != Path(__file__) and "fixtures" not in path.parts
        for match in [patterns.search(path.read_text())]
        if match
    ]

    assert found == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    banned = {"utils", "helpers", "common", "misc", "manager", "data", "info", "process", "handle"}

    assert [str(path) for path in tracked("*.py") if path.stem in banned] == []


def test_every_make_target_of_people_is_explained() -> None:
    makefile = (REPOSITORY / "Makefile").read_text()
    explained = set(re.findall(r"^([a-z0-9-]+):.*## ", makefile, re.MULTILINE))

    wanted = {"help", "run", "test", "install", "check", "bench", "test-cluster", "clean"}
    assert wanted - explained == set()
