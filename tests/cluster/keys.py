"""Keys, certificates and kubeconfigs of one test control plane, made with the openssl command."""

import base64
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

_CONFIGURATION = """\
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = IP:127.0.0.1, IP:10.96.0.1, DNS:localhost, DNS:kubernetes.default.svc
"""
_NEW_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -config openssl.cnf"


def _openssl(folder: Path, arguments: str, *, stdin: bytes = b"") -> bytes:
    command = ["openssl", *arguments.split()]
    return subprocess.run(command, cwd=folder, input=stdin, capture_output=True, check=True).stdout


@dataclass(frozen=True)
class Keys:
    """The files in one folder; `create` makes them."""

    folder: Path

    @property
    def ca_file(self) -> Path:
        return self.folder / "ca.crt"

    @property
    def server_certificate(self) -> Path:
        return self.folder / "server.crt"

    @property
    def server_key(self) -> Path:
        return self.folder / "server.key"

    @property
    def service_account_key(self) -> Path:
        """Private key that signs ServiceAccount tokens (RS256, as kubeadm's)."""
        return self.folder / "sa.key"

    @property
    def service_account_public_key(self) -> Path:
        return self.folder / "sa.pub"

    @classmethod
    def create(cls, folder: Path) -> "Keys":
        """Make an authority, a serving certificate signed by it, and the tokens' key."""
        folder.mkdir(parents=True)
        (folder / "openssl.cnf").write_text(_CONFIGURATION)
        for command in (
            (
                f"req -x509 {_NEW_KEY} -subj /CN=dradash-test-ca -days 30 -extensions authority"
                " -keyout ca.key -out ca.crt"
            ),
            f"req {_NEW_KEY} -subj /CN=kube-apiserver -keyout server.key -out server.csr",
            (
                "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -set_serial 2 -days 30"
                " -extfile openssl.cnf -extensions server -out server.crt"
            ),
            "genrsa -out sa.key 2048",
            "rsa -in sa.key -pubout -out sa.pub",
        ):
            _openssl(folder, command)
        return cls(folder)

    def sign_again(self, token: str, *, seconds_earlier: int) -> str:
        """Return a ServiceAccount token whose whole life is earlier."""
        header, payload, _ = token.split(".")
        claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
        for moment in ("exp", "iat", "nbf"):
            claims[moment] -= seconds_earlier
        signed = f"{header}.{_base64url(json.dumps(claims).encode())}"
        signature = _openssl(self.folder, "dgst -sha256 -sign sa.key", stdin=signed.encode())
        return f"{signed}.{_base64url(signature)}"


def _base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def kubeconfig_text(*, url: str, ca_file: Path, token: str, user: str) -> str:
    """Return a kubeconfig in JSON, which is YAML too, with the authority inside."""
    authority = base64.b64encode(ca_file.read_bytes()).decode()
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": "test",
                    "cluster": {"server": url, "certificate-authority-data": authority},
                }
            ],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
            "current-context": "test",
        },
        indent=1,
    )
