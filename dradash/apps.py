from django.apps import AppConfig


class DradashConfig(AppConfig):
    name = "dradash"

    def ready(self) -> None:
        from dradash import checks  # noqa: F401, PLC0415 -- registers the checks, which need the app registry
