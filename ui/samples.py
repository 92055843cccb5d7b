"""Invented values for the style guide, where every component is seen in every state."""

import math
from datetime import datetime, timedelta
from typing import Any

from django.http import QueryDict

from ui.charts import HistoryChart, Mark, Span, chosen_range, range_links, state_series
from ui.frame import Banner, ClusterChoice, Frame, Freshness
from ui.lists import Choice, Column, Export, Filter, ListView, list_view

COLUMNS = (
    Column("name", "Pool", is_sortable=True),
    Column("driver", "Driver", is_sortable=True),
    Column("node", "Node"),
    Column(
        "devices",
        "Devices",
        note="Of the newest generation. Partly used devices are part of allocated.",
    ),
    Column("available", "Free", is_sortable=True, is_number=True),
    Column("changed", "Changed", is_sortable=True),
)

ROWS = (
    ("gpu-node-07/gpus", "gpu.example.com", "gpu-node-07", (8, 8, 5, 2, 1, 1, 1), 4, ""),
    (
        "ip-10-0-128-203.eu-central-1.compute.internal-mig-a100-80gb",
        "mig.gpu.example.com",
        "ip-10-0-128-203.eu-central-1.compute.internal",
        (56, 56, 14, 0, 21, 0, 21),
        95,
        "",
    ),
    ("rack-2-nics", "nic.example.com", None, (None, 12, 3, 1, None, None, None), 4_000, "incomplete"),
    ("cpu-node-01", "cpu.example.com", "cpu-node-01", (128, 128, 0, 0, 0, 0, 128), 86_500, ""),
    ("fpga-3", "fpga.example.com", "fpga-node-3", (2, 2, 0, 0, 0, 2, 0), 7_300, "tainted"),
)  # fmt: skip


def sample_context(*, now: datetime, query: QueryDict, path: str) -> dict[str, Any]:
    """The context of `ui/styleguide.html`."""
    return {
        "now": now,
        "frame": sample_frame(now),
        "banners": sample_banners(now),
        "rows": sample_rows(now),
        "list": sample_list(path=path, query=query),
        "empty_list": sample_list(path=path, query=QueryDict("q=driver:none.example.com")),
        "chart": sample_chart(now, query=query),
        "ranges": range_links(path=path, query=query),
        "devices": devices(412, 412, 298, 40, 52, 24, 38),
        "unknown_devices": devices(None, 12, 3, 1, None, None, None),
        "manifest": MANIFEST,
        "later": now + timedelta(minutes=3),
        "earlier": now - timedelta(seconds=4),
        "long_ago": now - timedelta(days=12, hours=3),
        "problems": PROBLEMS,
        "trail": [("Pools", f"{path}?trail"), ("gpu.example.com", f"{path}?trail")],
        "tabs": [
            ("Devices", path, 8, True),
            ("Slices", f"{path}?tab=slices", 2, False),
            ("History", f"{path}?tab=history", None, False),
        ],
    }


def devices(*counts: int | None) -> dict[str, int | None]:
    """Counts in the shape of the REST API."""
    names = ("total", "seen", "allocated", "partly_used", "blocked", "unavailable", "available")
    return dict(zip(names, counts, strict=True))


def sample_frame(now: datetime) -> Frame:
    """A frame with three clusters, one of them in trouble."""
    choices = (
        ClusterChoice("prod-eu", "prod-eu", "?cluster=prod-eu", is_selected=True),
        ClusterChoice("prod-us", "prod-us", "?cluster=prod-us", remark="unreachable"),
        ClusterChoice("lab", "lab", "?cluster=lab", remark="paused"),
    )
    return Frame(
        clusters=choices,
        selected_name="prod-eu",
        all_url="?",
        freshness=Freshness(now - timedelta(seconds=4), "good"),
        banners=sample_banners(now)[:1],
    )


def sample_banners(now: datetime) -> tuple[Banner, ...]:
    """One banner of each kind."""
    return (
        Banner("simulated", "This is the simulated cluster. Nothing here is real.", url="?", url_label="Watch a real one"),
        Banner("paused", "lab is paused. What is shown is as it was then.", since=now - timedelta(hours=5), url="?", url_label="Resume"),
        Banner("stale", "prod-us did not answer. Figures may be old.", since=now - timedelta(minutes=7)),
        Banner("unreachable", "prod-us refuses the connection (connection refused).", since=now - timedelta(minutes=7)),
        Banner("gap", "Changes between 03:02 and 03:09 UTC were not seen, because the API server was away."),
        Banner("reading", "First read of resource slices.", done=4_812, expected=13_500),
        Banner("reading", "First read of resource claims.", done=312),
        Banner(
            "forbidden",
            "We may not read resource claims, so nobody knows who holds what.",
            command="kubectl create clusterrolebinding dradash-reader --clusterrole=dradash-reader --serviceaccount=dradash:dradash",
        ),
        Banner("read-only", "Read-only: pool status requests are off for this cluster.", url="?", url_label="Switch them on"),
    )  # fmt: skip


def sample_rows(now: datetime) -> list[dict[str, Any]]:
    """Rows of the sample table."""
    return [
        {
            "name": name, "driver": driver, "node": node, "devices": devices(*counts),
            "changed_at": now - timedelta(seconds=seconds), "problem": problem,
        }
        for name, driver, node, counts, seconds, problem in ROWS
    ]  # fmt: skip


def sample_list(*, path: str, query: QueryDict) -> ListView:
    """The frame of the sample table."""
    drivers = [
        Choice(row[1], row[1], count) for row, count in zip(ROWS, (31, 12, 9, 40, 2), strict=True)
    ]
    complete = [Choice("true", "complete", 92), Choice("false", "incomplete", 2)]
    filters = (
        Filter("driver", "Driver", drivers, query.get("driver", ""), "any driver"),
        Filter("complete", "Complete", complete, query.get("complete", ""), "complete or not"),
    )
    return list_view(
        id="sample-list",
        path=path,
        query=query,
        columns=COLUMNS,
        noun="pools",
        shown=len(ROWS),
        count=13_504,
        filters=filters,
        next_cursor="sample",
        default_sort="-changed",
        placeholder="node:node-7 memory>=40Gi",
        export=Export("?format=csv", "?format=json", "kubectl get resourceslices -o wide"),
    )


def sample_chart(now: datetime, *, query: QueryDict) -> HistoryChart:
    """A working day with a gap at night and a taint in the afternoon."""
    length = chosen_range(query).length
    count = 96
    moments = [now - length + length * index / (count - 1) for index in range(count)]
    allocated = [round(200 + 90 * math.sin(index / 9)) for index in range(count)]
    blocked = [24 if index % 30 > 12 else 10 for index in range(count)]
    unavailable = [38 if index > 60 else 2 for index in range(count)]
    partly_used = [40] * count
    known = zip(allocated, partly_used, blocked, unavailable, strict=True)
    available = [412 - sum(parts) for parts in known]
    values: dict[str, list[int | float | None]] = {
        "allocated": [*allocated], "partly_used": [*partly_used], "available": [*available],
        "blocked": [*blocked], "unavailable": [*unavailable],
    }  # fmt: skip
    for row in values.values():
        row[20:26] = [None] * 6
    return HistoryChart(
        id="sample-chart",
        title="Devices by state",
        start=moments[0],
        end=moments[-1],
        moments=moments,
        series=state_series(values),
        marks=(
            Mark(moments[61], "36 devices of nic.example.com tainted", "#"),
            Mark(moments[40], "generation 7 of gpu-node-07/gpus"),
        ),
        gaps=(Span(moments[19], moments[26], "API server away"),),
        unit="devices",
    )


PROBLEMS = (
    {"severity": "error", "message": "Pool rack-2-nics is incomplete: 1 of 3 slices seen.", "url": "#", "hint": "The driver on node-12 has not published since its restart."},
    {"severity": "warning", "message": "2 devices of fpga-3 are tainted NoSchedule.", "url": "#", "hint": ""},
    {"severity": "info", "message": "The server counts 1 device fewer: an allocated and tainted device is subtracted twice.", "url": "", "hint": ""},
)  # fmt: skip

MANIFEST = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: gpu-node-07-gpu.example.com-x7k2p
  # written by the driver
  generation: 7
spec:
  driver: gpu.example.com
  nodeName: gpu-node-07
  pool:
    name: gpu-node-07/gpus
    generation: 7
    resourceSliceCount: 1
  devices:
  - name: gpu-0
    attributes:
      gpu.example.com/model:
        string: "H100 80GB"
      gpu.example.com/healthy:
        bool: true
    capacity:
      memory:
        value: 80Gi
"""
