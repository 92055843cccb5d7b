from importlib.util import find_spec

from django.contrib.auth import views as auth_views
from django.urls import include, path

from dradash.signin import SignInView

urlpatterns = [
    path("accounts/login/", SignInView.as_view(), name="login"),
    path("accounts/logout/", auth_views.LogoutView.as_view(), name="logout"),
    path("i18n/", include("django.conf.urls.i18n")),
]
urlpatterns += [
    path(prefix, include(module))
    for prefix, module in (
        ("clusters/", "clusters.urls"),
        ("api/v1/", "api.urls"),
        # Other addresses under /api/ get the API's kind of answer.
        ("api/", "api.missing_urls"),
        ("ui/", "ui.urls"),
        ("", "pools.urls"),
        ("", "dashboard.urls"),
    )
    if find_spec(module)
]

handler400 = "dradash.errors.bad_request"
handler500 = "dradash.errors.server_error"
