"""Where an API server is and how we sign in there, as the official client reads it.

Adds what the client leaves out: a kubeconfig's own proxy stands above NO_PROXY, impersonation
is honoured, and a credential plugin that fails is an error instead of an anonymous request.
"""

import base64
import binascii
import hashlib
import os
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import urllib3
import yaml
from kubernetes.client import rest
from kubernetes.client.configuration import Configuration
from kubernetes.config import exec_provider, incluster_config, kube_config
from kubernetes.config.config_exception import ConfigException

from dra.catalogue import Statement
from kube.failures import CertificateError, ConfigError
from kube.targets import Target

DEFAULT_KUBECONFIG = "~/.kube/config"

# These parts of the official client carry no types.
_kube_config: Any = kube_config
_incluster_config: Any = incluster_config
_exec_provider: Any = exec_provider
_rest: Any = rest


@dataclass(frozen=True, slots=True)
class Context:
    """One context of a kubeconfig."""

    name: str
    cluster: str
    user: str
    server: str | None
    is_current: bool


@dataclass(slots=True)
class Login:
    """One loaded configuration with the pool that follows from it."""

    configuration: Configuration
    pool: urllib3.PoolManager
    headers: list[tuple[str, str]]
    # SHA-256 of the certificates that the server's own must be signed by; empty where the system's count.
    authority: str = ""
    # A kubeconfig's tokenFile and what it looked like when it was read.
    token_file: Path | None = None
    token_file_seen: tuple[int, int, int] | None = None
    # One thread renews, for instance by running a plugin; the others wait for what it gets.
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_outdated(self) -> bool:
        """The official client reads a tokenFile once; a rotated one has to be read again."""
        return self.token_file is not None and _looks(self.token_file) != self.token_file_seen

    def close(self) -> None:
        """Clearing a PoolManager alone leaves its sockets to the garbage collector."""
        for key in self.pool.pools.keys():  # noqa: SIM118 -- the container cannot be iterated
            pool = self.pool.pools.get(key)
            if pool is not None:
                pool.close()
        self.pool.clear()

    def authorization(self) -> str | None:
        """Runs the client's refresh: in-cluster token files and expired plugin tokens."""
        try:
            with self.lock:
                token = self.configuration.get_api_key_with_prefix("BearerToken")
        except (ConfigException, OSError) as error:
            raise ConfigError(Statement.of("credentials_not_renewed", error=str(error))) from error
        # Token files end with a newline, which no header may hold.
        return " ".join(token.split()) if token else None


def kubeconfig_path(path: str | None) -> str:
    """May be several paths, as $KUBECONFIG may."""
    return path or os.environ.get("KUBECONFIG") or DEFAULT_KUBECONFIG


def files_of(target: Target) -> tuple[tuple[int, int, int] | None, ...]:
    """What the files look like that a connection is made from: another look means another connection."""
    return _looks_of(kubeconfig_path(target.path)) if target.kind == "kubeconfig" else ()


def _looks_of(location: str) -> tuple[tuple[int, int, int] | None, ...]:
    paths = location.split(os.pathsep)
    return tuple(_looks(Path(path).expanduser()) for path in paths if path)


def _files(location: str) -> Any:
    """As the official client merges them. Parsed once for all their contexts: with a hundred of them it takes half a second."""
    with _parsing:
        return _parsed(location, _looks_of(location))


_parsing = threading.Lock()


@lru_cache(maxsize=4)
def _parsed(location: str, looks: tuple[tuple[int, int, int] | None, ...]) -> Any:
    del looks
    return _kube_config.KubeConfigMerger(location)


def contexts(path: str | None) -> list[Context]:
    """All contexts of a kubeconfig, in its order."""
    merged = _read_kubeconfig(path)
    servers = {name: cluster.get("server") for name, cluster in _named(merged, "cluster").items()}
    return [
        Context(
            name=name,
            cluster=str(context.get("cluster", "")),
            user=str(context.get("user", "")),
            server=servers.get(str(context.get("cluster"))),
            is_current=name == merged.get("current-context"),
        )
        for name, context in _named(merged, "context").items()
    ]


def log_in(target: Target) -> Login:
    """Load the configuration; runs a credential plugin if there is one, sends nothing."""
    try:
        return _LOADERS[target.kind](target)
    except (ConfigException, yaml.YAMLError, OSError) as error:
        unusable = Statement.of(
            "configuration_unusable",
            where=target.kind,
            path=kubeconfig_path(target.path),
            error=_first_line(str(error)),
        )
        raise ConfigError(unusable) from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        text = f"{type(error).__name__}: {error}"
        invalid = Statement.of(
            "configuration_invalid",
            where=target.kind,
            path=kubeconfig_path(target.path),
            error=text,
        )
        raise ConfigError(invalid) from error


def _from_kubeconfig(target: Target) -> Login:
    path = kubeconfig_path(target.path)
    merged = _read_kubeconfig(path)
    name = target.context or merged.get("current-context")
    if not name:
        raise ConfigError(Statement.of("no_current_context", path=path))
    context = _named(merged, "context").get(name, {})
    user = _named(merged, "user").get(str(context.get("user")), {})
    cluster = _named(merged, "cluster").get(str(context.get("cluster")), {})
    configuration = Configuration()
    files = _files(path)
    _kube_config.KubeConfigLoader(
        config_dict=files.config,
        config_base_path=None,
        active_context=name,
        config_persister=files.save_changes,
    ).load_and_set(configuration)
    if "exec" in user and not configuration.api_key and not configuration.cert_file:
        origin = merged["origins"].get(("cluster", context.get("cluster")), path)
        raise ConfigError(_why_plugin_failed(user["exec"], cluster, folder=Path(origin).parent))
    if cluster.get("proxy-url"):
        configuration.no_proxy = None
    token_file = _token_file(user, merged["origins"].get(("user", context.get("user"))))
    return Login(
        configuration=configuration,
        pool=_pool(configuration, ca_text=_authority_text(cluster)),
        headers=_impersonation(user),
        authority=_authority_digest(configuration, _authority_text(cluster)),
        token_file=token_file,
        token_file_seen=_looks(token_file) if token_file else None,
    )


def _in_cluster(_target: Target) -> Login:
    configuration = Configuration()
    _incluster_config.load_incluster_config(client_configuration=configuration)
    return Login(
        configuration=configuration,
        pool=_pool(configuration),
        headers=[],
        authority=_authority_digest(configuration, None),
    )


def _from_url(target: Target) -> Login:
    if not target.url or not target.url.startswith(("http://", "https://")):
        raise ConfigError(Statement.of("address_without_scheme", address=target.url))
    configuration = Configuration(host=target.url.rstrip("/"))
    return Login(configuration=configuration, pool=_pool(configuration), headers=[])


_LOADERS: dict[str, Callable[[Target], Login]] = {
    "kubeconfig": _from_kubeconfig,
    "in_cluster": _in_cluster,
    "url": _from_url,
}


def _read_kubeconfig(path: str | None) -> dict[str, Any]:
    """The merged file as plain values; `origins` tells the file of each entry."""
    location = kubeconfig_path(path)
    try:
        merged = _files(location).config
    except (ConfigException, yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            Statement.of("kubeconfig_unreadable", path=location, error=str(error))
        ) from error
    except (TypeError, KeyError, AttributeError) as error:
        raise ConfigError(Statement.of("kubeconfig_none", path=location)) from error
    if merged is None:
        raise ConfigError(Statement.of("kubeconfig_missing", path=location))
    plain: dict[str, Any] = {"current-context": merged.value.get("current-context")}
    origins: dict[tuple[str, str], str] = {}
    for section in ("cluster", "context", "user"):
        entries = [
            node.value if isinstance(node, kube_config.ConfigNode) else node
            for node in _nodes(merged, section)
        ]
        plain[section] = entries
        for node, entry in zip(_nodes(merged, section), entries, strict=True):
            origins[section, entry.get("name", "")] = getattr(node, "path", None) or location
    plain["origins"] = origins
    return plain


def _nodes(merged: kube_config.ConfigNode, section: str) -> list[Any]:
    return list(merged.value.get(f"{section}s") or [])


def _named(merged: Mapping[str, Any], section: str) -> dict[str, dict[str, Any]]:
    return {str(entry.get("name")): entry.get(section) or {} for entry in merged[section]}


def _why_plugin_failed(
    plugin: dict[str, Any], cluster: dict[str, Any], *, folder: Path
) -> Statement:
    """The client only logs the reason, so the plugin is asked once more."""
    command = str(plugin.get("command"))
    try:
        _exec_provider.ExecProvider(
            _kube_config.ConfigNode("exec", plugin),
            str(folder.expanduser()),
            _kube_config.ConfigNode("cluster", cluster),
        ).run()
    except (ConfigException, OSError, ValueError) as error:
        return Statement.of("plugin_failed", command=command, error=str(error))
    return Statement.of("plugin_gave_nothing", command=command)


def _token_file(user: dict[str, Any], origin: str | None) -> Path | None:
    if not user.get("tokenFile") or user.get("token"):
        return None
    return Path(origin or ".").expanduser().parent / str(user["tokenFile"])


def _looks(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


def _impersonation(user: dict[str, Any]) -> list[tuple[str, str]]:
    """`as` in a kubeconfig narrows what we may do; leaving it out would widen it."""
    if not user.get("as"):
        return []
    headers = [("Impersonate-User", str(user["as"]))]
    if user.get("as-uid"):
        headers.append(("Impersonate-Uid", str(user["as-uid"])))
    headers += [("Impersonate-Group", str(group)) for group in user.get("as-groups") or []]
    for key, values in (user.get("as-user-extra") or {}).items():
        name = f"Impersonate-Extra-{quote(str(key), safe='')}"
        headers += [(name, str(value)) for value in values or []]
    return headers


def _authority_text(cluster: dict[str, Any]) -> str | None:
    encoded = cluster.get("certificate-authority-data")
    if not encoded:
        return None
    try:
        return base64.b64decode(encoded).decode("ascii", "ignore")  # comments may be anything
    except binascii.Error as error:
        raise ConfigError(Statement.of("authority_damaged", error=str(error))) from error


def _authority_digest(configuration: Configuration, text: str | None) -> str:
    """SHA-256 of the certificates, in any form of the text; empty where there are none. Call it after `_pool`, which reports a file that cannot be read."""
    if text is None and configuration.ssl_ca_cert:
        text = Path(configuration.ssl_ca_cert).read_text(encoding="ascii", errors="ignore")
    return hashlib.sha256("".join(text.split()).encode()).hexdigest() if text else ""


def _pool(configuration: Configuration, *, ca_text: str | None = None) -> urllib3.PoolManager:
    arguments: dict[str, Any] = {"maxsize": 10, "retries": False}
    if configuration.host.startswith("https"):
        arguments["ssl_context"] = _tls(configuration, ca_text)
        if not configuration.verify_ssl:
            arguments["cert_reqs"] = ssl.CERT_NONE
            arguments["assert_hostname"] = False
        if configuration.tls_server_name:
            arguments["server_hostname"] = configuration.tls_server_name
    proxy = configuration.proxy
    if not proxy or _rest.should_bypass_proxies(configuration.host, configuration.no_proxy or ""):
        return urllib3.PoolManager(**arguments)
    if _rest.is_socks_proxy_url(proxy):
        raise ConfigError(Statement.of("socks_not_supported", proxy=proxy))
    return urllib3.ProxyManager(proxy, **arguments)


def _tls(configuration: Configuration, ca_text: str | None) -> ssl.SSLContext:
    """The cluster's own authorities and no others.

    The system's, and so SSL_CERT_FILE, count only where the cluster names none;
    REQUESTS_CA_BUNDLE is never read.
    """
    authority = None if ca_text else configuration.ssl_ca_cert
    try:
        context = ssl.create_default_context(cafile=authority, cadata=ca_text)
        if configuration.cert_file:
            context.load_cert_chain(configuration.cert_file, configuration.key_file or None)
    except (ssl.SSLError, OSError) as error:
        raise CertificateError(
            Statement.of("certificates_unreadable", error=str(error))
        ) from error
    # Many clusters' own authorities lack what Python 3.13's strict mode asks for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0]
