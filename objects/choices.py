from typing import Final

from django.db import models
from django.utils.translation import gettext_lazy as _


class Op(models.IntegerChoices):
    """What happened to an object. `RESYNC` is a difference that a full read found, so its moment is not exact."""

    ADDED = 1, _("added")
    MODIFIED = 2, _("modified")
    DELETED = 3, _("deleted")
    RESYNC_ADDED = 4, _("found added")
    RESYNC_MODIFIED = 5, _("found modified")
    RESYNC_DELETED = 6, _("found deleted")


DELETIONS: Final = frozenset({Op.DELETED, Op.RESYNC_DELETED})
