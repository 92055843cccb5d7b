"""What is made of each transaction's changes."""

from objects.services.changes import tell
from pools.services import samples

tell(samples.CONSUMER)
