"""Files, folders and archives, as the files in them. Bounded: an archive cannot fill memory or disk."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from dradash.inspect.documents import Unreadable

_SUFFIXES = frozenset({".yaml", ".yml", ".json", ".ndjson"})
# The largest reference cluster prints about 205 MB of JSON; a whole file of it must fit.
MAX_FILE_BYTES = 1 << 30
MAX_ARCHIVE_FILES = 100_000


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file's name as a person would look for it, and its content."""

    name: str
    content: bytes


def source_files(path: Path) -> Iterator[SourceFile | Unreadable]:
    """What stands at a path: a file, the files of a folder by name, or those of an archive."""
    try:
        if path.is_dir():
            yield from _folder(path)
        elif not path.exists():
            yield Unreadable(str(path), "is not there")
        elif tarfile.is_tarfile(path):
            yield from _tar(path)
        elif zipfile.is_zipfile(path):
            yield from _zip(path)
        else:
            yield _file(path)
    except (OSError, tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        yield Unreadable(str(path), f"cannot be read: {_reason(error)}")


def _folder(path: Path) -> Iterator[SourceFile | Unreadable]:
    found = False
    for each in sorted(path.rglob("*")):
        # A link may lead out of the folder, or round in it.
        if each.is_symlink() or not each.is_file() or not _is_dump(each.name):
            continue
        found = True
        try:
            yield _file(each)
        except OSError as error:
            yield Unreadable(str(each), f"cannot be read: {_reason(error)}")
    if not found:
        yield Unreadable(str(path), f"holds no file that ends in {', '.join(sorted(_SUFFIXES))}")


def _file(path: Path) -> SourceFile | Unreadable:
    if path.stat().st_size > MAX_FILE_BYTES:
        return _too_large(str(path))
    content = path.read_bytes()
    if path.suffix == ".gz":
        with gzip.open(io.BytesIO(content)) as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            return _too_large(str(path))
    return SourceFile(str(path), content)


def _tar(path: Path) -> Iterator[SourceFile | Unreadable]:
    with tarfile.open(path) as archive:
        for count, member in enumerate(archive):
            name = f"{path}!{member.name}"
            if count >= MAX_ARCHIVE_FILES:
                yield Unreadable(str(path), f"holds more than {MAX_ARCHIVE_FILES} files")
                return
            if not member.isfile() or not _is_dump(member.name):
                continue
            if member.size > MAX_FILE_BYTES:
                yield _too_large(name)
                continue
            stream = archive.extractfile(member)
            if stream is not None:
                yield SourceFile(name, stream.read())


def _zip(path: Path) -> Iterator[SourceFile | Unreadable]:
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > MAX_ARCHIVE_FILES:
            yield Unreadable(str(path), f"holds more than {MAX_ARCHIVE_FILES} files")
            return
        for member in members:
            name = f"{path}!{member.filename}"
            if member.is_dir() or not _is_dump(member.filename):
                continue
            if member.file_size > MAX_FILE_BYTES:
                yield _too_large(name)
                continue
            try:
                yield SourceFile(name, archive.read(member))
            except (RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
                yield Unreadable(name, f"cannot be read: {error}")


def _is_dump(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in _SUFFIXES


def _too_large(name: str) -> Unreadable:
    return Unreadable(name, f"is larger than {MAX_FILE_BYTES >> 20} MiB")


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
