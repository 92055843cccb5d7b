"""Hours of a pool: least, most and time-weighted mean of its figures, from samples, with gaps as not known."""

from __future__ import annotations

from typing import Final

from objects.services.partitions import Partitioned

SAMPLES: Final = (Partitioned("pools_poolsample"), Partitioned("pools_poolhour", by="month"))
