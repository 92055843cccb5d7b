from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class ObjectsConfig(AppConfig):
    name = "objects"

    def ready(self) -> None:
        """Have each app say what it makes of changes."""
        autodiscover_modules("consumers")
