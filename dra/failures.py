"""What goes wrong between us and an API server, and in reading a cluster: codes, and words that say what to do."""

from collections.abc import Mapping
from typing import Final

from dra.catalogue import Choice, Entry, Number, Text, by_code
from dra.catalogue import gettext_noop as _

_TEXT: Final = Text()
_SAID: Final = {"said": _TEXT}
_ERROR: Final = {"error": _TEXT}
_HOST: Final = {"host": _TEXT}
_HOST_ERROR: Final = {"host": _TEXT, "error": _TEXT}
_KINDS: Final = {"kinds": _TEXT}

_WHERE: Final = Choice({
    "kubeconfig": _("The kubeconfig %(path)s"),
    "in_cluster": _("The service account of this pod"),
    "url": _("The address"),
})  # fmt: skip

_REFUSALS: Final = (
    Entry(
        "credentials_refused",
        _(
            "The cluster does not accept our credentials. Sign in again, or renew the token. The server said: %(said)s"
        ),
        _SAID,
    ),
    Entry(
        "not_allowed",
        _(
            "The cluster refuses this to our user. Grant the right by RBAC. The server said: %(said)s"
        ),
        _SAID,
    ),
    Entry(
        "no_credentials_seen",
        _(
            "The cluster saw no credentials in our request."
            " Check the token or certificate in the kubeconfig. The server said: %(said)s"
        ),
        _SAID,
    ),
    Entry("not_there", _("The cluster does not have this. The server said: %(said)s"), _SAID),
    Entry(
        "somebody_was_first",
        _("Somebody else changed or made this object first. The server said: %(said)s"),
        _SAID,
    ),
    Entry(
        "too_old",
        _(
            "What we knew of the cluster is too old; everything is read again. The server said: %(said)s"
        ),
        _SAID,
    ),
    Entry(
        "not_its_resource_version",
        _("The stored resourceVersion is not one of this server's. The server said: %(said)s"),
        _SAID,
    ),
    Entry(
        "server_busy",
        _("The API server is busy and asks us to wait. The server said: %(said)s"),
        _SAID,
    ),
    Entry(
        "server_failed",
        _("The API server failed to answer. It is tried again. The server said: %(said)s"),
        _SAID,
    ),
    Entry(
        "redirects",
        _(
            "The address redirects elsewhere, as a sign-in page does."
            " Check the server address in the kubeconfig. The server said: %(said)s"
        ),
        _SAID,
    ),
    Entry(
        "request_refused",
        _("The API server does not take this request. The server said: %(said)s"),
        _SAID,
    ),
)

_TRANSPORT: Final = (
    Entry(
        "answer_too_slow",
        _("%(host)s did not finish its answer in time. It is tried again."),
        _HOST,
    ),
    Entry("no_answer_in_time", _("%(host)s did not answer in time. It is tried again."), _HOST),
    Entry("proxy_fails", _("The proxy in front of %(host)s fails: %(error)s"), _HOST_ERROR),
    Entry(
        "cannot_be_reached",
        _("%(host)s cannot be reached (%(error)s). Is the API server running, the address right?"),
        _HOST_ERROR,
    ),
    Entry(
        "address_invalid",
        _("The address %(host)s is not a valid one (%(error)s)."),
        _HOST_ERROR,
    ),
    Entry(
        "connection_broke",
        _("The connection to %(host)s broke (%(error)s). It is tried again."),
        _HOST_ERROR,
    ),
    Entry(
        "no_tls",
        _("%(host)s does not speak TLS. Does its address begin with http:// instead of https://?"),
        _HOST,
    ),
    Entry(
        "certificate_not_trusted",
        _(
            "The certificate of %(host)s is not trusted (%(error)s)."
            " Check certificate-authority-data and tls-server-name in the kubeconfig."
        ),
        _HOST_ERROR,
    ),
)

_ANSWERS: Final = (
    Entry(
        "not_json",
        _("The answer is not JSON (%(error)s). Is the address that of a Kubernetes API server?"),
        _ERROR,
    ),
    Entry("compressed_damaged", _("The compressed answer is damaged (%(error)s)."), _ERROR),
    Entry("compressed_ends", _("The compressed answer ends in the middle.")),
    Entry("line_too_large", _("A line of the answer is larger than any Kubernetes object.")),
    Entry("item_too_large", _("An item of the list is larger than any Kubernetes object.")),
    Entry("no_list", _("The answer is not a Kubernetes list.")),
    Entry("list_unreadable", _("The answer is not a Kubernetes list (%(error)s)."), _ERROR),
    Entry("list_ends", _("The list ends in the middle.")),
    Entry("list_ends_in_item", _("The list ends in the middle of an item.")),
    Entry("item_not_json", _("An item of the list is not valid JSON (%(error)s)."), _ERROR),
    Entry("item_no_object", _("An item of the list is not a JSON object.")),
    Entry(
        "first_read_too_slow",
        _("The first read of %(kinds)s did not finish in %(seconds)s s. It is tried again."),
        {"kinds": _TEXT, "seconds": Number()},
    ),
    Entry(
        "list_without_version",
        _("The list of %(kinds)s does not say its resourceVersion."),
        _KINDS,
    ),
    Entry(
        "event_unreadable",
        _("The watch of %(kinds)s sent a line that is not a whole event (%(error)s)."),
        {"kinds": _TEXT, "error": _TEXT},
    ),
    Entry(
        "event_without_name", _("The watch of %(kinds)s sent an object without a name."), _KINDS
    ),
    Entry(
        "kind_list_unreadable",
        _("The list of %(kinds)s is not one (%(error)s)."),
        {"kinds": _TEXT, "error": _TEXT},
    ),
    Entry(
        "status_request_deleted",
        _("The pool status request %(name)s was deleted before its answer."),
        {"name": _TEXT},
    ),
    Entry(
        "status_answer_unreadable",
        _("The answer is no pool status request (%(error)s)."),
        _ERROR,
    ),
)

_CONFIGURATION: Final = (
    Entry("credentials_not_renewed", _("The credentials cannot be renewed: %(error)s"), _ERROR),
    Entry(
        "configuration_unusable",
        _("%(where)s cannot be used: %(error)s"),
        {"where": _WHERE, "path": _TEXT, "error": _TEXT},
    ),
    Entry(
        "configuration_invalid",
        _("%(where)s is not a valid kubeconfig (%(error)s)."),
        {"where": _WHERE, "path": _TEXT, "error": _TEXT},
    ),
    Entry(
        "no_current_context",
        _("The kubeconfig %(path)s cannot be used: it names no current context; choose one"),
        {"path": _TEXT},
    ),
    Entry(
        "kubeconfig_unreadable",
        _("The kubeconfig %(path)s cannot be read: %(error)s"),
        {"path": _TEXT, "error": _TEXT},
    ),
    Entry("kubeconfig_none", _("%(path)s is not a kubeconfig."), {"path": _TEXT}),
    Entry(
        "kubeconfig_missing",
        _("There is no kubeconfig at %(path)s. Set KUBECONFIG, or name one."),
        {"path": _TEXT},
    ),
    Entry(
        "address_without_scheme",
        _("The address %(address)r does not begin with http:// or https://."),
        {"address": _TEXT},
    ),
    Entry(
        "plugin_failed",
        _("The credential plugin %(command)r of the kubeconfig failed: %(error)s"),
        {"command": _TEXT, "error": _TEXT},
    ),
    Entry(
        "plugin_gave_nothing",
        _("The credential plugin %(command)r of the kubeconfig gave no token and no certificate."),
        {"command": _TEXT},
    ),
    Entry(
        "authority_damaged",
        _("certificate-authority-data of the kubeconfig is damaged (%(error)s)."),
        _ERROR,
    ),
    Entry(
        "certificates_unreadable",
        _("The certificates in the configuration cannot be read: %(error)s"),
        _ERROR,
    ),
    Entry(
        "socks_not_supported",
        _("SOCKS proxies (%(proxy)s) are not supported. Use an HTTP proxy."),
        {"proxy": _TEXT},
    ),
)

# What keeps a kind from being read beside the server.
_READING: Final = (
    Entry("ended_before_answer", _("DRA-Dash ended before the answer came.")),
    Entry(
        "server_is_behind",
        _(
            "It knows only older versions than we have read, as after a restore of etcd from a backup."
        ),
    ),
    Entry("kind_not_served", _("The cluster does not serve this kind.")),
    Entry(
        "database_full",
        _(
            "The database has no room left to store changes. Free some space; reading goes on by itself."
        ),
    ),
)

FAILURES: Final[Mapping[str, Entry]] = by_code(
    *_REFUSALS, *_TRANSPORT, *_ANSWERS, *_CONFIGURATION, *_READING
)
