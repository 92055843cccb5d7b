from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ingest.channel import Channel
from ingest.messages import CursorMoved

if TYPE_CHECKING:
    from ingest.messages import Message

MOVED = CursorMoved("Node", "7")


def test_whoever_waits_for_a_message_is_woken_when_the_channel_is_closed() -> None:
    channel = Channel(most_bytes=1)
    got: list[Message | None] = []
    waiting = threading.Thread(
        target=lambda: got.append(channel.get(timeout=600)), name="waits", daemon=True
    )
    waiting.start()

    channel.close()

    waiting.join(20)
    assert got == [None]


def test_closed_channel_gives_what_it_still_has() -> None:
    channel = Channel(most_bytes=1)
    channel.put(MOVED)

    channel.close()

    assert [channel.get(timeout=0), channel.get(timeout=0)] == [MOVED, None]
