"""The Celery application: which tasks run when. The tasks themselves belong to the apps."""

import os

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dradash.settings")

app = Celery("dradash")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def _keep_our_logging(**_kwargs: object) -> None:
    """Having a receiver keeps Celery from replacing the logging that the settings configured."""
