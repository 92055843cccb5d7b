"""How long to wait after a failure."""

from typing import Final

from kube.failures import KubeFailure

FIRST_SECONDS: Final = 1.0
LONGEST_SECONDS: Final = 60.0


def delay_seconds(failure: KubeFailure, *, failures_in_a_row: int, chance: float) -> float:
    """Doubles from 1 to 60 s with full jitter; never less than the server asked for.

    `chance` is a random number from 0 to 1, so that many clients do not come back together.
    """
    longest: float = min(
        LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** min(max(failures_in_a_row - 1, 0), 16)
    )
    return max(longest * chance, failure.retry_after_seconds or 0.0)
