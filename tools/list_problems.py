"""Write docs/problems.md: every problem of the catalogue, with what it says and what to do."""

import re
from collections.abc import Iterator
from pathlib import Path

from dra.catalogue import Choice, Entry, Number, ParameterKind, Several
from dra.problems import CODES, PROBLEMS

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "problems.md"
_PARAMETER = re.compile(r"%\((\w+)\)[sr]")
_HEAD = """\
# Problems

What is wrong with a pool, a device, a slice or a dump has a code, which is stable, and parameters. Filters, alerts and the API go by
the code; the words beside it are made for whoever reads them and may change. A list in the parameters names at most five; where it
may be longer, the parameter that ends in `_count` says how many there are. Of a problem that was found in one slice of a pool, the
parameter `slice` names it. A problem that an earlier release stored has the parameter `said_before`, its sentence, and no other.

`python -m tools.list_problems` writes this page.
"""


def document() -> str:
    """The page as it should be."""
    return "\n".join([_HEAD, *(line for code in CODES for line in _section(PROBLEMS[code]))])


def _section(entry: Entry) -> Iterator[str]:
    words = entry.words if isinstance(entry.words, str) else entry.words.many
    yield f"## `{entry.code}`"
    yield ""
    yield f"{entry.severity.capitalize()}: {_plain(words)}"
    yield ""
    if entry.remedy:
        yield f"What to do: {entry.remedy}"
        yield ""
    if entry.parameters:
        yield from (f"- `{name}`: {_meaning(kind)}" for name, kind in entry.parameters.items())
        yield ""


def _plain(words: str) -> str:
    """With parameters as {name}."""
    return _PARAMETER.sub(r"{\1}", words)


def _meaning(kind: ParameterKind) -> str:
    if isinstance(kind, Choice):
        listed = ", ".join(f"`{value}` ({_plain(words)})" for value, words in kind.words.items())
        return f"one of {listed}"
    if isinstance(kind, Several):
        return "list"
    return "number" if isinstance(kind, Number) else "text"


if __name__ == "__main__":
    DOCUMENT.write_text(document())
