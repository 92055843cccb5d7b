"""Who reads, and when, for tests that call queries themselves."""

from tests.factories.api_rows import NOON
from ui.snapshot import Snapshot, Viewer

SNAPSHOT = Snapshot(Viewer(user_id=1, role="viewer"), now=NOON)
