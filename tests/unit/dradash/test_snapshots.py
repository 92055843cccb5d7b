"""Every address that reads the database does so in one snapshot."""

from tests.addresses import reading_routes, views

# What these read, write or show is no cluster's: people, preferences, and texts that are the same for everyone.
WITHOUT = {
    "/accounts/login/",
    "/accounts/logout/",
    "/i18n/setlang/",
    "/ui/preferences/",
    "/ui/styleguide/",
    "/api/",
    "/api/<anything:rest>",
    "/api/v1/",
    "/api/v1/docs/",
    "/api/v1/openapi.json",
    "/api/v1/openapi.yaml",
    # They write, and lead to a page.
    "/clusters/<int:cluster_id>/pause/",
    "/clusters/<int:cluster_id>/resume/",
    "/clusters/<int:cluster_id>/pool-status-requests/",
}


def test_every_address_reads_one_snapshot_or_nothing_of_a_cluster() -> None:
    every = {path for path, _ in views()}

    assert every - reading_routes() == WITHOUT
