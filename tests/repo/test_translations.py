"""A language is offered when every text of the pages is translated into it; half-translated pages help nobody."""

from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.utils.translation import to_locale

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "locale" / "en" / "LC_MESSAGES" / "django.po"

Text = tuple[str | None, str]


def texts() -> set[Text]:
    """All there is to translate, by context and English text."""
    return {(entry.msgctxt, entry.msgid) for entry in polib.pofile(str(SOURCE))}


def missing(folder: Path, language: str) -> set[Text]:
    """What has no translation that is sure; all of it where there is no catalogue."""
    catalogue = folder / to_locale(language) / "LC_MESSAGES" / "django.po"
    entries = polib.pofile(str(catalogue)) if catalogue.is_file() else []
    return texts() - {(entry.msgctxt, entry.msgid) for entry in entries if entry.translated()}


def write_catalogue(folder: Path, translations: dict[Text, str]) -> None:
    catalogue = polib.POFile()
    catalogue.extend(
        polib.POEntry(msgctxt=context, msgid=text, msgstr=translated)
        for (context, text), translated in translations.items()
    )
    target = folder / "zh_Hans" / "LC_MESSAGES" / "django.po"
    target.parent.mkdir(parents=True)
    catalogue.save(str(target))


@pytest.mark.parametrize("untranslated", [set(), {(None, "Overview")}])
def test_text_without_translation_is_found(tmp_path: Path, untranslated: set[Text]) -> None:
    translations = dict.fromkeys(texts() - untranslated, "译文")
    write_catalogue(tmp_path, translations)

    assert missing(tmp_path, "zh-hans") == untranslated


def test_language_without_a_catalogue_lacks_everything(tmp_path: Path) -> None:
    assert missing(tmp_path, "zh-hans") == texts()


def test_every_language_that_is_offered_is_whole() -> None:
    lacking = {
        language: texts
        for language, _ in settings.LANGUAGES
        if language != "en" and (texts := missing(REPOSITORY / "locale", language))
    }

    assert lacking == {}
