"""`dradash sync`: one pass over every cluster now."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from clusters.models import Cluster
from ingest import services
from ui.words import words_of


def _now() -> datetime:
    return datetime.now(UTC)


class Command(BaseCommand):
    help = "Read every watched cluster once, now, and say what was found."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--cluster", help="only the cluster of this name")

    def handle(self, *_args: Any, cluster: str | None, **_options: Any) -> None:
        services.ensure_clusters(settings.DRADASH, now=_now())
        wanted = Cluster.objects.filter(is_watched=True)
        if cluster is not None:
            wanted = wanted.filter(name=cluster)
        if not wanted:
            raise CommandError(
                "No such cluster is watched." if cluster else "No cluster is watched."
            )
        failed = [each.name for each in wanted if not self._sync(each)]
        if failed:
            raise CommandError(f"Not everything could be read of: {', '.join(failed)}.")

    def _sync(self, cluster: Cluster) -> bool:
        result = services.sync_cluster(cluster.pk, seconds=0, clock=_now)
        self.stdout.write(self.style.MIGRATE_HEADING(cluster.name))
        if result.is_busy:
            self.stdout.write("  a worker is reading it at this moment")
            return True
        if cluster.is_paused:
            self.stdout.write("  paused")
            return True
        if result.failure:
            self.stdout.write(f"  {result.failure}")
            return False
        for kind in cluster.kinds.order_by("kind"):
            tally = (result.tallies or {}).get(kind.kind)
            changes = tally.changes if tally else 0
            known = "" if kind.object_count is None else f", {kind.object_count} in all"
            said = f"  {words_of(kind.failure)}" if kind.failure else ""
            self.stdout.write(
                f"  {kind.kind}: {kind.get_state_display()}, {changes} changed{known}{said}"
            )
        return not cluster.kinds.filter(state="failing").exists()
