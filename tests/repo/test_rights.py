"""What may be read and why: the registry of kinds, the ClusterRole and the README say the same."""

import re
from pathlib import Path
from typing import Any

import yaml

from clusters.registry import watched_kinds
from kube.kinds import RESOURCE_POOL_STATUS_REQUEST

REPOSITORY = Path(__file__).resolve().parents[2]
README_RIGHT = re.compile(r"^\| ([a-z, ]+) on ([a-z, ]+) \|", re.MULTILINE)


def needed() -> set[tuple[str, str, str]]:
    kinds = [*(entry.kind for entry in watched_kinds()), RESOURCE_POOL_STATUS_REQUEST]
    return {(kind.group, kind.plural, verb) for kind in kinds for verb in kind.verbs}


def granted() -> set[tuple[str, str, str]]:
    documents = yaml.safe_load_all((REPOSITORY / "deploy" / "clusterrole.yaml").read_text())
    rules: list[dict[str, Any]] = next(documents)["rules"]
    return {
        (group, resource, verb)
        for rule in rules
        # A right to one named object is not one to its kind.
        if "resourceNames" not in rule
        for group in rule.get("apiGroups", ())
        for resource in rule.get("resources", ())
        for verb in rule["verbs"]
    }


def test_cluster_role_grants_what_the_kinds_need_and_nothing_else() -> None:
    assert granted() == needed()


def test_readme_names_what_is_more_than_to_list_and_watch() -> None:
    lines = README_RIGHT.findall((REPOSITORY / "README.md").read_text())
    told = {
        (plural, verb)
        for verbs, plurals in lines
        for plural in plurals.split(", ")
        for verb in verbs.split(", ")
    }

    assert {
        (plural, verb) for _, plural, verb in needed() if verb not in {"list", "watch"}
    } <= told
