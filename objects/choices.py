from typing import Final

from django.db import models
from django.utils.translation import gettext_lazy as _


class Op(models.TextChoices):
    """What happened to an object. `resync` is a difference that a full read found, so its moment is not exact."""

    ADDED = "added", _("added")
    MODIFIED = "modified", _("modified")
    DELETED = "deleted", _("deleted")
    RESYNC_ADDED = "resync_added", _("found added")
    RESYNC_MODIFIED = "resync_modified", _("found modified")
    RESYNC_DELETED = "resync_deleted", _("found deleted")


DELETIONS: Final = frozenset({Op.DELETED, Op.RESYNC_DELETED})
