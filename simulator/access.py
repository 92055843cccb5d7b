"""Who may do what: one user with a token, who may do everything that has not been revoked."""

from collections.abc import Mapping
from typing import Any, Final

from simulator import statuses
from simulator.kinds import Resource

_OPEN_PATHS: Final = ("/version", "/healthz", "/livez", "/readyz")


class Access:
    def __init__(self, *, token: str | None, user: str) -> None:
        self.token = token
        self._user = user
        self._revoked: set[tuple[str, str]] = set()

    def revoke(self, verb: str, resource: str) -> None:
        """Take a right away; `resource` is a plural, a path such as `/metrics`, or `*`, as `verb` may be."""
        self._revoked.add((verb, resource))

    def grant(self, verb: str, resource: str) -> None:
        """Give back what was revoked in the same words."""
        self._revoked.discard((verb, resource))

    def may(self, verb: str, resource: str) -> bool:
        wanted = {(verb, resource), ("*", resource), (verb, "*"), ("*", "*")}
        return not wanted & self._revoked

    def user(self, authorization: str | None) -> str:
        """Who is asking. A wrong token is refused; no token makes the request anonymous."""
        if self.token is None:
            return self._user
        if authorization is None:
            return "system:anonymous"
        if authorization != f"Bearer {self.token}":
            raise statuses.unauthorized()
        return self._user

    def check(
        self, user: str, verb: str, resource: Resource, *, name: str | None, namespace: str | None
    ) -> None:
        if user == "system:anonymous" or not self.may(verb, resource.plural):
            raise statuses.forbidden(user, verb, resource, name=name, namespace=namespace)

    def check_path(self, user: str, verb: str, path: str) -> None:
        is_open = path in _OPEN_PATHS
        if (user == "system:anonymous" and not is_open) or not self.may(verb, path):
            raise statuses.forbidden_path(user, verb, path)

    def review(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a SelfSubjectAccessReview."""
        asked = spec.get("resourceAttributes") or {}
        other = spec.get("nonResourceAttributes") or {}
        verb = asked.get("verb") or other.get("verb") or ""
        subject = asked.get("resource") or other.get("path") or ""
        answer: dict[str, Any] = {"allowed": self.may(verb, subject)}
        if answer["allowed"]:
            answer["reason"] = (
                f'RBAC: allowed by ClusterRoleBinding "dradash" of ClusterRole "dradash" '
                f'to User "{self._user}"'
            )
        return {
            "kind": "SelfSubjectAccessReview",
            "apiVersion": "authorization.k8s.io/v1",
            "metadata": {},
            "spec": dict(spec),
            "status": answer,
        }
