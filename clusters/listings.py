from django.utils.translation import gettext_lazy as _

from clusters import queries
from clusters.choices import CLUSTER
from clusters.models import Cluster
from clusters.queries import ClusterFilter
from dra import shapes
from ui.listing import Listing
from ui.parameters import Text

# For the API; the page of clusters shows them in another form.
CLUSTERS: Listing[Cluster, ClusterFilter] = Listing(
    id="cluster-list",
    title=_("Clusters"),
    noun=_("clusters"),
    subject=CLUSTER,
    wanted=ClusterFilter,
    parameters=(
        Text(
            name="name",
            field="names",
            label=_("name"),
            meaning=_("Name of a cluster."),
            example="prod-eu",
        ),
    ),
    orders={"name": ("name", "id")},
    default_order="name",
    columns=(),
    query=queries.wanted_clusters,
    shape=shapes.Cluster,
    api_url="api:clusters",
    rows="",
)
