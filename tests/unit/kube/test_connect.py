import base64
import json
import os
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.config import incluster_config

from kube.connect import Connection, Context, Watchdog, connect, contexts, default_target
from kube.failures import (
    CertificateError,
    ConfigError,
    Forbidden,
    TimedOut,
    Unauthorized,
    Unreachable,
)
from kube.targets import Target
from tests.unit.kube.api_server import Reply, Request, reply_json, reply_stream, serving
from tests.unit.kube.certificates import Authority, make_authority, server_tls
from tests.unit.kube.conftest import Serve
from tests.unit.kube.recordings import error_reply
from tests.unit.kube.tunnel import tunnelling

VERSION = {"major": "1", "minor": "37", "gitVersion": "v1.37.2"}


def kubeconfig(
    folder: Path,
    server: str,
    *,
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
) -> Target:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": server, **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(content))
    return Target("kubeconfig", path=str(path))


def get_version(target: Target) -> Any:
    connection = connect(target)
    try:
        return connection.get_json("/version")
    finally:
        connection.close()


def bearer(request: Request) -> str:
    return request.headers.get("authorization", "none")


def only(token: str) -> Any:
    """Answers one token and refuses every other."""

    def respond(request: Request) -> Reply:
        if bearer(request) == f"Bearer {token}":
            return reply_json(VERSION)
        return error_reply("1.37.2", "401-bad-token")

    return respond


def plugin(folder: Path, script: str) -> dict[str, Any]:
    """A credential plugin as a kubeconfig names it."""
    path = folder / "plugin"
    path.write_text(f"#!{sys.executable}\n{script}")
    path.chmod(0o755)
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": str(path),
            "env": [{"name": "TOKEN_PREFIX", "value": "from-env"}],
            "interactiveMode": "Never",
        }
    }


COUNTING_PLUGIN = """
import json, os, pathlib
runs = pathlib.Path(__file__).with_name("runs")
count = int(runs.read_text()) + 1 if runs.exists() else 1
runs.write_text(str(count))
status = {{"token": os.environ["TOKEN_PREFIX"] + "-" + str(count), {more}}}
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}}))
"""


def test_plugin_token_is_sent(tmp_path: Path) -> None:
    with serving(reply_json(VERSION)) as server:
        target = kubeconfig(
            tmp_path, server.url, user=plugin(tmp_path, COUNTING_PLUGIN.format(more=""))
        )

        assert get_version(target) == VERSION
        assert [bearer(request) for request in server.requests] == ["Bearer from-env-1"]


def test_plugin_expired_token_is_renewed_before_the_next_request(tmp_path: Path) -> None:
    script = COUNTING_PLUGIN.format(more='"expirationTimestamp": "2020-01-01T00:00:00Z"')
    with serving(reply_json(VERSION)) as server:
        connection = connect(kubeconfig(tmp_path, server.url, user=plugin(tmp_path, script)))
        connection.get_json("/version")
        connection.get_json("/version")
        connection.close()

        tokens = [bearer(request) for request in server.requests]

    assert tokens == ["Bearer from-env-2", "Bearer from-env-3"]


def test_plugin_refused_token_is_renewed_once(tmp_path: Path) -> None:
    script = COUNTING_PLUGIN.format(more="")
    with serving(only("from-env-2")) as server:
        target = kubeconfig(tmp_path, server.url, user=plugin(tmp_path, script))

        assert get_version(target) == VERSION
        assert [bearer(request) for request in server.requests] == [
            "Bearer from-env-1",
            "Bearer from-env-2",
        ]


def test_refused_for_good_is_unauthorized_after_one_renewal(tmp_path: Path) -> None:
    with serving(error_reply("1.37.2", "401-bad-token")) as server:
        target = kubeconfig(tmp_path, server.url, user={"token": "old"})

        with pytest.raises(Unauthorized):
            get_version(target)

        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("import sys; sys.exit('please sign in again')", "please sign in again"),
        ("print('no json')", "failed to decode"),
        (
            (
                'print(\'{"apiVersion": "client.authentication.k8s.io/v1", '
                '"kind": "ExecCredential", "status": {}}\')'
            ),
            "no token and no certificate",
        ),
    ],
)
def test_plugin_that_fails_is_a_config_error_with_its_words(
    tmp_path: Path, script: str, words: str
) -> None:
    target = kubeconfig(tmp_path, "http://127.0.0.1:1", user=plugin(tmp_path, script))

    with pytest.raises(ConfigError, match=words):
        connect(target)


def test_plugin_that_is_missing_is_a_config_error(tmp_path: Path) -> None:
    user = plugin(tmp_path, "")
    (tmp_path / "plugin").unlink()

    with pytest.raises(ConfigError, match="No such file"):
        connect(kubeconfig(tmp_path, "http://127.0.0.1:1", user=user))


def test_token_file_rotated_is_read_again(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first\n")
    with serving(reply_json(VERSION)) as server:
        connection = connect(kubeconfig(tmp_path, server.url, user={"tokenFile": "token"}))
        connection.get_json("/version")
        token.write_text("second\n")
        connection.get_json("/version")
        connection.close()

        tokens = [bearer(request) for request in server.requests]

    assert tokens == ["Bearer first", "Bearer second"]


def test_user_and_password_are_sent(tmp_path: Path) -> None:
    with serving(reply_json(VERSION)) as server:
        get_version(kubeconfig(tmp_path, server.url, user={"username": "a", "password": "b"}))

        assert bearer(server.requests[0]) == "Basic " + base64.b64encode(b"a:b").decode()


def test_impersonation_of_the_kubeconfig_is_honoured(tmp_path: Path) -> None:
    user = {
        "token": "t",
        "as": "jane",
        "as-uid": "7",
        "as-groups": ["dev", "ops"],
        "as-user-extra": {"acme.com/project": ["x"]},
    }
    with serving(reply_json(VERSION)) as server:
        get_version(kubeconfig(tmp_path, server.url, user=user))

        sent = server.requests[0].headers

    assert {name: text for name, text in sent.items() if name.startswith("impersonate")} == {
        "impersonate-user": "jane",
        "impersonate-uid": "7",
        "impersonate-group": "dev, ops",
        "impersonate-extra-acme.com%2fproject": "x",
    }


@pytest.fixture(scope="session")
def authority() -> Authority:
    return make_authority("cluster")


@pytest.fixture(scope="session")
def stranger() -> Authority:
    return make_authority("stranger")


def ca_data(authority: Authority) -> dict[str, str]:
    return {"certificate-authority-data": base64.b64encode(authority.pem).decode()}


@pytest.fixture
def _foreign_bundles(tmp_path: Path, stranger: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(stranger.pem)
    for name in ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE"):
        monkeypatch.setenv(name, str(bundle))


@pytest.mark.usefixtures("_foreign_bundles")
@pytest.mark.parametrize("form", ["data", "file"])
def test_own_authority_counts_whatever_the_environment_says(
    tmp_path: Path, authority: Authority, form: str
) -> None:
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    cluster = ca_data(authority) if form == "data" else {"certificate-authority": "ca.crt"}
    tls = server_tls(authority.sign(tmp_path, "server", "127.0.0.1"))
    with serving(reply_json(VERSION), tls=tls) as server:
        assert get_version(kubeconfig(tmp_path, server.url, cluster=cluster)) == VERSION


@pytest.mark.usefixtures("_foreign_bundles")
def test_foreign_authority_of_the_environment_is_not_trusted(
    tmp_path: Path, authority: Authority, stranger: Authority
) -> None:
    tls = server_tls(stranger.sign(tmp_path, "server", "127.0.0.1"))
    with serving(reply_json(VERSION), tls=tls) as server:
        target = kubeconfig(tmp_path, server.url, cluster=ca_data(authority))

        with pytest.raises(CertificateError, match="not trusted"):
            get_version(target)


@pytest.mark.usefixtures("_foreign_bundles")
def test_without_own_authority_the_environment_counts(tmp_path: Path, stranger: Authority) -> None:
    tls = server_tls(stranger.sign(tmp_path, "server", "127.0.0.1"))
    with serving(reply_json(VERSION), tls=tls) as server:
        assert get_version(kubeconfig(tmp_path, server.url)) == VERSION


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_insecure_skip_tls_verify_is_honoured(tmp_path: Path, stranger: Authority) -> None:
    tls = server_tls(stranger.sign(tmp_path, "server", "other.example.com"))
    with serving(reply_json(VERSION), tls=tls) as server:
        target = kubeconfig(tmp_path, server.url, cluster={"insecure-skip-tls-verify": True})

        assert get_version(target) == VERSION


def test_tls_server_name_is_what_the_certificate_must_say(
    tmp_path: Path, authority: Authority
) -> None:
    tls = server_tls(authority.sign(tmp_path, "server", "kubernetes"))
    with serving(reply_json(VERSION), tls=tls) as server:
        plain = kubeconfig(tmp_path, server.url, cluster=ca_data(authority))
        with pytest.raises(CertificateError):
            get_version(plain)

        cluster = {**ca_data(authority), "tls-server-name": "kubernetes"}
        assert get_version(kubeconfig(tmp_path, server.url, cluster=cluster)) == VERSION


@pytest.mark.parametrize("source", ["data", "files", "plugin"])
def test_client_certificate_is_shown(
    tmp_path: Path, authority: Authority, stranger: Authority, source: str
) -> None:
    certificate, key = stranger.sign(tmp_path, "client")
    status = {
        "clientCertificateData": certificate.read_text(),
        "clientKeyData": key.read_text(),
    }
    said = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": status,
    }
    users = {
        "data": {
            "client-certificate-data": base64.b64encode(certificate.read_bytes()).decode(),
            "client-key-data": base64.b64encode(key.read_bytes()).decode(),
        },
        "files": {"client-certificate": "client.crt", "client-key": "client.key"},
        "plugin": plugin(tmp_path, f"print({json.dumps(said)!r})"),
    }
    tls = server_tls(authority.sign(tmp_path, "server", "127.0.0.1"), clients_of=stranger)
    with serving(reply_json(VERSION), tls=tls) as server:
        target = kubeconfig(tmp_path, server.url, cluster=ca_data(authority), user=users[source])

        assert get_version(target) == VERSION


def test_tls_asked_of_a_plain_server_is_told(tmp_path: Path, authority: Authority) -> None:
    with serving(reply_json(VERSION)) as server:
        address = server.url.replace("http:", "https:")

        with pytest.raises(CertificateError, match="does not speak TLS"):
            get_version(kubeconfig(tmp_path, address, cluster=ca_data(authority)))


@pytest.mark.parametrize("no_proxy", ["", "127.0.0.1"])
def test_proxy_of_the_kubeconfig_is_used_whatever_no_proxy_says(
    tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch, no_proxy: str
) -> None:
    monkeypatch.setenv("NO_PROXY", no_proxy)
    tls = server_tls(authority.sign(tmp_path, "server", "127.0.0.1"))
    with serving(reply_json(VERSION), tls=tls) as server, tunnelling() as proxy:
        cluster = {**ca_data(authority), "proxy-url": proxy.url}

        assert get_version(kubeconfig(tmp_path, server.url, cluster=cluster)) == VERSION
        assert proxy.asked == [f"CONNECT 127.0.0.1:{server.port}"]


@pytest.mark.parametrize(
    ("no_proxy", "is_proxied"), [("", True), ("127.0.0.0/8", False), ("example.com", True)]
)
def test_proxy_of_the_environment_is_used_unless_no_proxy_names_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, no_proxy: str, is_proxied: bool
) -> None:
    with serving(reply_json(VERSION)) as server, serving(reply_json(VERSION)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("NO_PROXY", no_proxy)
        monkeypatch.setenv("no_proxy", no_proxy)

        get_version(kubeconfig(tmp_path, server.url))

        assert (len(proxy.requests), len(server.requests)) == ((1, 0) if is_proxied else (0, 1))


def test_proxy_that_is_away_is_unreachable(tmp_path: Path) -> None:
    target = kubeconfig(
        tmp_path, "http://127.0.0.1:2", cluster={"proxy-url": f"http://127.0.0.1:{closed_port()}"}
    )

    with pytest.raises(Unreachable, match="proxy"):
        get_version(target)


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that a pod finds, under a folder of the test's own."""
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    return tmp_path


def test_in_cluster_token_rotated_before_its_minute_is_read_on_refusal(
    pod: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pod / "ca.crt").write_bytes(authority.pem)
    (pod / "token").write_text("first\n")
    current = {"token": "first"}
    tls = server_tls(authority.sign(pod, "server", "127.0.0.1"))

    def respond(request: Request) -> Reply:
        is_known = bearer(request).split()[-1] == current["token"]
        return reply_json(VERSION) if is_known else error_reply("1.37.2", "401-bad-token")

    with serving(respond, tls=tls) as server:
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.port))
        connection = connect(Target("in_cluster"))
        connection.get_json("/version")
        (pod / "token").write_text("second\n")
        current["token"] = "second"

        assert connection.get_json("/version") == VERSION
        assert [bearer(request).split()[-1] for request in server.requests] == [
            "first",
            "first",
            "second",
        ]
        connection.close()


def test_in_cluster_outside_a_pod_is_a_config_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)

    with pytest.raises(ConfigError, match="service account of this pod"):
        connect(Target("in_cluster"))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "just text",
        "{",
        "current-context: x",
        "{current-context: x, contexts: [{name: x, context: {cluster: c}}], clusters: []}",
        "{contexts: [{name: x, context: {cluster: c}}], clusters: [{name: c, cluster: {server: 'http://a'}}]}",
        (
            "{current-context: x, contexts: [{name: x, context: {cluster: c}}], clusters: [{name: c, "
            "cluster: {server: 'https://a', certificate-authority: missing.crt}}]}"
        ),
        (
            "{current-context: x, contexts: [{name: x, context: {cluster: c}}], clusters: [{name: c, "
            "cluster: {server: 'https://a', certificate-authority-data: '%%%'}}]}"
        ),
        "{current-context: x, contexts: [7], clusters: {}}",
    ],
)
def test_kubeconfig_broken_is_a_config_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(content)

    with pytest.raises((ConfigError, CertificateError), match=r".{10}"):
        connect(Target("kubeconfig", path=str(path)))


def test_kubeconfig_missing_is_a_config_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no kubeconfig at .*nowhere"):
        connect(Target("kubeconfig", path=str(tmp_path / "nowhere")))


def test_contexts_are_listed_over_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    first = kubeconfig(tmp_path, "https://one.example.com:6443")
    second = tmp_path / "other" / "config"
    second.write_text(
        yaml.safe_dump(
            {
                "contexts": [{"name": "there", "context": {"cluster": "d", "user": "v"}}],
                "clusters": [{"name": "d", "cluster": {"server": "https://two.example.com"}}],
            }
        )
    )
    monkeypatch.setenv("KUBECONFIG", f"{first.path}{os.pathsep}{second}")

    assert contexts(None) == [
        Context("here", "c", "u", "https://one.example.com:6443", is_current=True),
        Context("there", "d", "v", "https://two.example.com", is_current=False),
    ]


@pytest.mark.parametrize(
    "reply",
    [
        reply_json(VERSION),
        error_reply("1.37.2", "401-bad-token"),
        error_reply("1.37.2", "403-anonymous-list"),
    ],
)
def test_default_target_is_the_kubeconfig_when_a_server_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    with serving(reply) as server:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path, server.url).path))

        assert default_target() == Target("kubeconfig")


def test_default_target_in_a_pod_is_its_own_cluster(
    pod: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pod / "token").write_text("t")
    monkeypatch.setenv("KUBECONFIG", str(pod / "nowhere"))

    assert default_target() == Target("in_cluster")


@pytest.mark.parametrize("reply", [reply_json({"hello": 1}), Reply(200, {}, (b"<html>",))])
def test_default_target_is_none_where_no_api_server_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with serving(reply) as server:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path, server.url).path))
        assert default_target() is None

    # Now the port is closed.
    assert default_target() is None


@pytest.mark.parametrize("url", ["", "ftp://x", "127.0.0.1:80"])
def test_url_without_http_is_a_config_error(url: str) -> None:
    with pytest.raises(ConfigError, match="http"):
        connect(Target("url", url=url))


def test_server_that_refuses_is_unreachable() -> None:
    with pytest.raises(Unreachable, match="cannot be reached"):
        get_version(Target("url", url=f"http://127.0.0.1:{closed_port()}"))


def test_server_silent_before_its_answer_times_out(serve: Serve) -> None:
    def respond(_: Request) -> Reply:
        time.sleep(0.6)
        return reply_json(VERSION)

    _, connection = serve(respond)

    with pytest.raises(TimedOut):
        connection.get_json("/version", timeout=0.2)


@pytest.mark.parametrize("framing", ["length", "chunked", "until_close"])
def test_answer_that_drips_is_cut_when_its_time_is_up(serve: Serve, framing: Any) -> None:
    _, connection = serve(Reply(200, {}, (b"[", 0.1) * 20, framing=framing))
    started = time.monotonic()

    with pytest.raises(TimedOut):
        connection.get_json("/version", timeout=0.4)

    assert time.monotonic() - started < 1.5


def test_refusal_that_drips_is_cut_when_its_time_is_up(serve: Serve) -> None:
    _, connection = serve(Reply(403, {}, (b"x", 0.1) * 20, framing="chunked"))

    with pytest.raises(TimedOut):
        connection.get_json("/version", timeout=0.4)


@pytest.mark.parametrize("parts", [(b"{", 3.0), (b"{", 0.1) * 20], ids=["silent", "dripping"])
def test_encrypted_answer_is_cut_when_its_time_is_up(
    tmp_path: Path, authority: Authority, parts: tuple[bytes | float, ...]
) -> None:
    tls = server_tls(authority.sign(tmp_path, "server", "127.0.0.1"))
    with serving(Reply(200, {}, parts, framing="chunked"), tls=tls) as server:
        connection = connect(kubeconfig(tmp_path, server.url, cluster=ca_data(authority)))
        started = time.monotonic()

        with pytest.raises(TimedOut):
            b"".join(
                connection.chunks(
                    "/version", {}, read_timeout=10, accept_gzip=False, watchdog=Watchdog(0.4)
                )
            )

        assert time.monotonic() - started < 1.5
        connection.close()


def test_kept_connection_survives_a_refusal(serve: Serve) -> None:
    server, connection = serve(error_reply("1.37.2", "403-list-slices"))

    with pytest.raises(Forbidden):
        connection.get_json("/version")
    with pytest.raises(Forbidden):
        connection.get_json("/version")

    assert server.accepted == 1


def test_kept_connection_closed_by_the_server_is_opened_again(serve: Serve) -> None:
    server, connection = serve(reply_json(VERSION))
    server.respond = lambda _: Reply(200, {}, (b"{}",), end="hang_up")

    assert [connection.get_json("/version") for _ in range(3)] == [{}, {}, {}]


def test_kept_connection_is_used_again(serve: Serve) -> None:
    server, connection = serve(reply_stream(b'{"a":', b"1}"))

    answers = [connection.get_json("/version") for _ in range(3)]

    assert answers == [{"a": 1}] * 3
    assert server.accepted == 1


def test_writes_send_json_and_give_the_answer(serve: Serve) -> None:
    server, connection = serve(reply_json({"done": True}, status=201))

    said = [
        connection.post_json("/a", {"x": 1}, params={"dryRun": "All"}),
        connection.put("/a", {"x": 2}),
        connection.delete("/a", body={"x": 3}),
    ]

    assert said == [{"done": True}] * 3
    assert [
        (request.method, request.query, json.loads(request.body), request.headers["content-type"])
        for request in server.requests
    ] == [
        ("POST", {"dryRun": "All"}, {"x": 1}, "application/json"),
        ("PUT", {}, {"x": 2}, "application/json"),
        ("DELETE", {}, {"x": 3}, "application/json"),
    ]


def test_host_is_told_without_credentials() -> None:
    connection: Connection = connect(Target("url", url="http://user:secret@127.0.0.1:8080/base/"))

    assert connection.host == "http://127.0.0.1:8080/base"


def test_kubeconfig_that_changed_is_read_again(tmp_path: Path, serve: Serve) -> None:
    server, _ = serve(reply_json(VERSION))
    target = kubeconfig(tmp_path, "http://127.0.0.1:1")
    before = connect(target).host

    kubeconfig(tmp_path, server.url)

    assert (before, connect(target).host) == ("http://127.0.0.1:1", server.url)


def test_answer_that_is_being_read_can_be_interrupted(serve: Serve) -> None:
    _, connection = serve(Reply(200, {}, (b"{", 60.0), framing="chunked"))
    chunks = connection.chunks("/version", {}, read_timeout=60, accept_gzip=False)
    next(chunks)

    connection.interrupt()

    with pytest.raises(Unreachable):
        list(chunks)


SLOW_PLUGIN = f"""{COUNTING_PLUGIN}
if count == 2:
    pathlib.Path(__file__).with_name("asked").write_text("asked")
    pathlib.Path(__file__).with_name("go").read_text()
"""


def test_connection_can_be_interrupted_while_a_plugin_renews_its_credentials(
    tmp_path: Path,
) -> None:
    # Each waits there for the other.
    asked, go = tmp_path / "asked", tmp_path / "go"
    os.mkfifo(asked)
    os.mkfifo(go)
    with serving(only("from-env-2")) as server:
        user = plugin(tmp_path, SLOW_PLUGIN.format(more=""))
        connection = connect(kubeconfig(tmp_path, server.url, user=user))
        asking = threading.Thread(target=connection.get_json, args=("/version",), daemon=True)
        asking.start()
        asked.read_text()

        interrupting = threading.Thread(target=connection.interrupt, daemon=True)
        interrupting.start()
        interrupting.join(10)
        has_to_wait = interrupting.is_alive()
        go.write_text("go")
        asking.join(60)
        connection.close()

    assert (has_to_wait, len(server.requests)) == (False, 2)
