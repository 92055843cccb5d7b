"""Files, folders and archives, as the files in them. Bounded: an archive cannot fill memory or disk."""

import bz2
import gzip
import io
import lzma
import os
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from dradash.inspect.reading import Unreadable

STDIN = Path("-")
_SUFFIXES = frozenset({".yaml", ".yml", ".json", ".ndjson"})
_ARCHIVES = frozenset({".tar", ".tgz", ".tbz2", ".txz", ".zip"})
# How packed files begin, whatever their name.
_UNPACKERS: Mapping[bytes, Callable[[io.BytesIO], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda packed: gzip.GzipFile(fileobj=packed),
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
# The largest reference cluster prints about 205 MB of JSON; a whole file of it must fit.
MAX_FILE_BYTES = 1 << 30
MAX_ARCHIVE_FILES = 100_000
# What all files of one archive may hold together, unpacked.
MAX_ARCHIVE_BYTES = 4 << 30
# What the packing formats raise for bytes that are not theirs.
_UNPACKING = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError)
# Also for members that are encrypted or packed in a way that Python does not know.
_BROKEN = (OSError, *_UNPACKING, RuntimeError, NotImplementedError, ValueError)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file's name as a person would look for it, and its content."""

    name: str
    content: bytes


def source_files(path: Path) -> Iterator[SourceFile | Unreadable]:
    """What stands at a path: a file, the files of a folder by name, or those of an archive; `-` is standard input."""
    try:
        if path == STDIN:
            yield _read(sys.stdin.buffer, name="standard input")
        elif path.is_dir():
            yield from _folder(path)
        elif not path.exists():
            yield Unreadable(str(path), "is not there")
        elif not path.is_file():
            # A pipe, such as a shell makes of `<(kubectl …)`.
            yield _opened(path)
        elif tarfile.is_tarfile(path):
            yield from _found(_tar(path), path)
        elif zipfile.is_zipfile(path):
            yield from _found(_zip(path), path)
        else:
            yield _plain(path)
    except _BROKEN as error:
        yield Unreadable(str(path), f"cannot be read: {_reason(error)}")


def _plain(path: Path) -> SourceFile | Unreadable:
    """A file that is no archive, and should not be called one."""
    file = _opened(path)
    if path.suffix.lower() in _ARCHIVES:
        return Unreadable(str(path), "is called an archive, and is none or a broken one")
    return file


def _folder(path: Path) -> Iterator[SourceFile | Unreadable]:
    yield from _found(_files_below(path), path)


def _files_below(path: Path) -> Iterator[SourceFile | Unreadable]:
    """The files of a folder and its folders. Links are left out: they may lead out of it, or round in it."""
    barred: list[OSError] = []
    for folder, folders, names in os.walk(path, onerror=barred.append):
        folders.sort()
        for name in sorted(names):
            each = Path(folder) / name
            if not _is_dump(name) or each.is_symlink() or not each.is_file():
                continue
            try:
                yield _opened(each)
            except _BROKEN as error:
                yield Unreadable(str(each), f"cannot be read: {_reason(error)}")
    for each_barred in barred:
        yield Unreadable(str(each_barred.filename), f"cannot be read: {_reason(each_barred)}")


def _found(
    files: Iterator[SourceFile | Unreadable], path: Path
) -> Iterator[SourceFile | Unreadable]:
    """The files, or that there are none."""
    first = next(files, None)
    if first is None:
        yield Unreadable(str(path), f"holds no file that ends in {', '.join(sorted(_SUFFIXES))}")
        return
    yield first
    yield from files


def _opened(path: Path) -> SourceFile | Unreadable:
    with path.open("rb") as stream:
        return _read(stream, name=str(path))


def _read(stream: IO[bytes], *, name: str) -> SourceFile | Unreadable:
    """The content of a file, unpacked if it is packed, as far as it is not too large."""
    content = stream.read(MAX_FILE_BYTES + 1)
    for beginning, unpack in _UNPACKERS.items():
        if content.startswith(beginning):
            with unpack(io.BytesIO(content)) as packed:
                content = packed.read(MAX_FILE_BYTES + 1)
            break
    if len(content) > MAX_FILE_BYTES:
        return Unreadable(name, f"is larger than {MAX_FILE_BYTES >> 20} MiB")
    return SourceFile(name, content)


def _tar(path: Path) -> Iterator[SourceFile | Unreadable]:
    budget = _Budget(path)
    with tarfile.open(path) as archive:
        for member in archive:
            refusal = budget.refusal(member.size)
            if refusal:
                yield refusal
                return
            name = f"{path}!{member.name}"
            # Of a link only the name is there.
            stream = (
                archive.extractfile(member) if member.isreg() and _is_dump(member.name) else None
            )
            if stream is not None:
                yield from _member(stream, name=name)


def _zip(path: Path) -> Iterator[SourceFile | Unreadable]:
    budget = _Budget(path)
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            refusal = budget.refusal(member.file_size)
            if refusal:
                yield refusal
                return
            name = f"{path}!{member.filename}"
            if member.is_dir() or not _is_dump(member.filename):
                continue
            try:
                stream = archive.open(member)
            except _BROKEN as error:
                yield Unreadable(name, f"cannot be read: {_reason(error)}")
            else:
                yield from _member(stream, name=name)


def _member(stream: IO[bytes], *, name: str) -> Iterator[SourceFile | Unreadable]:
    """One file of an archive; a broken one costs only itself."""
    try:
        with stream:
            files = _read(stream, name=name)
    except _BROKEN as error:
        files = Unreadable(name, f"cannot be read: {_reason(error)}")
    yield files


class _Budget:
    """How much of one archive is read: so many files, and so many bytes of them together."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files = 0
        self._bytes = 0

    def refusal(self, size: int) -> Unreadable | None:
        """Count one more file; what to say when it is too much."""
        self._files += 1
        self._bytes += size
        if self._files > MAX_ARCHIVE_FILES:
            return Unreadable(
                str(self._path),
                f"holds more than {MAX_ARCHIVE_FILES} files: the others are not read",
            )
        if self._bytes > MAX_ARCHIVE_BYTES:
            limit = MAX_ARCHIVE_BYTES >> 20
            return Unreadable(
                str(self._path), f"holds more than {limit} MiB: the others are not read"
            )
        return None


def _is_dump(full_name: str) -> bool:
    path = PurePosixPath(full_name.lower())
    name = path.stem if path.suffix in {".gz", ".bz2", ".xz"} else path.name
    return name.endswith(tuple(_SUFFIXES))


def _reason(error: Exception) -> str:
    return (
        (error.strerror if isinstance(error, OSError) else None)
        or str(error)
        or "it ends too early"
    )
