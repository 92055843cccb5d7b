"""The app of the collection."""

from django.apps import AppConfig


class IngestConfig(AppConfig):
    """The collection."""

    name = "ingest"
