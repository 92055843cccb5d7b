from django.urls import path

from api.views.missing import Missing

urlpatterns = [
    path("", Missing.as_view(), name="missing"),
    path("<path:rest>", Missing.as_view(), name="missing"),
]
