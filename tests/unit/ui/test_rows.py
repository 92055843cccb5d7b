import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jinja2
import pytest
from django.conf import settings
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.translation.template import templatize

from tests.pages import Element, parse
from ui.rows import age, environment, render_part
from ui.templatetags.ui import state_badge

BASE = Path(settings.BASE_DIR) / "templates"
FOLDERS = (BASE / "rows", BASE / "frame")
TEMPLATES = sorted(path for folder in FOLDERS for path in folder.rglob("*.html"))
WORDS = re.compile(r'_\(("[^"]*")\)')
HOSTILE = "\"'><img src=x onerror=alert(1)>{{ 7 }}"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def row_environment(**templates: str) -> jinja2.Environment:
    return environment(loader=jinja2.DictLoader(templates), autoescape=False)


def elements(html: str) -> list[tuple[str, dict[str, str], str]]:
    root: Element = parse(HttpResponse(html))
    return [(each.tag, dict(each.attributes), each.text) for each in root.all()]


def test_row_escapes_whatever_it_is_told_about_escaping() -> None:
    made = row_environment(row='<td title="{{ text }}">{{ text }}</td>').get_template("row")

    escaped = "&#34;&#39;&gt;&lt;img src=x onerror=alert(1)&gt;{{ 7 }}"
    assert made.render(text=HOSTILE) == f'<td title="{escaped}">{escaped}</td>'


def test_row_with_a_name_that_is_not_there_raises() -> None:
    made = row_environment(row="{{ line.nosuch }}").get_template("row")

    with pytest.raises(jinja2.UndefinedError, match="nosuch"):
        made.render(line={})


@pytest.mark.parametrize(
    ("text", "url", "namespace"),
    [
        ("node-7", "", ""),
        ("ip-10-0-128-203.eu-central-1.compute.internal", "/pools/7/", ""),
        ("train-0", "/x/", "team-ml"),
        (HOSTILE, f"/pools/?q={HOSTILE}", HOSTILE),
    ],
)
def test_name_in_a_row_is_the_name_of_other_pages(text: str, url: str, namespace: str) -> None:
    row = render_part("components.html", "name", text, url, namespace)

    context = {"text": text, "url": url, "namespace": namespace}
    assert elements(row) == elements(render_to_string("components/name.html", context))


@pytest.mark.parametrize(
    ("code", "css_class"),
    [("allocated", "state state-allocated"), (HOSTILE, "state state-unknown")],
)
def test_badge_of_a_state_has_its_word_and_escapes_it(code: str, css_class: str) -> None:
    (tag, attributes, text), *_icon = elements(state_badge(code))

    assert (tag, attributes["class"], text) == ("span", css_class, code)


def test_badge_of_a_device_that_is_partly_used_says_both() -> None:
    found = elements(state_badge("allocated", is_partly_used=True))

    assert [text for tag, _attributes, text in found if tag == "span"] == [
        "allocated",
        "partly used",
    ]


@pytest.mark.parametrize(
    ("moment", "text"), [(NOW - timedelta(seconds=4), "4 s ago"), (None, "unknown")]
)
def test_age_in_a_row_is_counted_from_the_answer(moment: datetime | None, text: str) -> None:
    ((_tag, _attributes, shown),) = elements(age(moment, NOW))

    assert shown == text


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(BASE)))
def test_words_of_rows_are_found_for_translation(path: Path) -> None:
    """What makemessages makes of a template before xgettext reads it; a word inside of a call would be lost."""
    source = path.read_text()

    assert Counter(WORDS.findall(templatize(source))) == Counter(WORDS.findall(source))


def test_words_of_rows_are_looked_for() -> None:
    texts = "".join(path.read_text() for path in TEMPLATES)

    assert {'"nothing"', '"by selector"', '"admin access"'} <= set(WORDS.findall(texts))
