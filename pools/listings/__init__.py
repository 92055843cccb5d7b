"""The lists about pools, each declared once (see ui.listing)."""

from pools.listings.device_list import DEVICES
from pools.listings.pool_list import POOLS
from pools.listings.slice_list import SLICES
from pools.listings.status_request_list import STATUS_REQUESTS

__all__ = ["DEVICES", "POOLS", "SLICES", "STATUS_REQUESTS"]
