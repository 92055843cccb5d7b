"""What can go wrong between us and an API server, told apart so that callers can act on it.

Every failure says in plain words what happened and what to do, whether trying again can help,
and when. Cluster data never raises; only broken transport and refusals do.
"""

import email.utils
import math
import time
from typing import ClassVar, Literal

import msgspec

from dra.catalogue import Statement
from dra.words import statement_words

Code = Literal[
    "unauthorized",
    "forbidden",
    "not_found",
    "conflict",
    "rejected",
    "expired",
    "throttled",
    "server_error",
    "unreachable",
    "timeout",
    "malformed",
    "tls",
    "config",
]

LONGEST_RETRY_AFTER_SECONDS = 600.0


class KubeFailure(Exception):
    """Base of all failures; `code` says of which kind, `statement` what happened, `message` the same in English."""

    code: ClassVar[Code]
    retriable: ClassVar[bool] = False

    def __init__(
        self,
        statement: Statement,
        *,
        status: int | None = None,
        reason: str = "",
        causes: tuple[str, ...] = (),
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(statement_words(statement))
        self.statement = statement
        # HTTP status, or the code of an ERROR event inside a watch; None when none arrived.
        self.status = status
        self.reason = reason
        self.causes = causes
        self.retry_after_seconds = retry_after_seconds

    @property
    def message(self) -> str:
        """What happened and what to do, in English, for a log or a terminal."""
        return str(self)


class Unauthorized(KubeFailure):
    """401: the credentials are wrong or have run out."""

    code = "unauthorized"


class Forbidden(KubeFailure):
    """403: our user may not do this, or no user was seen at all."""

    code = "forbidden"


class NotFound(KubeFailure):
    """404: no such object, or no such version or group."""

    code = "not_found"


class Conflict(KubeFailure):
    """Somebody else was first: the name is taken, or the object is another one by now."""

    code = "conflict"


class Rejected(KubeFailure):
    """The server understood the request and will never take it in this form (400, 405, 422)."""

    code = "rejected"


class Expired(KubeFailure):
    """The resourceVersion is of no use any more: read everything again."""

    code = "expired"


class Throttled(KubeFailure):
    """429: the server is busy; `retry_after_seconds` says for how long."""

    code = "throttled"
    retriable = True


class ServerError(KubeFailure):
    """5xx, or an ERROR event of that kind."""

    code = "server_error"
    retriable = True


class Unreachable(KubeFailure):
    """No connection, or one that broke before the answer was complete."""

    code = "unreachable"
    retriable = True


class TimedOut(KubeFailure):
    """No answer, or not all of it, within the time given."""

    code = "timeout"
    retriable = True


class Malformed(KubeFailure):
    """An answer arrived that is not what the Kubernetes API says it must be."""

    code = "malformed"
    retriable = True


class CertificateError(KubeFailure):
    """The server's certificate is not trusted, or ours cannot be read."""

    code = "tls"


class ConfigError(KubeFailure):
    """The kubeconfig, the token or the credential plugin cannot be used as they are."""

    code = "config"


class _Cause(msgspec.Struct):
    reason: str = ""


class _Details(msgspec.Struct, rename="camel"):
    causes: list[_Cause] | None = None
    retry_after_seconds: float | None = None


class Status(msgspec.Struct):
    """A Kubernetes `Status`, as bodies of errors and ERROR events carry it."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: _Details | None = None


def failure_from_response(*, status: int, body: bytes, retry_after: str | None) -> KubeFailure:
    """Bodies of 404 and 429 may be plain text: then the text is the message."""
    try:
        said = msgspec.json.decode(body, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        said = Status(message=body[:500].decode("utf-8", "replace").strip())
    said.code = status
    return failure_from_status(said, retry_after_seconds=parse_retry_after(retry_after))


def failure_from_status(said: Status, *, retry_after_seconds: float | None = None) -> KubeFailure:
    """Of an ERROR event, or of the body of an HTTP error."""
    details = said.details or _Details()
    if retry_after_seconds is None:
        retry_after_seconds = details.retry_after_seconds
    kind, code = _kind_of(said)
    # No column of Postgres takes NUL.
    text = said.message.replace("\0", "") or f"HTTP {said.code}"
    return kind(
        Statement.of(code, said=text),
        status=said.code,
        reason=said.reason,
        causes=tuple(cause.reason for cause in details.causes or ()),
        retry_after_seconds=retry_after_seconds,
    )


_BY_STATUS: dict[int, tuple[type[KubeFailure], str]] = {
    401: (Unauthorized, "credentials_refused"),
    403: (Forbidden, "not_allowed"),
    404: (NotFound, "not_there"),
    409: (Conflict, "somebody_was_first"),
    410: (Expired, "too_old"),
    429: (Throttled, "server_busy"),
}


def _kind_of(said: Status) -> tuple[type[KubeFailure], str]:
    # A stored resourceVersion that is no number is answered 400 by a list, 500 by a watch.
    # A fresh read heals both, as it heals 410.
    if said.code in {400, 500} and "resourceVersion: Invalid value" in said.message:
        return Expired, "not_its_resource_version"
    if said.code == 403 and '"system:anonymous"' in said.message:
        return Forbidden, "no_credentials_seen"
    if said.code in _BY_STATUS:
        return _BY_STATUS[said.code]
    if said.code >= 500:
        return ServerError, "server_failed"
    if 300 <= said.code < 400:
        return Malformed, "redirects"
    return Rejected, "request_refused"


def parse_retry_after(value: str | None) -> float | None:
    """Seconds to wait from a Retry-After header (a number or an HTTP date), at most 10 min."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = email.utils.parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = moment.timestamp() - time.time()
    if math.isnan(seconds):
        return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER_SECONDS)
