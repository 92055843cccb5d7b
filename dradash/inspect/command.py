"""The command line of `dradash inspect`."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from dra.values import Release
from dradash.inspect.documents import Unreadable, read_text
from dradash.inspect.report import Dump, report, report_shape
from dradash.inspect.sources import source_files
from dradash.inspect.text import report_text

# The newest release whose rules the core knows.
NEWEST = Release(1, 37)

OK, UNREADABLE = 0, 1


def main(arguments: Sequence[str]) -> int:
    """Read the dumps, print the report; 0 when all was read, 1 when something was not, 2 for a wrong call."""
    options = _parser().parse_args(arguments)
    dump = read_dump([Path(path) for path in options.paths])
    found = report(dump, release=options.release, is_complete=options.complete)
    try:
        if options.format == "json":
            json.dump(report_shape(found), sys.stdout, indent=2, ensure_ascii=False)
            sys.stdout.write("\n")
        else:
            sys.stdout.write(report_text(found))
    except BrokenPipeError:
        # `… | head` has read enough.
        sys.stderr.close()
    return UNREADABLE if found.unreadable else OK


def read_dump(paths: Sequence[Path]) -> Dump:
    """Everything that stands at the paths."""
    dump = Dump()
    for path in paths:
        for file in source_files(path):
            if isinstance(file, Unreadable):
                dump.add(file)
                continue
            for item in read_text(file.content, name=file.name):
                dump.add(item)
    return dump


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dradash inspect",
        description="Pools, devices and what is wrong with them, from what kubectl printed.",
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="FILE|FOLDER|ARCHIVE",
        help="YAML or JSON of `kubectl get -o`, folders, or tar and zip archives of them",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--complete",
        action="store_true",
        help="what is not in the files is not in the cluster either",
    )
    parser.add_argument(
        "--release",
        type=_release,
        default=NEWEST,
        metavar="1.N",
        help=f"whose rules hold, {NEWEST.major}.{NEWEST.minor} by default",
    )
    return parser


def _release(text: str) -> Release:
    match = re.fullmatch(r"v?1\.(\d{1,3})(?:\..*)?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"write a release such as 1.37, not {text!r}")
    return Release(1, int(match[1]))
