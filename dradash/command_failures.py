"""What a command says when something that it needs is not there: what is wrong, and what to do. Bugs are not among it."""

import errno

import psycopg
from django.db import DatabaseError, InterfaceError
from environs import EnvError
from redis.exceptions import RedisError

from dradash import config
from dradash.up.failure import StartFailure

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_NOT_OURS = {errno.EACCES, errno.EPERM, errno.EROFS}


def explanation(error: BaseException) -> str | None:
    """Words for the person at the terminal; None for what only a traceback explains."""
    match error:
        case EnvError() | StartFailure():
            return str(error)
        case DatabaseError() | InterfaceError() | psycopg.Error():
            return _of_postgres(error)
        case RedisError():
            return f"Redis does not answer: {_first_line(error)}. {_start('REDIS_URL')}"
        case EOFError():
            return "There is nobody to answer the question. Run it in a terminal."
        case OSError():
            return _of_system(error)
        case _:
            return None


def _of_postgres(error: Exception) -> str | None:
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    match cause:
        case psycopg.errors.UndefinedTable() | psycopg.errors.UndefinedColumn():
            return "The tables are not those of this version of DRA-Dash. Run `dradash migrate` first."
        case psycopg.OperationalError(sqlstate=None) | psycopg.InterfaceError():
            return f"Postgres does not answer: {_first_line(error)}. {_start('DATABASE_URL')}"
        case psycopg.OperationalError():
            return f"Postgres cannot do it: {_first_line(error)}. Its log says more."
        case _:
            return None


def _start(variable: str) -> str:
    given = {"DATABASE_URL": config.given_database_url, "REDIS_URL": config.given_redis_url}
    if given[variable]():
        return f"Start it, or correct {variable}."
    return f"Start DRA-Dash with `make run`; if it runs, set DRADASH_HOME or {variable} here as it is there."


def _of_system(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    said = f"{place}{error.strerror or error}."
    if error.errno in _NO_ROOM:
        return f"{said} Make room and try again."
    if error.errno in _NOT_OURS:
        return f"{said} Run it as the user whom that belongs to."
    return said


def _first_line(error: BaseException) -> str:
    """Without what psycopg puts before libpq's own words."""
    line = str(error).partition("\n")[0].rstrip(".: ")
    return line.removeprefix("connection is bad: ").removeprefix("connection failed: ")
