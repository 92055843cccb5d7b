import gzip
import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
STATIC = ROOT / "static"
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
FIRST_LOAD_BYTES = 250_000
# The largest page itself, compressed.
PAGE_BYTES = 30_000


def wire_size(path: Path) -> int:
    return len(gzip.compress(path.read_bytes()))


def test_first_load_fits_its_budget_with_a_chart() -> None:
    htmx = Path(str(files("django_htmx") / "static/django_htmx/htmx-2.min.js"))
    scripts_and_styles = [
        htmx,
        *STATIC.rglob("*.css"),
        *STATIC.rglob("*.js"),
        *STATIC.rglob("*.svg"),
    ]

    assert sum(map(wire_size, scripts_and_styles)) + PAGE_BYTES <= FIRST_LOAD_BYTES


def test_vendored_files_have_their_licence() -> None:
    without = [
        folder.name
        for folder in (STATIC / "vendor").iterdir()
        if not (folder / "LICENSE").is_file()
    ]

    assert without == []


def test_pinned_versions_are_those_of_the_lock() -> None:
    pinned = json.loads((ROOT / "package.json").read_text())["devDependencies"]
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]

    assert {name: packages[f"node_modules/{name}"]["version"] for name in pinned} == pinned


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_templates_name_icons_that_exist(path: Path, icon_names: set[str]) -> None:
    named = set(re.findall(r'{% icon "([^"]+)"', path.read_text()))
    named |= set(re.findall(r'icon_name="([^"]+)"', path.read_text()))

    assert named - icon_names == set()


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_templates_hold_nothing_that_the_security_policy_refuses(path: Path) -> None:
    inline = re.findall(
        r"<style|<script(?![^>]*\bsrc=)|\sstyle=|\son[a-z]+=|hx-on|hx-vals=.js:|javascript:",
        path.read_text(),
    )

    assert inline == []


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "templates/components").glob("*.html")),
    ids=lambda path: path.name,
)
def test_components_say_their_variables_on_top(path: Path) -> None:
    first = next(line for line in path.read_text().splitlines() if not line.startswith("{% load"))

    assert first.startswith("{# ")
    assert first.endswith(" #}")
