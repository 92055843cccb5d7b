from django.contrib.auth import views as auth_views
from django.urls import include, path

from dradash.signin import SignInView

urlpatterns = [
    path("accounts/login/", SignInView.as_view(), name="login"),
    path("accounts/logout/", auth_views.LogoutView.as_view(), name="logout"),
    path("i18n/", include("django.conf.urls.i18n")),
    # The navigation has its entries in this order.
    path("", include("dashboard.urls")),
    path("clusters/", include("clusters.urls")),
    # The namespace is the version; links are made by the name of the app, `api:pools`.
    path("api/v1/", include("api.urls", namespace="v1")),
    # Other addresses under /api/ get the API's kind of answer.
    path("api/", include("api.missing_urls")),
    path("ui/", include("ui.urls")),
    path("", include("pools.urls")),
]

handler400 = "dradash.errors.bad_request"
handler403 = "dradash.errors.permission_denied"
handler404 = "dradash.errors.not_found"
handler500 = "dradash.errors.server_error"
