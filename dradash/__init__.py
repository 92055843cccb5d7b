"""The parts put together: settings, URLs, Celery, checks, probes and the `dradash` command."""
