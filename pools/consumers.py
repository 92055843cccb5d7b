"""What is made of each transaction's changes."""

from objects.services.changes import register
from pools.services import samples

register(samples.CONSUMER)
