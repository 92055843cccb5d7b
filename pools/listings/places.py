"""Parameters that several lists have: where a thing is."""

from django.utils.translation import gettext_lazy as _

from ui.parameters import Text

CLUSTER = Text(
    name="cluster",
    field="clusters",
    label=_("cluster"),
    meaning=_("Name or id of a cluster; one that there is not is refused."),
    example="prod-eu",
)
DRIVER = Text(
    name="driver",
    field="drivers",
    label=_("Driver"),
    meaning=_("Name of a driver."),
    example="gpu.example.com",
)
POOL = Text(
    name="pool",
    field="pools",
    label=_("pool"),
    meaning=_("Name of a pool."),
    example="node-7",
)
NAME = Text(
    name="name",
    field="names",
    label=_("name"),
    meaning=_("Name of the object in Kubernetes."),
    example="node-7-gpu.example.com-x7k2p",
)
NODE = Text(
    name="node",
    field="nodes",
    label=_("node"),
    meaning=_("Name of the one node that can use it."),
    example="node-7",
)
