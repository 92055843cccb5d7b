from django.urls import path

from clusters.views import pages

app_name = "clusters"

urlpatterns = [
    path("", pages.cluster_list, name="list"),
    path("status/", pages.status, name="status"),
    path("<int:cluster_id>/", pages.cluster_detail, name="detail"),
    path("<int:cluster_id>/pause/", pages.cluster_pause, name="pause"),
    path("<int:cluster_id>/resume/", pages.cluster_resume, name="resume"),
    path(
        "<int:cluster_id>/pool-status-requests/",
        pages.cluster_pool_status,
        name="pool_status",
    ),
]
