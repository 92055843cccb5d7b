import stat
from pathlib import Path

import pytest

from dradash.up import folder
from dradash.up.failure import StartFailure
from dradash.up.folder import HomeFolder


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


def test_prepare_makes_folder_and_key_for_their_owner_only(tmp_path: Path) -> None:
    home = HomeFolder(tmp_path / "new" / "home")

    folder.prepare(home)

    assert (mode(home.path), mode(home.run), mode(home.path / "secret_key")) == (
        "0o700",
        "0o700",
        "0o600",
    )


def test_prepare_closes_a_folder_that_others_could_read(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    folder.prepare(HomeFolder(tmp_path))

    assert mode(tmp_path) == "0o700"


def test_prepare_again_keeps_the_key(tmp_path: Path) -> None:
    home = HomeFolder(tmp_path)
    folder.prepare(home)
    made = (tmp_path / "secret_key").read_text()

    folder.prepare(home)

    assert (tmp_path / "secret_key").read_text() == made
    assert len(made) >= 50


def test_prepare_where_a_file_is_in_the_way_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StartFailure, match=r"cannot be used: .*DRADASH_HOME=/path/of/yours"):
        folder.prepare(HomeFolder(tmp_path / "file" / "home"))


def test_held_folder_refuses_a_second_start(tmp_path: Path) -> None:
    home = HomeFolder(tmp_path)
    folder.prepare(home)

    with (
        folder.held(home),
        pytest.raises(StartFailure, match=r"already runs with the data in .* \(process \d+\)"),
        folder.held(home),
    ):
        pytest.fail("two processes hold one folder")


def test_held_folder_is_free_afterwards(tmp_path: Path) -> None:
    home = HomeFolder(tmp_path)
    folder.prepare(home)

    with folder.held(home):
        pass

    with folder.held(home):
        assert (home.run / "lock").read_text().isdecimal()
