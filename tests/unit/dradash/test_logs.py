"""In a process of its own, since logging belongs to the whole process and pytest has a hand in ours."""

import json
import subprocess
import sys

PREPARE = """
import logging, structlog
from dradash import logs
logs.configure(level="INFO", as_json={as_json})
"""
BOTH_KINDS = """
with structlog.contextvars.bound_contextvars(cluster="prod"):
    structlog.get_logger("ours").info("synced %s", "slices", changes=3)
    logging.getLogger("theirs").warning("slow %s", "query")
"""
EXCEPTION = """
try:
    raise ValueError("odd slice")
except ValueError:
    logging.getLogger("ours").exception("could not read")
"""


def printed(code: str, *, as_json: bool = True) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PREPARE.format(as_json=as_json) + code],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stderr.splitlines()


def test_log_lines_of_both_kinds_carry_what_is_bound() -> None:
    lines = [json.loads(line) for line in printed(BOTH_KINDS)]

    assert [{name: line[name] for name in line if name != "timestamp"} for line in lines] == [
        {
            "event": "synced slices",
            "changes": 3,
            "cluster": "prod",
            "level": "info",
            "logger": "ours",
        },
        {"event": "slow query", "cluster": "prod", "level": "warning", "logger": "theirs"},
    ]


def test_log_line_of_an_exception_holds_its_traceback() -> None:
    (line,) = printed(EXCEPTION)

    assert json.loads(line)["exception"].endswith("ValueError: odd slice")


def test_log_as_text_puts_the_traceback_below() -> None:
    lines = printed(EXCEPTION, as_json=False)

    assert (lines[0].split("Z ")[1].rstrip(), lines[-1]) == (
        "[error    ] could not read                 [ours]",
        "ValueError: odd slice",
    )


def test_log_leaves_out_the_line_of_every_task() -> None:
    assert printed('logging.getLogger("celery.beat").info("Sending due task")') == []
