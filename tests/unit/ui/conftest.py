import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def css() -> str:
    return (ROOT / "static/dradash/app.css").read_text()


@pytest.fixture(scope="session")
def icon_names() -> set[str]:
    sprite = (ROOT / "static/vendor/tabler-icons/icons.svg").read_text()
    return set(re.findall(r'<symbol id="([^"]+)"', sprite))
