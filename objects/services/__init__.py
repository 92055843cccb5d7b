"""Writes to the object log: changes, bodies, checkpoints, partitions. Each function is one step of its caller's transaction."""
