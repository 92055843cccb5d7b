"""What every object has that is shown as a thing of its own, whatever its kind."""

from typing import Annotated

from msgspec import Meta, Struct

from dra.shapes.members import ClusterId, ClusterName, Id, Moment, Url
from dra.shapes.parts import Problems


class NamedObject(Struct, frozen=True, kw_only=True):
    """An object that has a name of its own in its cluster."""

    id: Id
    url: Url
    cluster: ClusterName
    cluster_id: ClusterId
    name: Annotated[str, Meta(description="Its name in the cluster.", examples=["node-7"])]
    uid: Annotated[
        str,
        Meta(
            description="Uid in Kubernetes; another one when it was made anew.",
            examples=["7e0c2f0a-3c0e-4ab7-9f53-4d9b7d5b4b1c"],
        ),
    ]
    created_at: Annotated[
        Moment | None, Meta(description="When the cluster made it; null when it does not say.")
    ]
    changed_at: Annotated[Moment, Meta(description="When its latest change was seen.")]
    vanished_at: Annotated[
        Moment | None, Meta(description="When it was missed; null while it is in the cluster.")
    ]
    observed_at: Annotated[
        Moment | None,
        Meta(
            description="The latest moment for which the cluster's objects of this kind were known; null: never yet.",
            examples=["2026-03-01T12:00:00Z"],
        ),
    ]
    problems: Problems
