"""Connections to API servers, configured by the official client, with bodies taken raw.

Every failure leaves here as a `KubeFailure`. Nothing is retried except a request on a kept
connection that the server had closed, and one with credentials that were just renewed.
"""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import msgspec
import urllib3
from kubernetes.config import incluster_config
from urllib3.exceptions import (
    HTTPError,
    LocationValueError,
    NameResolutionError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    SSLError,
)
from urllib3.exceptions import (
    TimeoutError as PoolTimeout,
)

from dra.catalogue import Statement
from kube.bodies import gunzip, split_lines
from kube.failures import (
    CertificateError,
    ConfigError,
    Forbidden,
    KubeFailure,
    Malformed,
    TimedOut,
    Unauthorized,
    Unreachable,
    failure_from_response,
)
from kube.logins import Context, Login, contexts, kubeconfig_path, log_in
from kube.targets import Target
from kube.watchdog import Watchdog

__all__ = ["Connection", "Context", "Target", "Watchdog", "connect", "contexts", "default_target"]

CONNECT_TIMEOUT_SECONDS: Final = 10.0
_READ_BYTES: Final = 64 << 10
_ERROR_BODY_BYTES: Final = 1 << 20
_USER_AGENT: Final = "dradash"
_LONGEST_SECONDS: Final = 86_400.0  # no answer of an API server takes a day


class Connection:
    """Requests to one API server. Safe to use from several threads."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._login = log_in(target)
        # Apart from the other lock: to sign in may take as long as a credential plugin does.
        self._renewing = threading.Lock()
        self._lock = threading.Lock()
        # The answers that are being read.
        self._reading: set[Watchdog] = set()

    @property
    def host(self) -> str:
        """The server's address, without credentials; for people."""
        parts = urlsplit(self._login.configuration.host)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"

    @property
    def authority(self) -> str:
        """SHA-256 of the cluster's own authorities; empty where it names none."""
        return self._login.authority

    def close(self) -> None:
        """Close kept connections; the next request opens new ones."""
        self._login.close()

    def interrupt(self) -> None:
        """Cut every answer that is being read: whoever reads it gets a failure. The connection can be used again."""
        with self._lock:
            reading = list(self._reading)
        for watchdog in reading:
            watchdog.cut()

    def get_json(
        self,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        """The decoded body; `timeout` is for the whole of it."""
        return _decode(self.read("GET", path, params=params, headers=headers, timeout=timeout))

    def post_json(
        self,
        path: str,
        body: Any,
        *,
        params: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        """Create, and return what the server says."""
        return _decode(self.read("POST", path, params=params, body=body, timeout=timeout))

    def put(self, path: str, body: Any, *, timeout: float = 30.0) -> Any:
        """Replace, and return what the server says."""
        return _decode(self.read("PUT", path, body=body, timeout=timeout))

    def delete(self, path: str, *, body: Any = None, timeout: float = 30.0) -> Any:
        """Delete with `body` as options, and return what the server says."""
        return _decode(self.read("DELETE", path, body=body, timeout=timeout))

    def read(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        timeout: float = 30.0,
    ) -> bytes:
        """The whole body, as sent."""
        watchdog = Watchdog(timeout)
        chunks = self.chunks(
            path,
            params or {},
            read_timeout=timeout,
            accept_gzip=True,
            watchdog=watchdog,
            headers=headers,
            method=method,
            body=body,
        )
        return b"".join(chunks)

    def stream(
        self,
        path: str,
        params: Mapping[str, str],
        *,
        read_timeout: float,
        accept_gzip: bool,
        watchdog: Watchdog | None = None,
    ) -> Iterator[bytes]:
        """The body's lines as they arrive. The request is sent with the first one asked for."""
        return split_lines(
            self.chunks(
                path,
                params,
                read_timeout=read_timeout,
                accept_gzip=accept_gzip,
                watchdog=watchdog,
            )
        )

    def chunks(
        self,
        path: str,
        params: Mapping[str, str],
        *,
        read_timeout: float,
        accept_gzip: bool,
        watchdog: Watchdog | None = None,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
        body: Any = None,
    ) -> Iterator[bytes]:
        """The body as it arrives, unpacked. Raises when it ends without its proper end."""
        query = f"?{urlencode(params)}" if params else ""
        asked = {"Accept": "application/json", **(headers or {})}
        if accept_gzip:
            asked["Accept-Encoding"] = "gzip"
        response = self._answer(
            method, path + query, headers=asked, body=body, read_timeout=read_timeout
        )
        watchdog = watchdog or Watchdog(_LONGEST_SECONDS)
        try:
            watchdog.guard(response)
            with self._lock:
                self._reading.add(watchdog)
            raw = self._raw_chunks(response, watchdog)
            is_packed = response.headers.get("content-encoding", "").lower() == "gzip"
            yield from gunzip(raw) if is_packed else raw
        except BaseException:
            response.close()  # what was not read to its end cannot be used again
            raise
        else:
            response.release_conn()
        finally:
            watchdog.cancel()
            with self._lock:
                self._reading.discard(watchdog)

    def _raw_chunks(
        self, response: urllib3.BaseHTTPResponse, watchdog: Watchdog
    ) -> Iterator[bytes]:
        with self._told_apart(watchdog):
            if getattr(response, "chunked", False):
                yield from response.read_chunked(_READ_BYTES, decode_content=False)
            else:
                while chunk := response.read1(_READ_BYTES, decode_content=False):
                    yield chunk
        if watchdog.has_fired:
            raise self._too_slow()

    def _answer(
        self, method: str, url: str, *, headers: dict[str, str], body: Any, read_timeout: float
    ) -> urllib3.BaseHTTPResponse:
        """A response with status 2xx whose body is still to be read."""
        login = self._current_login()
        response = self._send(login, method, url, headers, body, read_timeout)
        if response.status == 401 and self.target.kind != "url":
            self._read_refusal(response, read_timeout)
            login = self._renew(login)
            response = self._send(login, method, url, headers, body, read_timeout)
        if 200 <= response.status < 300:
            return response
        raise failure_from_response(
            status=response.status,
            body=self._read_refusal(response, read_timeout),
            retry_after=response.headers.get("retry-after"),
        )

    def _read_refusal(self, response: urllib3.BaseHTTPResponse, seconds: float) -> bytes:
        """The body of an error, and the connection given back."""
        watchdog = Watchdog(seconds)
        watchdog.guard(response)
        try:
            with self._told_apart(watchdog):
                said = response.read(_ERROR_BODY_BYTES, decode_content=True)
                response.drain_conn()
        except KubeFailure:
            response.close()
            raise
        finally:
            watchdog.cancel()
        response.release_conn()
        return said

    def _current_login(self) -> Login:
        login = self._login
        return self._renew(login) if login.is_outdated else login

    def _renew(self, outdated: Login) -> Login:
        """Read the configuration again, once for all threads that saw the same one fail."""
        with self._renewing:
            if self._login is outdated:
                self._login = log_in(self.target)
                outdated.close()
            return self._login

    def _send(
        self,
        login: Login,
        method: str,
        url: str,
        headers: dict[str, str],
        body: Any,
        read_timeout: float,
    ) -> urllib3.BaseHTTPResponse:
        sent = urllib3.HTTPHeaderDict({"User-Agent": _USER_AGENT, **headers})
        if authorization := login.authorization():
            sent["Authorization"] = authorization
        for name, value in login.headers:
            sent.add(name, value)
        content = None
        if body is not None:
            sent["Content-Type"] = "application/json"
            content = msgspec.json.encode(body)
        connect_seconds = min(CONNECT_TIMEOUT_SECONDS, read_timeout)

        def request() -> urllib3.BaseHTTPResponse:
            return login.pool.request(
                method,
                login.configuration.host + url,
                headers=sent,
                body=content,
                timeout=urllib3.Timeout(connect=connect_seconds, read=read_timeout),
                preload_content=False,
                redirect=False,
            )

        with self._told_apart(None):
            try:
                return request()
            except ProtocolError:
                # A kept connection that the server closed meanwhile looks like this. A write
                # may have been done, so only reading is tried again.
                if method != "GET":
                    raise
                return request()

    @contextmanager
    def _told_apart(self, watchdog: Watchdog | None) -> Iterator[None]:
        try:
            yield
        except KubeFailure:
            raise
        except (HTTPError, OSError, ValueError, AttributeError) as error:
            # The watchdog pulls the socket away under the reader, which may then stumble
            # over anything.
            if watchdog is not None and watchdog.has_fired:
                raise self._too_slow() from error
            if isinstance(error, AttributeError) or (
                isinstance(error, ValueError) and not isinstance(error, HTTPError)
            ):
                raise
            raise _failure_of(error, self.host) from error

    def _too_slow(self) -> TimedOut:
        return TimedOut(Statement.of("answer_too_slow", host=self.host))


def connect(target: Target) -> Connection:
    """Loads the configuration; nothing is sent yet."""
    return Connection(target)


def default_target() -> Target | None:
    """The kubeconfig's current context if a server answers there, else the pod's own cluster."""
    target = Target("kubeconfig", path=None)
    has_kubeconfig = any(
        Path(path).expanduser().is_file()
        for path in kubeconfig_path(None).split(os.pathsep)
        if path
    )
    if has_kubeconfig and answers(target):
        return target
    if _is_in_cluster():
        return Target("in_cluster")
    return None


def _is_in_cluster() -> bool:
    host = os.environ.get(incluster_config.SERVICE_HOST_ENV_NAME)
    return bool(host) and Path(incluster_config.SERVICE_TOKEN_FILENAME).is_file()


def answers(target: Target, *, timeout: float = 3.0) -> bool:
    """Whether an API server speaks there; a refusal of our user is an answer too."""
    try:
        version = connect(target).get_json("/version", timeout=timeout)
    except (Unauthorized, Forbidden):
        return True
    except KubeFailure:
        return False
    return isinstance(version, dict) and "gitVersion" in version


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(Statement.of("not_json", error=str(error))) from error


def _failure_of(error: Exception, host: str) -> KubeFailure:
    if isinstance(error, ProxyError):
        return Unreachable(Statement.of("proxy_fails", host=host, error=str(error)))
    if isinstance(error, NewConnectionError | NameResolutionError):
        return Unreachable(Statement.of("cannot_be_reached", host=host, error=str(error)))
    if isinstance(error, PoolTimeout):
        return TimedOut(Statement.of("no_answer_in_time", host=host))
    if isinstance(error, SSLError):
        return _tls_failure(error, host)
    if isinstance(error, LocationValueError):
        return ConfigError(Statement.of("address_invalid", host=host, error=str(error)))
    return Unreachable(Statement.of("connection_broke", host=host, error=str(error)))


def _tls_failure(error: SSLError, host: str) -> KubeFailure:
    text = str(error)
    if "EOF occurred" in text or "UNEXPECTED_EOF" in text:
        return Unreachable(Statement.of("connection_broke", host=host, error=text))
    if "WRONG_VERSION_NUMBER" in text or "RECORD_LAYER_FAILURE" in text:
        return CertificateError(Statement.of("no_tls", host=host))
    return CertificateError(Statement.of("certificate_not_trusted", host=host, error=text))
