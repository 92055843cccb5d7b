"""The comment on top of a template says what its values are; whoever follows it finds that."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.repo.test_layout import REPOSITORY, tracked

# A class of ours by its whole name: pools.views.nodes.NodeUse.
NAME = re.compile(r"\b((?:[a-z_]+\.)+)([A-Z][A-Za-z]+)\b")
COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
TEMPLATES = tracked("templates/**/*.html")


def lost(text: str) -> list[str]:
    """Names in the comments of a template that lead nowhere."""
    found = [match for comment in COMMENT.findall(text) for match in NAME.findall(comment)]
    return [f"{module}{name}" for module, name in found if not exists(module.rstrip("."), name)]


def exists(module: str, name: str) -> bool:
    try:
        return hasattr(import_module(module), name)
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_comment_of_a_template_names_what_there_is(path: Path) -> None:
    assert lost(path.read_text()) == []


def test_name_that_leads_nowhere_is_found() -> None:
    text = "{# pools.views.nodes.NodeUse, pools.views.nodes.Gone, pools.gone.NodeUse #}"

    assert lost(text) == ["pools.views.nodes.Gone", "pools.gone.NodeUse"]
