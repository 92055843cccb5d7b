from django.urls import path

from api.renderers import OpenAPIYAML
from api.views import details, device_classes, history, index, lists, nodes, schema

app_name = "api"

urlpatterns = [
    path("", index.Index.as_view(), name="index"),
    path("openapi.json", schema.OpenAPIDocument.as_view(), name="openapi"),
    path(
        "openapi.yaml",
        schema.OpenAPIDocument.as_view(renderer_classes=(OpenAPIYAML,)),
        name="openapi-yaml",
    ),
    path("docs/", schema.docs, name="docs"),
    path("clusters/", lists.ClusterList.as_view(), name="clusters"),
    path("clusters/<int:id>/", details.ClusterDetail.as_view(), name="cluster"),
    path("device-classes/", device_classes.DeviceClassList.as_view(), name="device-classes"),
    path(
        "device-classes/<int:id>/",
        device_classes.DeviceClassDetail.as_view(),
        name="device-class",
    ),
    path("nodes/", nodes.NodeList.as_view(), name="nodes"),
    path("nodes/<int:id>/", nodes.NodeDetail.as_view(), name="node"),
    path("pools/", lists.PoolList.as_view(), name="pools"),
    path("pools/<int:id>/", details.PoolDetail.as_view(), name="pool"),
    path("pools/<int:id>/history/", history.PoolHistory.as_view(), name="pool-history"),
    path("devices/", lists.DeviceList.as_view(), name="devices"),
    path("devices/<int:id>/", details.DeviceDetail.as_view(), name="device"),
    path("resource-slices/", lists.ResourceSliceList.as_view(), name="resource-slices"),
    path(
        "resource-slices/<int:id>/", details.ResourceSliceDetail.as_view(), name="resource-slice"
    ),
    path(
        "pool-status-requests/",
        lists.PoolStatusRequestList.as_view(),
        name="pool-status-requests",
    ),
    path(
        "pool-status-requests/<int:id>/",
        details.PoolStatusRequestDetail.as_view(),
        name="pool-status-request",
    ),
]
