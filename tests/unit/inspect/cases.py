"""Cases of `tests/fixtures/cases` as `dradash inspect` tells them, in short forms that tests can write out."""

import io
import json
import re
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from dradash.inspect import command

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
_STEP = re.compile(r'case\.example/step: "([\d,]+)"')
_FIGURES = (
    "total",
    "seen",
    "allocated",
    "partly_used",
    "unavailable",
    "blocked",
    "available",
    "admin_access",
)


class Counts(NamedTuple):
    """Devices of one pool; None is unknown."""

    total: int | None
    seen: int
    allocated: int | None
    partly_used: int | None
    unavailable: int | None
    blocked: int | None
    available: int | None
    admin_access: int | None = 0


class Pool(NamedTuple):
    """One pool: generation, `seen/expected` slices, where its devices can be used, counts and codes of problems."""

    generation: int | None
    slices: str
    node: str
    counts: Counts
    problems: tuple[str, ...] = ()


def path_of(case: str) -> Path:
    (found,) = CASES.glob(f"{case}-*.yaml")
    return found


def documents(case: str, step: int | None = None) -> list[str]:
    """The documents of a case that are there in one step; all of them without one."""
    found = re.split(r"^---\n", path_of(case).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [text for text in found if step is None or str(step) in _steps(text)]


def _steps(text: str) -> Sequence[str]:
    match = _STEP.search(text)
    return match[1].split(",") if match else "123456789"


def write_case(folder: Path, case: str, step: int | None = None, *, reverse: bool = False) -> Path:
    """One step of a case as a file."""
    texts = documents(case, step)
    target = folder / f"{case}.yaml"
    target.write_text("---\n".join(reversed(texts) if reverse else texts), encoding="utf-8")
    return target


def run(*arguments: str | Path) -> tuple[int, str]:
    """`dradash inspect` in this process: exit code and what it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        code = command.main([str(each) for each in arguments])
    return code, printed.getvalue()


def inspected(*arguments: str | Path) -> dict[str, Any]:
    code, printed = run("--format", "json", *arguments)
    assert code == command.OK
    report: dict[str, Any] = json.loads(printed)
    return report


def pools(report: dict[str, Any]) -> dict[str, Pool]:
    return {
        f"{pool['driver']}/{pool['pool']}": Pool(
            generation=pool["generation"],
            slices=f"{pool['slices']['seen']}/{pool['slices']['expected']}",
            node=node_words(pool),
            counts=Counts(*(pool["devices"][name] for name in _FIGURES)),
            problems=tuple(problem["code"] for problem in pool["problems"]),
        )
        for pool in report["pools"]
    }


def node_words(pool: dict[str, Any]) -> str:
    selection = pool["node_selection"]
    is_node = selection["kind"] == "node"
    assert pool["node"] == (selection["text"] if is_node else None)
    return str(selection["text"]) if is_node else f"{selection['kind']}: {selection['text']}"


def states(report: dict[str, Any]) -> dict[str, str]:
    """State by `driver/pool/device`, with a `+` where another share fits."""
    return {
        f"{each['driver']}/{each['pool']}/{each['device']}": each["state"]
        + ("+" if each["partly_used"] else "")
        for each in report["devices"]
    }


def device(report: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [each for each in report["devices"] if each["device"] == name]
    return dict(found)


def capacity(entries: Sequence[dict[str, Any]]) -> dict[str, tuple[str, str | None, str | None]]:
    """Total, consumed and available by name."""
    return {each["name"]: (each["total"], each["consumed"], each["available"]) for each in entries}


def counters(report: dict[str, Any]) -> dict[str, str]:
    """`left of total` by `driver/pool/set/counter`."""
    return {
        f"{each['driver']}/{each['pool']}/{each['counter_set']}/{each['name']}": f"{each['left']} of {each['total']}"
        for each in report["counters"]
    }


def holders(report: dict[str, Any]) -> dict[str, list[str]]:
    """Devices by claim, with a mark for admin access and for those that are not published."""
    return {
        f"{claim['namespace']}/{claim['claim']}": [
            _held(allocation) for allocation in claim["allocations"]
        ]
        for claim in report["claims"]
        if claim["allocated"]
    }


def _held(allocation: dict[str, Any]) -> str:
    name = "/".join(allocation[part] for part in ("driver", "pool", "device"))
    admin = " (admin)" if allocation["admin_access"] else ""
    return (
        name
        + admin
        + {True: "", False: " (unpublished)", None: " (unknown)"}[allocation["published"]]
    )


def users(report: dict[str, Any]) -> dict[str, list[str]]:
    """What each claim is reserved for."""
    return {
        f"{claim['namespace']}/{claim['claim']}": [
            f"{user['resource']}{'.' if user['api_group'] else ''}{user['api_group']} {user['name']}"
            for user in claim["reserved_for"]
        ]
        for claim in report["claims"]
    }


def messages(report: dict[str, Any], code: str) -> list[str]:
    """Messages of one code, of pools, devices and the whole."""
    everything = [report, *report["pools"], *report["devices"]]
    return [
        problem["message"]
        for each in everything
        for problem in each["problems"]
        if problem["code"] == code
    ]
