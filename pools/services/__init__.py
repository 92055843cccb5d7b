"""Writes about pools: what slices, claims and taint rules make dirty, the figures that follow, and what servers answered."""
