from django.urls import path

from api.renderers import OpenAPIYAML
from api.views import details, history, index, lists, objects, schema
from pools.urls import OBJECT_PAGES

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
    *(address for pages in OBJECT_PAGES for address in objects.addresses_of(pages.kind)),
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
