import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from dradash.inspect import sources
from dradash.inspect.reading import Unreadable
from dradash.inspect.sources import SourceFile, source_files
from tests.series import for_each

POD = b"kind: Pod\n"
SUFFIXES = ".json, .ndjson, .yaml, .yml"


def read(path: Path) -> list[SourceFile | Unreadable]:
    return list(source_files(path))


def tar(path: Path, files: dict[str, bytes], *, mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def zipped(path: Path, files: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_file_is_read_whatever_its_name(tmp_path: Path) -> None:
    file = tmp_path / "dump.txt"
    file.write_bytes(POD)

    assert read(file) == [SourceFile(str(file), POD)]


@pytest.mark.parametrize("name", ["dump.yaml.gz", "dump"])
@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"]
)
def test_packed_file_is_unpacked(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    file = tmp_path / name
    file.write_bytes(pack(POD))

    assert read(file) == [SourceFile(str(file), POD)]


def test_missing_file_is_named(tmp_path: Path) -> None:
    assert read(tmp_path / "none.yaml") == [
        Unreadable(str(tmp_path / "none.yaml"), "is not there")
    ]


def test_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(tmp_path / "none.yaml")

    assert read(link) == [Unreadable(str(link), "is not there")]


def test_folder_is_read_in_order_with_its_folders(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for_each(
        (
            "z.json",
            "b/a.yaml",
            "b/c.yml",
            "b/d.JSON",
            "b/e.yaml.gz",
            "b/notes.txt",
            "b/json",
        ),
        lambda name: (tmp_path / name).write_bytes(POD),
    )

    assert read(tmp_path) == [
        SourceFile(str(tmp_path / name), POD)
        for name in ("z.json", "b/a.yaml", "b/c.yml", "b/d.JSON", "b/e.yaml.gz")
    ]


def test_folder_without_dumps_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(POD)

    assert read(tmp_path) == [Unreadable(str(tmp_path), f"holds no file that ends in {SUFFIXES}")]


def test_links_and_pipes_in_a_folder_are_left_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_bytes(POD)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link.yaml").symlink_to(outside)
    (folder / "round").symlink_to(folder)
    os.mkfifo(folder / "pipe.yaml")
    (folder / "own.yaml").write_bytes(POD)

    assert read(folder) == [SourceFile(str(folder / "own.yaml"), POD)]


def test_broken_file_in_a_folder_costs_only_itself(tmp_path: Path) -> None:
    (tmp_path / "a.yaml.gz").write_bytes(gzip.compress(POD)[:-6])
    (tmp_path / "b.yaml").write_bytes(POD)

    assert read(tmp_path) == [
        Unreadable(
            str(tmp_path / "a.yaml.gz"),
            "cannot be read: Compressed file ended before the end-of-stream marker was reached",
        ),
        SourceFile(str(tmp_path / "b.yaml"), POD),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(POD)
    file.chmod(0)

    assert read(tmp_path) == [Unreadable(str(file), "cannot be read: Permission denied")]


def test_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, POD)
    os.close(writing)
    path = Path(f"/dev/fd/{reading}")

    assert read(path) == [SourceFile(str(path), POD)]
    os.close(reading)


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(POD)))

    assert read(Path("-")) == [SourceFile("standard input", POD)]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_is_read_file_by_file(tmp_path: Path, mode: str) -> None:
    archive = tar(
        tmp_path / "dump.tar", {"a/b.yaml": POD, "a/notes.txt": b"x", "c.json": b"{}"}, mode=mode
    )

    assert read(archive) == [
        SourceFile(f"{archive}!a/b.yaml", POD),
        SourceFile(f"{archive}!c.json", b"{}"),
    ]


def test_links_in_a_tar_are_left_out(tmp_path: Path) -> None:
    archive = tmp_path / "dump.tar"

    def link(kind: bytes) -> tarfile.TarInfo:
        member = tarfile.TarInfo("link.yaml")
        member.type, member.linkname = kind, "/etc/passwd"
        return member

    kinds = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE)
    with tarfile.open(archive, "w") as out:
        for_each(kinds, lambda kind: out.addfile(link(kind)))

    assert read(archive) == [Unreadable(str(archive), f"holds no file that ends in {SUFFIXES}")]


def test_names_that_lead_out_of_an_archive_are_only_names(tmp_path: Path) -> None:
    archive = tar(tmp_path / "dump.tar", {"../../etc/a.yaml": POD, "/abs.yaml": POD})

    assert read(archive) == [
        SourceFile(f"{archive}!../../etc/a.yaml", POD),
        SourceFile(f"{archive}!/abs.yaml", POD),
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["dump.tar"]


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_tar_that_breaks_off_keeps_what_stands_before(tmp_path: Path, mode: str) -> None:
    whole = tar(tmp_path / "whole.tar", {"a.yaml": POD, "b.yaml": os.urandom(200_000)}, mode=mode)
    archive = tmp_path / "dump.tar"
    archive.write_bytes(whole.read_bytes()[:100_000])

    first, *broken = read(archive)

    assert first == SourceFile(f"{archive}!a.yaml", POD)
    assert [told(each, archive).partition(" cannot be read: ")[0] for each in broken] == [
        "!b.yaml:",
        ":",
    ]


def test_packed_tar_of_which_nothing_can_be_unpacked_is_named(tmp_path: Path) -> None:
    whole = tar(tmp_path / "whole.tar", {"a.yaml": os.urandom(200_000)}, mode="w:bz2")
    archive = tmp_path / "dump.tar"
    archive.write_bytes(whole.read_bytes()[:1_000])

    assert read(archive) == [
        Unreadable(
            str(archive),
            "cannot be read: Compressed file ended before the end-of-stream marker was reached",
        )
    ]


def test_zip_is_read_file_by_file(tmp_path: Path) -> None:
    archive = zipped(
        tmp_path / "dump.zip", {"a/b.yaml": POD, "a/": b"", "notes.txt": b"x", "c.json": b"{}"}
    )

    assert read(archive) == [
        SourceFile(f"{archive}!a/b.yaml", POD),
        SourceFile(f"{archive}!c.json", b"{}"),
    ]


def test_broken_file_in_a_zip_costs_only_itself(tmp_path: Path) -> None:
    archive = zipped(
        tmp_path / "dump.zip", {"a.yaml": POD, "b.yaml": POD}, method=zipfile.ZIP_STORED
    )
    archive.write_bytes(archive.read_bytes().replace(POD, b"kind: Pop\n", 1))

    assert read(archive) == [
        Unreadable(f"{archive}!a.yaml", "cannot be read: Bad CRC-32 for file 'a.yaml'"),
        SourceFile(f"{archive}!b.yaml", POD),
    ]


def test_garbled_and_encrypted_files_in_a_zip_are_named(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "dump.zip", {"a.yaml": POD * 50, "b.yaml": POD})
    raw = bytearray(archive.read_bytes())
    raw[36:44] = b"\xff" * 8
    # The flag of encryption, in both places that a zip keeps it.
    second, entry = raw.index(b"PK\x03\x04", 4), raw.rindex(b"PK\x01\x02")
    raw[second + 6] |= 1
    raw[entry + 8] |= 1
    archive.write_bytes(bytes(raw))

    found = read(archive)

    assert [each.place for each in found if isinstance(each, Unreadable)] == [
        f"{archive}!a.yaml",
        f"{archive}!b.yaml",
    ]
    assert "encrypted" in str(found[1])


def test_archive_in_a_packing_nobody_knows_is_named(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "dump.zip", {"a.yaml": POD})
    raw = bytearray(archive.read_bytes())
    raw[raw.index(b"PK\x01\x02") + 10] = 99
    archive.write_bytes(bytes(raw))

    assert read(archive) == [
        Unreadable(f"{archive}!a.yaml", "cannot be read: That compression method is not supported")
    ]


def test_file_that_is_too_large_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_FILE_BYTES", 1 << 20)
    content = b"#" * ((1 << 20) + 1)
    (tmp_path / "a.yaml").write_bytes(content)
    (tmp_path / "b.yaml.gz").write_bytes(gzip.compress(content))

    assert read(tmp_path) == [
        Unreadable(str(tmp_path / name), "is larger than 1 MiB")
        for name in ("a.yaml", "b.yaml.gz")
    ]


def test_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_FILE_BYTES", 1 << 20)
    monkeypatch.setattr(sources, "MAX_ARCHIVE_BYTES", 3 << 20)
    nothing = bytes(2 << 20)
    files = {"a.yaml": POD, "b.yaml": nothing, "c.yaml": nothing, "d.yaml": POD}

    expected = [
        "!a.yaml",
        "!b.yaml: is larger than 1 MiB",
        ": holds more than 3 MiB: the others are not read",
    ]
    archives = [
        tar(tmp_path / "dump.tar.gz", files, mode="w:gz"),
        zipped(tmp_path / "dump.zip", files),
    ]
    assert [archive for archive in archives if archive.stat().st_size >= 20_000] == []
    assert [[told(each, archive) for each in read(archive)] for archive in archives] == [
        expected,
        expected,
    ]


def test_archive_of_too_many_files_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MAX_ARCHIVE_FILES", 2)
    files = {f"{name}.yaml": POD for name in "abc"}

    expected = ["!a.yaml", "!b.yaml", ": holds more than 2 files: the others are not read"]
    archives = [tar(tmp_path / "dump.tar", files), zipped(tmp_path / "dump.zip", files)]
    assert [[told(each, archive) for each in read(archive)] for archive in archives] == [
        expected,
        expected,
    ]


def told(found: SourceFile | Unreadable, archive: Path) -> str:
    if isinstance(found, Unreadable):
        return f"{found.place}: {found.message}".removeprefix(str(archive))
    return found.name.removeprefix(str(archive))
