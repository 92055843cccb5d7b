from __future__ import annotations

import os
import subprocess
import sys

import pytest

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")


@pytest.mark.parametrize("what", ["database", "api", pytest.param("disk", marks=needs_root)])
def test_outage_loses_nothing_and_is_said(what: str) -> None:
    """In a process of its own, since its database goes away."""
    played = subprocess.run(
        [sys.executable, "-m", "bench.outages", what, "--seconds", "5"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert (played.returncode, "all is as it should be" in played.stdout) == (0, True), (
        played.stdout + played.stderr
    )
