#!/usr/bin/env python3
"""Bring the vendored stylesheets, scripts and icons to the versions that package.json pins.

Needs npm and the network; nothing else of the project does. The files and their licences are committed, so that
neither a build nor a start fetches anything. Every archive must have the digest that package-lock.json holds.
"""

import base64
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

ROOT: Final = Path(__file__).resolve().parent.parent
VENDOR: Final = ROOT / "static" / "vendor"
TEST_VENDOR: Final = ROOT / "tests" / "e2e" / "vendor"
SPRITE: Final = VENDOR / "tabler-icons" / "icons.svg"
# Each icon has its own frame as a path that is never seen.
BOUNDING_BOX: Final = "M0 0h24v24H0z"
SVG: Final = "{http://www.w3.org/2000/svg}"

# Where each file of an archive goes.
FILES: Final = {
    "@tabler/core": {"dist/css/tabler.min.css": VENDOR / "tabler" / "tabler.min.css"},
    "@tabler/icons": {"LICENSE": VENDOR / "tabler-icons" / "LICENSE"},
    "uplot": {
        "dist/uPlot.iife.min.js": VENDOR / "uplot" / "uPlot.iife.min.js",
        "dist/uPlot.min.css": VENDOR / "uplot" / "uPlot.min.css",
        "LICENSE": VENDOR / "uplot" / "LICENSE",
    },
    "axe-core": {
        "axe.min.js": TEST_VENDOR / "axe.min.js",
        "LICENSE": TEST_VENDOR / "LICENSE-axe-core",
    },
}

# Name in our templates: name in the icon set. `f:` takes the filled variant.
ICONS: Final = {
    "overview": "layout-dashboard", "pools": "stack-2", "devices": "cpu", "slices": "file-text",
    "clusters": "topology-star-3", "requests": "messages", "nodes": "server", "classes": "category",
    "search": "search", "menu": "menu-2", "close": "x", "collapse": "layout-sidebar-left-collapse",
    "expand": "layout-sidebar-left-expand", "user": "user-circle", "sign-out": "logout", "api": "api",
    "light": "sun", "dark": "moon", "auto": "device-desktop", "keyboard": "keyboard", "clock": "clock",
    "copy": "copy", "done": "check", "link": "external-link", "download": "download", "terminal": "terminal-2",
    "filter": "filter", "sort": "arrows-sort", "sort-up": "arrow-up", "sort-down": "arrow-down",
    "previous": "chevron-left", "next": "chevron-right", "down": "chevron-down", "dots": "dots",
    "info": "info-circle", "warning": "alert-triangle", "error": "alert-octagon", "good": "circle-check",
    "pause": "player-pause", "play": "player-play", "gap": "plug-connected-x", "simulated": "flask",
    "reading": "loader", "locked": "lock", "stale": "clock-exclamation", "read-only": "eye", "empty": "inbox",
    "driver-missing": "plug-off", "refresh": "refresh", "compare": "git-compare", "history": "history",
    "chart": "chart-area", "table": "table", "list": "list-details", "yaml": "code",
    "state-allocated": "f:circle", "state-partly-used": "f:contrast", "state-available": "circle",
    "state-blocked": "ban", "state-unavailable": "alert-triangle", "state-unhealthy": "heart-broken",
    "state-unknown": "circle-dashed",
}  # fmt: skip


def main() -> int:
    """Fetch, check and unpack every package; returns an exit code."""
    pinned = json.loads((ROOT / "package.json").read_text())["devDependencies"]
    with tempfile.TemporaryDirectory() as folder:
        for name, version in pinned.items():
            archive = fetch(name, version, into=Path(folder))
            unpack(archive, FILES[name])
            if name == "@tabler/icons":
                SPRITE.write_text(make_sprite(archive))
            sys.stdout.write(f"{name} {version}\n")
    (VENDOR / "tabler" / "LICENSE").write_text(TABLER_LICENCE)
    return 0


def fetch(name: str, version: str, *, into: Path) -> Path:
    """The package's archive, once its digest is the pinned one."""
    command = ["npm", "pack", "--silent", f"{name}@{version}"]
    packed = subprocess.run(command, cwd=into, check=True, capture_output=True, text=True)
    archive = into / packed.stdout.strip().splitlines()[-1]
    lock = json.loads((ROOT / "package-lock.json").read_text())
    expected = lock["packages"][f"node_modules/{name}"]["integrity"]
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if expected != f"sha512-{digest}":
        message = f"{name}@{version} is not the archive that package-lock.json names."
        raise SystemExit(message)
    return archive


def unpack(archive: Path, files: dict[str, Path]) -> None:
    """Write the files, without references to source maps, which we do not ship."""
    for inner, target in files.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        content = read_member(archive, inner).decode()
        content = re.sub(r"(?:/\*|//)# sourceMappingURL=\S*(?: ?\*/)?", "", content)
        target.write_text(content.rstrip() + "\n")


@lru_cache(maxsize=4)
def read_archive(archive: Path) -> dict[str, bytes]:
    """Every file of an npm archive by its path inside `package/`."""
    with tarfile.open(archive) as packed:
        members = [member for member in packed.getmembers() if member.isfile()]
        files = {member.name: packed.extractfile(member) for member in members}
        return {name.partition("/")[2]: file.read() for name, file in files.items() if file}


def read_member(archive: Path, inner: str) -> bytes:
    """One file of an npm archive."""
    return read_archive(archive)[inner]


def make_sprite(archive: Path) -> str:
    """All icons of ICONS as symbols of one file, so that a page names an icon instead of carrying it."""
    symbols = "\n".join(make_symbol(archive, name, source) for name, source in ICONS.items())
    return f'<svg xmlns="http://www.w3.org/2000/svg">\n{symbols}\n</svg>\n'


def make_symbol(archive: Path, name: str, source: str) -> str:
    """One icon, drawn in the colour of the text around it."""
    is_filled = source.startswith("f:")
    folder = "filled" if is_filled else "outline"
    drawing = ET.fromstring(  # noqa: S314 -- the archive's digest was checked
        read_member(archive, f"icons/{folder}/{source.removeprefix('f:')}.svg")
    )
    shapes = [path.get("d", "") for path in drawing.iter(f"{SVG}path")]
    paths = "".join(f'<path d="{shape}"/>' for shape in shapes if shape != BOUNDING_BOX)
    paint = (
        'fill="currentColor"'
        if is_filled
        else 'fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"'
    )
    return f'<symbol id="{name}" viewBox="0 0 24 24" {paint}>{paths}</symbol>'


# The archive of @tabler/core names the licence in package.json and has no licence file.
TABLER_LICENCE: Final = """\
Tabler (@tabler/core) is distributed under the MIT License by its authors, https://github.com/tabler/tabler

The stylesheet contains Bootstrap, MIT License, https://github.com/twbs/bootstrap

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""

if __name__ == "__main__":
    sys.exit(main())
