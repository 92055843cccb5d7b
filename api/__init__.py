"""The REST API under /api/v1/: what the pages show, for programs. Reads only; every figure comes from the apps' queries."""
