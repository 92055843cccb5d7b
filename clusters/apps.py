from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class ClustersConfig(AppConfig):
    name = "clusters"

    def ready(self) -> None:
        """Have each app declare the kinds that it keeps."""
        autodiscover_modules("kinds")
