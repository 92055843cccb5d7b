"""Every variable that is read is explained in docs/configuration.md and named in .env.example, and no other is."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
READERS = (
    "dradash/settings.py",
    "dradash/config.py",
    "dradash/up/command.py",
    "dradash/up/preparation.py",
)
CALL = re.compile(
    r"""(?:env|FileAwareEnv\(.*?\))\.(?:str|int|bool|list|path)\(\s*"([A-Z_]+)\"|environ\.get\("([A-Z_]+)\""""
)
# Read by kubectl's libraries, by the platform, or set by this project for itself.
NOT_OURS = {"KUBERNETES_SERVICE_HOST"}


def read_by_code() -> set[str]:
    found = set()
    for name in READERS:
        text = (REPOSITORY / name).read_text()
        prefix = "DRADASH_" if name == "dradash/config.py" else ""
        for match in CALL.finditer(text):
            variable = match[1] or match[2]
            shared = variable in {"SECRET_KEY", "DATABASE_URL", "REDIS_URL"}
            found.add(variable if shared else prefix + variable)
    return found - NOT_OURS


def explained() -> set[str]:
    text = (REPOSITORY / "docs" / "configuration.md").read_text()
    return set(re.findall(r"^\| `([A-Z_]+)` \|", text, re.MULTILINE))


def in_example() -> set[str]:
    text = (REPOSITORY / ".env.example").read_text()
    return set(re.findall(r"^(?:# )?([A-Z_]+)=", text, re.MULTILINE))


def test_configuration_page_explains_every_variable() -> None:
    assert "DRADASH_RETENTION_DAYS" in read_by_code()
    assert explained() == read_by_code()


def test_example_names_every_variable() -> None:
    only_compose = {"POSTGRES_PASSWORD", "DRADASH_USER"}

    assert in_example() == read_by_code() | only_compose
