"""The set-up, against an index on this machine."""

import hashlib
import http.server
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools import environment

WHEEL = b"not really a wheel"


class Index:
    """Where pip's wheel is listed, and what was asked for."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[tuple[str, str | None]] = []
        self.content = WHEEL
        self.listed = environment.PIP_WHEEL


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append((self.path, self.headers["Authorization"]))
            is_wheel = "/files/" in self.path
            link = f'<a href="../files/{found.listed}?a=1&amp;b=2#sha256=0">pip</a>'
            body = found.content if is_wheel else f"<a href='x.whl'>x</a> {link}".encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = Index(f"http://127.0.0.1:{server.server_port}/simple")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.setenv("PIP_INDEX_URL", found.url)
        monkeypatch.setattr(environment, "PIP_SHA256", hashlib.sha256(WHEEL).hexdigest())
        yield found
        server.shutdown()


def test_download_pip_takes_the_wheel_that_the_index_lists(index: Index) -> None:
    assert environment._download_pip() == WHEEL
    assert index.asked == [
        ("/simple/pip/", None),
        (f"/simple/files/{environment.PIP_WHEEL}?a=1&b=2", None),
    ]


def test_download_pip_of_another_content_is_refused(index: Index) -> None:
    index.content = b"something else"

    with pytest.raises(ValueError, match="is not the file that it should be"):
        environment._download_pip()


def test_download_pip_that_is_not_listed_is_refused(index: Index) -> None:
    index.listed = "pip-1.0.tar.gz"

    with pytest.raises(ValueError, match="is not listed there"):
        environment._download_pip()


def test_fetch_with_password_sends_it_as_a_header_only(index: Index) -> None:
    url = index.url.replace("http://", "http://ada:p%40ss@")

    environment._fetch(f"{url}/pip/")

    assert index.asked == [("/simple/pip/", "Basic YWRhOnBAc3M=")]


def test_without_password_hides_it() -> None:
    assert (
        environment._without_password("https://ada:secret@mirror.example.com/simple")
        == "https://mirror.example.com/simple"
    )


def test_pip_setting_is_read_from_the_most_personal_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    (tmp_path / ".pip").mkdir()
    (tmp_path / ".pip" / "pip.conf").write_text("[global]\nindex-url = https://old/simple\n")
    (tmp_path / "named").write_text("[install]\nindex-url = https://new/100%25/simple\n")
    monkeypatch.setenv("HOME", str(tmp_path))

    from_home = environment._pip_setting("index-url")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "named"))
    from_named = environment._pip_setting("index-url")

    assert (from_home, from_named) == ("https://old/simple", "https://new/100%25/simple")


def test_environment_that_is_current_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.setattr(environment, "ENVIRONMENT", tmp_path)
    monkeypatch.setattr(environment, "STAMP", tmp_path / "stamp.json")
    wanted = environment._wanted(dev=True)
    before = environment._is_current(wanted)
    (tmp_path / "stamp.json").write_text(json.dumps(wanted))

    assert (before, environment._is_current(wanted)) == (False, True)
    assert environment._is_current(environment._wanted(dev=False)) is True


def test_environment_whose_python_cannot_be_run_is_made_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(tmp_path / "removed")
    monkeypatch.setattr(environment, "ENVIRONMENT", tmp_path)
    monkeypatch.setattr(environment, "STAMP", tmp_path / "stamp.json")
    wanted = environment._wanted(dev=True)
    (tmp_path / "stamp.json").write_text(json.dumps(wanted))

    assert environment._is_current(wanted) is False


def test_environment_with_an_old_python_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(environment, "STAMP", tmp_path / "stamp.json")
    monkeypatch.setattr(environment, "OLDEST_PYTHON", (99, 0))

    with pytest.raises(environment.SetupError, match=r"needs Python 3\.11 or newer"):
        environment.make_environment(dev=False)
