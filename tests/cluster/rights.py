"""The rights that the product is shipped with."""

from pathlib import Path

import yaml

from tests.cluster.client import Document

RIGHTS = Path(__file__).parents[2] / "deploy" / "clusterrole.yaml"
NAMESPACE = ACCOUNT = ROLE = "dradash"


def shipped_rights() -> list[Document]:
    """Role, namespace, ServiceAccount and binding, as a person applies them."""
    return list(yaml.safe_load_all(RIGHTS.read_text()))


def role_without(plural: str) -> Document:
    """The shipped role without one of its resources."""
    (role,) = [each for each in shipped_rights() if each["kind"] == "ClusterRole"]
    for rule in role["rules"]:
        if "resources" in rule:
            rule["resources"] = [name for name in rule["resources"] if name != plural]
    role["rules"] = [rule for rule in role["rules"] if rule.get("resources") != []]
    return role
