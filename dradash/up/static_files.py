"""Whether static files were collected from what lies here now; told without loading Django, so that pages start at once."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def are_collected(folder: Path) -> bool:
    stamp = _stamp(folder)
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == fingerprint()


def remember_collected(folder: Path) -> None:
    _stamp(folder).write_text(fingerprint(), encoding="utf-8")


def fingerprint() -> str:
    """Names, sizes and times of our files, and the versions of the packages that bring their own."""
    digest = hashlib.sha256((REPOSITORY / "requirements" / "run.txt").read_bytes())
    for path in sorted(_files()):
        status = path.stat()
        digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _files() -> Iterator[Path]:
    for folder in (REPOSITORY / "static", *REPOSITORY.glob("*/static")):
        yield from (path for path in folder.rglob("*") if path.is_file())


def _stamp(folder: Path) -> Path:
    return folder / ".collected"
