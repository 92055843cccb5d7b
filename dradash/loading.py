"""What a process that answers requests does once, when everything of Django is imported."""

import gc

from django.urls import get_resolver


def finish_loading() -> None:
    """Load every view, and take what is loaded out of the garbage collector's sight: it goes through all of it every fifty answers or so."""
    get_resolver().reverse_dict  # noqa: B018 -- loads every view
    gc.collect()
    gc.freeze()
    # An answer makes a few thousand things that refer to each other, and nearly all are gone with it: by default they are gone through
    # four times before.
    gc.set_threshold(10_000)
