import re
import shlex
from pathlib import Path

import pytest

from tests.unit.inspect.cases import run

ROOT = Path(__file__).parents[3]
EXAMPLE = re.compile(r"^```\n\$ dradash inspect (.*)\n([\s\S]*?)^```$", re.MULTILINE)
EXAMPLES = EXAMPLE.findall((ROOT / "docs" / "inspect.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("arguments", "printed"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_documented_output_is_what_is_printed(
    arguments: str, printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)

    assert run(*shlex.split(arguments)) == (0, printed)


def test_all_examples_were_found() -> None:
    assert len(EXAMPLES) == 3
