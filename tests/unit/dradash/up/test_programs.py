import configparser
import shlex
from pathlib import Path

import pytest

from dradash.up import programs
from dradash.up.address import Address
from dradash.up.folder import HomeFolder
from dradash.up.programs import Program
from tests.series import for_each

HOME = HomeFolder(Path("/data/100%"))
ADDRESS = Address("127.0.0.1", 8000)


def read(text: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    return parser


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({}, ["postgres", "redis"]),
        ({"DATABASE_URL": "postgresql://db/x"}, ["redis"]),
        ({"REDIS_URL": "redis://redis"}, ["postgres"]),
        ({"DATABASE_URL": "postgresql://db/x", "REDIS_URL": "redis://redis"}, []),
    ],
)
def test_servers_are_private_only_where_none_is_named(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], names: list[str]
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("REDIS_URL", raising=False)
    for_each(given, lambda name: monkeypatch.setenv(name, given[name]))

    assert [program.name for program in programs.servers(HOME)] == names


def test_product_waits_for_what_it_needs() -> None:
    waits = {program.name: program.after for program in programs.product(HOME, ADDRESS)}

    assert waits == {
        "web": HOME.run / "pages-ready",
        "worker": HOME.run / "work-ready",
        "starter": None,
    }


def test_supervisor_configuration_starts_groups_in_their_order() -> None:
    text = programs.supervisor_configuration(
        HOME,
        {"first": [Program("a", ["/a"])], "second": [Program("b", ["/b"]), Program("c", ["/c"])]},
    )

    written = read(text)

    assert [dict(written[name]) for name in ("group:first", "group:second")] == [
        {"programs": "a", "priority": "0"},
        {"programs": "b,c", "priority": "1"},
    ]


def test_supervisor_configuration_keeps_odd_arguments_whole() -> None:
    text = programs.supervisor_configuration(
        HOME, {"only": [Program("odd", ["/bin/odd", "two words", "50%", "it's", ""])]}
    )

    # The supervisor replaces %% by % and then splits as a shell would.
    command = shlex.split(read(text)["program:odd"]["command"].replace("%%", "%"))

    assert command[-7:] == ["odd", "/data/100%/run", "/bin/odd", "two words", "50%", "it's", ""]


def test_supervisor_configuration_keeps_what_the_starter_prints_out_of_files() -> None:
    text = programs.supervisor_configuration(HOME, {"only": [Program("starter", ["/s"])]})

    assert read(text)["program:starter"]["stdout_logfile"] == "NONE"
