"""Nodes: what does each offer and hold?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from clusters.views.detail_page import DetailContent, Fact, Said
from clusters.views.frame import Scope
from clusters.views.kubectl import kubectl
from clusters.views.list_page import Asked, Content
from clusters.views.object_pages import ObjectPages
from pools.choices import COUNTS, HasCounts, counts_of
from pools.listings.nodes import NODES, READINESS
from pools.models import Allocation, Node, Pool
from pools.queries import problem_starts
from pools.queries.nodes import (
    NodeFilter,
    allocations_of,
    figures_of_nodes,
    pools_of_node,
    readiness_counts,
)
from pools.views.manifests import manifest_of
from pools.views.shared import (
    ShownProblem,
    fits_now,
    named_problems,
    problems_of,
)
from ui.formatting import number
from ui.frame import Entry
from ui.snapshot import Snapshot

# Allocations that the page names; of more it says how many there are.
MOST_HOLDERS = 100


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether pods may run there, in a word."""

    word: str
    tone: str
    reason: str


@dataclass(frozen=True, slots=True)
class NodeLine:
    """One node in the list."""

    node: Node
    cluster: str
    readiness: Readiness
    drivers: tuple[str, ...]
    # None: no pool is bound to the node.
    devices: Mapping[str, int | None] | None
    problems: tuple[ShownProblem, ...]


@dataclass(frozen=True, slots=True)
class PoolOfNode:
    """One pool whose devices can be used on the node alone."""

    pool: Pool
    devices: Mapping[str, int | None]
    fits: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeUse:
    """What stands on one node, and who holds it."""

    pools: Sequence[PoolOfNode]
    holders: Sequence[Allocation]
    more_holders: int


def _content(asked: Asked[Node, NodeFilter]) -> Content:
    snapshot = asked.scope.snapshot
    readiness = readiness_counts(snapshot, asked.found)
    words = _readiness_words()
    pools = figures_of_nodes(snapshot, asked.rows)
    return Content(
        answer=_list_answer(readiness),
        lines=[_line(row, pools.get(row.id, ()), words, asked.scope) for row in asked.rows],
        count=sum(readiness.values()),
        facets={"ready": readiness},
        kubectl=kubectl(asked.scope.only, "get", "nodes"),
    )


def _content_of_one(row: Node, scope: Scope) -> DetailContent:
    pools = pools_of_node(scope.snapshot, row)
    readiness = readiness_of(row, _readiness_words())
    starts = problem_starts(scope.snapshot, pools)
    return DetailContent(
        answer=_answer(row, readiness, pools),
        facts=_facts(row, readiness),
        problems=(
            *problems_of(row),
            *(each for pool in pools for each in named_problems(pool, starts)),
        ),
        command=kubectl(scope.chosen, "describe", "node", row.name),
        manifest=manifest_of(row, scope),
        below="pools/_node_use.html",
        more=_use(scope.snapshot, pools),
    )


def _use(snapshot: Snapshot, pools: Sequence[Pool]) -> NodeUse:
    held = allocations_of(snapshot, pools)
    holders = list(held[:MOST_HOLDERS])
    count = len(holders) if len(holders) < MOST_HOLDERS else held.count()
    return NodeUse(
        pools=[PoolOfNode(pool, counts_of(pool), fits_now(pool)) for pool in pools],
        holders=holders,
        more_holders=count - len(holders),
    )


_NODE_INFO = (
    ("kubeletVersion", gettext_lazy("Kubelet")),
    ("kernelVersion", gettext_lazy("Kernel")),
    ("osImage", gettext_lazy("Operating system")),
    ("containerRuntimeVersion", gettext_lazy("Container runtime")),
    ("architecture", gettext_lazy("Architecture")),
)


def _facts(row: Node, readiness: Readiness) -> list[Fact]:
    states = [Said(readiness.word, look="badge", tone=readiness.tone)]
    if row.is_unschedulable:
        states.append(Said(_("cordoned"), look="badge", tone="warning"))
    info = [(label, row.facts[name]) for name, label in _NODE_INFO if name in row.facts]
    addresses = [(each["type"], each["address"]) for each in row.addresses]
    taints = [Said(_taint(each), look="tag", tone="warning") for each in row.taints]
    labels = [Said(f"{name}={value}", look="tag") for name, value in row.labels.items()]
    return [
        Fact(_("Readiness"), states, under=readiness.reason),
        *(Fact(label, [Said(text, look="mono")]) for label, text in (*info, *addresses)),
        Fact(_("Taints"), taints, nothing=_("none")),
        Fact(_("Labels"), labels, nothing=_("none")),
    ]


def _taint(taint: Mapping[str, Any]) -> str:
    value = f"={taint['value']}" if taint["value"] else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def _line(row: Node, pools: Sequence[Any], words: Mapping[str, str], scope: Scope) -> NodeLine:
    return NodeLine(
        node=row,
        cluster=scope.name_of(row.cluster_id),
        readiness=readiness_of(row, words),
        drivers=tuple(dict.fromkeys(pool.driver for pool in pools)),
        devices=added_counts(pools) if pools else None,
        problems=problems_of(row),
    )


def _readiness_words() -> dict[str, str]:
    return {code: str(word) for code, word in READINESS.items()}


def readiness_of(row: Node, words: Mapping[str, str]) -> Readiness:
    """Whether pods may run on a node, and why not."""
    reason = ": ".join(filter(None, (row.ready_reason, row.ready_message)))
    if row.is_ready is None:
        return Readiness(words["unknown"], "muted", reason)
    if row.is_ready:
        return Readiness(words["ready"], "good", reason)
    return Readiness(words["not_ready"], "error", reason)


def added_counts(pools: Iterable[HasCounts]) -> dict[str, int | None]:
    """Devices of several pools by state; unknown where it is unknown of one of them."""
    counts = [counts_of(pool) for pool in pools]
    return {name: _added([each[name] for each in counts]) for name in COUNTS}


def _added(values: Sequence[Any]) -> int | None:
    return None if None in values else sum(values)


def _list_answer(readiness: Mapping[str, int]) -> str:
    total = sum(readiness.values())
    if not total:
        return ""
    words = [ngettext("%(n)s node.", "%(n)s nodes.", total) % {"n": number(total)}]
    if count := readiness.get("not_ready"):
        text = ngettext("%(n)s is not ready.", "%(n)s are not ready.", count)
        words.append(text % {"n": number(count)})
    if count := readiness.get("unknown"):
        text = ngettext(
            "Of %(n)s it is not known whether it is ready.",
            "Of %(n)s it is not known whether they are ready.",
            count,
        )
        words.append(text % {"n": number(count)})
    return " ".join(words)


def _answer(row: Node, readiness: Readiness, pools: Sequence[Pool]) -> str:
    if row.vanished_at:
        return _("No longer in the cluster. This is what was stored.")
    words = [_("Ready, but cordoned.") if row.is_ready and row.is_unschedulable else ""]
    words[0] = words[0] or f"{readiness.word[:1].upper()}{readiness.word[1:]}."
    if row.is_unschedulable is None:
        words.append(_("Whether it is cordoned could not be read."))
    if not pools:
        words.append(_("No pool of devices is bound to it."))
        return " ".join(words)
    devices = added_counts(pools)
    if devices["available"] is None or devices["total"] is None:
        words.append(_("How many of its devices are free is not known."))
        return " ".join(words)
    text = ngettext(
        "%(free)s of its %(total)s device is free.",
        "%(free)s of its %(total)s devices are free.",
        devices["total"],
    )
    words.append(text % {"free": number(devices["available"]), "total": number(devices["total"])})
    return " ".join(words)


PAGES: Final = ObjectPages(
    kind=NODES,
    content=_content,
    content_of_one=_content_of_one,
    entry=Entry(gettext_lazy("Nodes"), "nodes", "n"),
)
