"""The command line of `dradash inspect`."""

import argparse
import gc
import io
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import to_builtins

from dra.values import Release
from dradash.inspect.documents import read_text
from dradash.inspect.reading import Unreadable
from dradash.inspect.report import NEWEST, Dump, Report, report, report_sections
from dradash.inspect.sources import source_files
from dradash.inspect.text import report_text

OK, UNREADABLE, NOTHING = 0, 1, 2
_NOTHING_TO_READ = (
    "dradash inspect: there is no Kubernetes object in what was given. Give what"
    " `kubectl get resourceslices,resourceclaims,devicetaintrules -A -o yaml` prints."
)


def main(arguments: Sequence[str]) -> int:
    """Read the dumps, print the report; 0 when all was read, 1 when something was not, 2 for a wrong call or no object at all."""
    options = _parser().parse_args(arguments)
    # What is read stays until the end: looking for garbage in it costs a quarter of the time, and finds none.
    gc.disable()
    try:
        return _inspect(options)
    finally:
        gc.enable()


def _inspect(options: argparse.Namespace) -> int:
    dump = read_dump([Path(path) for path in options.paths])
    full_report = report(dump, release=options.release, is_complete=options.complete)
    chunks = (
        _json(full_report)
        if options.format == "json"
        else report_text(full_report, lists_all=options.all)
    )
    _write(chunks)
    if dump.is_empty:
        print(_NOTHING_TO_READ, file=sys.stderr)  # noqa: T201 -- a command's standard error
        return NOTHING
    return UNREADABLE if full_report.unreadable else OK


_EMPTY = "holds no object; did the command that should have written it fail?"


def read_dump(paths: Sequence[Path]) -> Dump:
    """Everything that stands at the paths."""
    dump = Dump()
    for path in paths:
        for file in source_files(path):
            if isinstance(file, Unreadable):
                dump.add(file)
                continue
            is_empty = True
            for item in read_text(file.content, name=file.name):
                dump.add(item)
                is_empty = False
            if is_empty:
                # What a shell leaves of `kubectl … > dump` that failed.
                dump.add(Unreadable(file.name, _EMPTY))
    return dump


def _json(full_report: Report) -> Iterator[str]:
    """One entry a line: large reports are written as they are made, and can be searched by line."""
    opening = "{"
    for name, entries in report_sections(full_report).items():
        yield f'{opening}\n"{name}": ['
        separator = "\n"
        for entry in entries:
            yield separator + json.dumps(to_builtins(entry), ensure_ascii=not _writes_unicode())
            separator = ",\n"
        yield "]"
        opening = ","
    yield "\n}\n"


def _writes_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def _write(chunks: Iterator[str]) -> None:
    """Names in dumps may hold anything, also what the terminal's encoding or any other cannot say."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    for chunk in chunks:
        sys.stdout.write(chunk)
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dradash inspect",
        description="Pools, devices and what is wrong with them, from what kubectl printed.",
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="FILE|FOLDER|ARCHIVE",
        help="YAML or JSON of `kubectl get -o`, folders, or tar and zip archives of them; - for standard input",
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
        metavar="1.N",
        help=f"whose rules hold, {NEWEST.major}.{NEWEST.minor} by default",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="list every device and claim as text, however many there are",
    )
    return parser


def _release(text: str) -> Release:
    match = re.fullmatch(r"v?1\.(\d{1,3})(?:\..*)?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"write a release such as 1.37, not {text!r}")
    return Release(1, int(match[1]))
