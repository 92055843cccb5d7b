from django.urls import path, register_converter
from django.urls.converters import StringConverter

from api.views.missing import Missing


class AnythingConverter(StringConverter):
    """Also what has a line break in it, which the converter `path` does not take."""

    regex = r"[\s\S]+"


register_converter(AnythingConverter, "anything")

urlpatterns = [
    path("", Missing.as_view(), name="missing"),
    path("<anything:rest>", Missing.as_view(), name="missing"),
]
