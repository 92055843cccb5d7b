"""Recorded answers of real API servers, as replies."""

import json
from pathlib import Path
from typing import Any

from tests.unit.kube.api_server import Reply, reply_json, reply_stream

FOLDER = Path(__file__).parents[2] / "fixtures" / "recordings"
WATCH = FOLDER / "watch"
API = FOLDER / "api"


def situations() -> list[str]:
    """Every recorded watch, as "version/situation"."""
    return sorted(
        f"{path.parent.name}/{path.name.removesuffix('.times.json')}"
        for path in WATCH.glob("*/*.times.json")
    )


def times(situation: str) -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads((WATCH / f"{situation}.times.json").read_text())
    return recorded


def body(situation: str) -> bytes:
    packed = WATCH / f"{situation}.ndjson.gz"
    return packed.read_bytes() if packed.exists() else packed.with_suffix("").read_bytes()


def watch_reply(situation: str) -> Reply:
    """The stream as it was: status, framing, packing, and how it ended."""
    recorded = times(situation)
    content = body(situation)
    if recorded["status"] != 200:
        return reply_json(content, status=recorded["status"])
    is_cut = "without the final chunk" in recorded["end"]["how"]
    packing = recorded.get("headers", {}).get("content-encoding")
    return reply_stream(
        *_flushes(recorded, content),
        end="cut" if is_cut else "proper",
        **({"content_encoding": packing} if packing else {}),
    )


def _flushes(recorded: dict[str, Any], content: bytes) -> list[bytes]:
    if "receivedSecondsAndBytes" not in recorded:
        return content.splitlines(keepends=True)
    parts = []
    for _, length in recorded["receivedSecondsAndBytes"]:
        parts.append(content[:length])
        content = content[length:]
    return parts


def errors(version: str) -> list[str]:
    return list(json.loads((API / version / "errors.json").read_text()))


def error_reply(version: str, name: str) -> Reply:
    recorded = json.loads((API / version / "errors.json").read_text())[name]
    content = recorded["body"]
    raw = content.encode() if isinstance(content, str) else json.dumps(content).encode()
    return Reply(recorded["status"], recorded["headers"], (raw,))
