from pathlib import Path

import pytest

from dradash.up import command


def test_up_with_wrong_port_says_so_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    code = command.main(["--port", "http"])

    assert (code, capsys.readouterr().err) == (
        1,
        "\nPORT is 'http', which is no port. Use 1 to 65535.\n",
    )


def test_up_with_wrong_setting_names_it_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DRADASH_RETENTION_DAYS", "long")

    code = command.main([])

    assert (code, "DRADASH_RETENTION_DAYS" in capsys.readouterr().err) == (1, True)


def test_up_with_data_of_another_postgres_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("DATABASE_URL")
    monkeypatch.delenv("REDIS_URL")
    monkeypatch.setenv("DRADASH_HOME", str(tmp_path))
    monkeypatch.setenv("DRADASH_SIMULATED", "false")  # so that it is put back
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("15\n")

    code = command.main(["--port", "25191", "--simulated"])

    assert (code, capsys.readouterr().err) == (
        1,
        (
            f"\nThe data in {tmp_path}/postgres was written by Postgres 15, and this DRA-Dash brings "
            "Postgres 18. Move the folder away to start empty, or run Postgres 15 on it and set "
            "DATABASE_URL.\n"
        ),
    )
