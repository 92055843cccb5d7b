"""Words of the catalogue in the language of whoever reads the page or asks the API."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from django.utils.translation import get_language, gettext, ngettext

from dra import words
from dra.catalogue import Language
from kube.kinds import plural_of
from ui.formatting import exact_time

_LANGUAGE: Final = Language(gettext, ngettext)


def words_of(stored: Mapping[str, Any]) -> str:
    """The words of what is stored of a statement: its code and parameters. Of nothing there are none."""
    if not stored:
        return ""
    return words.words_of(stored["code"], stored["parameters"], language=_LANGUAGE)


def all_words_of(stored: Iterable[Mapping[str, Any]]) -> str:
    """The words of several statements, one after the other."""
    return " ".join(words_of(each) for each in stored)


def gap_words(reason: str, failure: Mapping[str, Any]) -> str:
    """Why changes may have been missed, and what failed, if anything did."""
    return all_words_of([{"code": reason, "parameters": {}}, failure]).strip()


def cluster_words(name: str, replaced_at: datetime | None) -> str:
    """What a cluster is called; one of whose name is another's now says until when it was there."""
    if replaced_at is None:
        return name
    return gettext("%(name)s (until %(moment)s)") % {
        "name": name,
        "moment": exact_time(replaced_at),
    }


def source_words(versions: Mapping[str, str], observed_at: datetime | None) -> str:
    """What figures of one cluster were computed from, of which all was known at a moment."""
    if versions:
        return _version_words(tuple(versions.items()), get_language())
    if observed_at is None:
        return gettext("nothing read yet")
    return gettext("computed from what is kept of then")


# The same for each row of a cluster.
@lru_cache(maxsize=256)
def _version_words(versions: tuple[tuple[str, str], ...], _language: str | None) -> str:
    said = gettext("%(kinds)s at %(version)s")
    listed = ", ".join(
        said % {"kinds": plural_of(kind), "version": version} for kind, version in versions
    )
    return gettext("computed from %(versions)s") % {"versions": listed}


def remedy_of(code: str) -> str:
    """What to do about a problem; empty where there is nothing."""
    entry = words.CATALOGUE.get(code)
    return gettext(entry.remedy) if entry and entry.remedy else ""


def figure_of(difference: Mapping[str, Any]) -> str:
    """What the figure is called that differs."""
    named = difference.get("parameters", {})
    return words.figure_words(difference["field"], named, language=_LANGUAGE)


def reason_of(difference: Mapping[str, Any]) -> str:
    """Why a figure of the server is another one than ours."""
    said_before: str | None = difference.get("said_before")
    return said_before or words.reason_words(difference["reasons"], language=_LANGUAGE)
