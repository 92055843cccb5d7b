"""Representations: what REST framework chooses among and encodes answers with. Problems have a media type of their own."""

from typing import Any

import msgspec
import yaml
from rest_framework.renderers import BaseRenderer


class JSONText(BaseRenderer):
    """Shapes and plain values alike, by msgspec: REST framework's own renderer knows no shapes, and takes many times as long."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None
    ) -> bytes:
        del accepted_media_type, renderer_context
        return msgspec.json.encode(data)


class YAMLText(BaseRenderer):
    """As kubectl prints it: block style, members in the order of the object."""

    media_type = "application/yaml"
    format = "yaml"
    charset = None

    def render(
        self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None
    ) -> bytes:
        del accepted_media_type, renderer_context
        text: str = yaml.dump(
            data, Dumper=_KubernetesDumper, sort_keys=False, allow_unicode=True, width=10_000
        )
        return text.encode()


class _KubernetesDumper(yaml.CSafeDumper):
    """Quotes text that some reader of YAML takes for a number: a quantity such as 1e3, a version such as 0o7."""


def _text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    style = "'" if text[:1] in set("+-.0123456789") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_KubernetesDumper.add_representer(str, _text)


class CSVText(BaseRenderer):
    """Only named here: CSV is streamed by the views, row by row."""

    media_type = "text/csv"
    format = "csv"


class OpenAPIJSON(BaseRenderer):
    """Only named here: the document is encoded once."""

    media_type = "application/vnd.oai.openapi+json"
    format = "openapi-json"


class OpenAPIYAML(BaseRenderer):
    """Only named here: the document is encoded once."""

    media_type = "application/vnd.oai.openapi"
    format = "openapi"
