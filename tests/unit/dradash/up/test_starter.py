import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from dradash.up import starter
from dradash.up.address import free_local_port
from dradash.up.failure import StartFailure


def test_wait_for_postgres_that_is_away_says_so_soon_and_then_gives_up(
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = f"postgresql://ada@127.0.0.1:{free_local_port()}/fleet"

    with pytest.raises(StartFailure, match=r"^Postgres does not answer: .+ DATABASE_URL\.$"):
        starter.wait_for(
            "Postgres",
            "DATABASE_URL",
            lambda: psycopg.connect(url),
            is_private=False,
            silent_seconds=0.1,
            named_seconds=0.5,
        )

    said = capsys.readouterr().out.splitlines()
    assert (len(said), said[0][:51]) == (1, "Waiting for Postgres, which DATABASE_URL names: con")


def test_wait_for_redis_that_is_away_gives_up_and_names_the_variable() -> None:
    with (
        redis.Redis(port=free_local_port(), retry=Retry(NoBackoff(), 0)) as client,
        pytest.raises(StartFailure, match=r"^Redis does not answer: .+ correct REDIS_URL\.$"),
    ):
        starter.wait_for("Redis", "REDIS_URL", client.ping, is_private=False, named_seconds=0.2)


def test_wait_for_a_server_that_answers_says_nothing(
    capsys: pytest.CaptureFixture[str], redis_client: redis.Redis
) -> None:
    starter.wait_for("Redis", "REDIS_URL", redis_client.ping, is_private=False)

    assert capsys.readouterr().out == ""
