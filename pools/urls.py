from django.urls import path

from pools.views import (
    device_classes,
    device_detail,
    device_list,
    nodes,
    pool_detail,
    pool_list,
    slice_detail,
    slice_list,
    status_request_detail,
    status_request_list,
)

app_name = "pools"

# Kinds that are shown by their declaration; the API has the same.
OBJECT_PAGES = (nodes.PAGES, device_classes.PAGES)

# The navigation has its entries in this order.
urlpatterns = [
    path("pools/", pool_list.pool_list, name="list"),
    path("pools/<int:pool_id>/", pool_detail.pool_detail, name="detail"),
    path("devices/", device_list.device_list, name="device_list"),
    path("devices/<int:device_id>/", device_detail.device_detail, name="device_detail"),
    *(address for pages in OBJECT_PAGES for address in pages.addresses()),
    path("resource-slices/", slice_list.slice_list, name="slice_list"),
    path("resource-slices/<int:object_id>/", slice_detail.slice_detail, name="slice_detail"),
    path("pool-status-requests/", status_request_list.status_list, name="status_list"),
    path(
        "pool-status-requests/<int:request_id>/",
        status_request_detail.status_detail,
        name="status_detail",
    ),
]
