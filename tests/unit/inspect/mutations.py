"""Documents of the cases, broken in all ways that a dump can be: by seed, so that each can be repeated."""

import copy
import json
import random
from typing import TYPE_CHECKING, Any

import yaml

from tests.unit.inspect.cases import CASES, documents

if TYPE_CHECKING:
    from collections.abc import Callable

JUNK: list[Any] = [
    None, True, False, 0, -1, 2**31, 2**63, 2**64, 10**400, 1e308, -0.0, "", "0", "007", "None", "1e999999999",
    "9" * 300, "\x1b[31m", "\u202e", "\ufeff", "\ud83d\ude00", "1Ki", "-5", "1e3", "nan", "../../etc/passwd", [], {}, [[]], [None],
    [{}], {"": {}}, {"value": None}, {"string": 1}, {"int": "1"}, [[[[[[[[[[]]]]]]]]]], {"a": {"b": {"c": {"d": {"e": {}}}}}},
]  # fmt: skip
SCRAPS = [b"\x00", b"\xff\xfe", b"\xc3", b"\x80", b"\x1b]0;x\x07", b"{", b"}", b"[", b"]", b'"', b"'", b":", b": ", b"- ", b"\t",
          b"\r\n", b"&a ", b"*a ", b"!!python/object:os.system x", b"%YAML 9.9\n", b"|\n", b">-\n", b"? ", b"# ", b"NaN", b"\xe2\x80\xa8"]  # fmt: skip


class Mutant:
    """One broken file between two healthy documents."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.is_json = self.random.random() < 0.5

    def content(self, before: dict[str, Any], after: dict[str, Any]) -> bytes:
        body = self._body()
        for _ in range(self.random.randrange(1, 6)):
            self._change(body)
        broken = self._render(body)
        if self.random.random() < 0.6:
            broken = self._scratch(broken)
        between = b"\n" if self.is_json else b"\n---\n"
        return between.join([self._render(before), broken, self._render(after)]) + b"\n"

    def _body(self) -> Any:
        name = self.random.choice(sorted(path.name[:3] for path in CASES.glob("C*.yaml")))
        body = yaml.safe_load(self.random.choice(documents(name)))
        if self.random.random() < 0.2:
            return {"kind": f"{body['kind']}List", "apiVersion": "v1", "items": [body, body]}
        return body

    def _render(self, body: Any) -> bytes:
        if self.is_json:
            indent = self.random.choice([None, 2, 4])
            return json.dumps(body, indent=indent, ensure_ascii=False).encode(
                "utf-8", "surrogatepass"
            )
        text = yaml.safe_dump(
            body, allow_unicode=True, default_flow_style=self.random.random() < 0.2
        )
        return text.encode("utf-8", "surrogatepass")

    def _change(self, body: Any) -> None:
        """Drop, swap, double or fill one member somewhere."""
        place = self._place(body)
        if not place:
            return
        key = self.random.choice(list(place) if isinstance(place, dict) else range(len(place)))
        changes: list[Callable[[], None]] = [
            lambda: place.__delitem__(key),
            lambda: place.__setitem__(key, self._junk()),
            lambda: place.__setitem__(key, [place[key]]),
            lambda: place.__setitem__(key, {"wrapped": place[key]}),
            lambda: place.__setitem__(key, str(place[key])),
            lambda: place.__setitem__(key, self._junk()),
        ]
        if isinstance(place, dict):
            changes.append(lambda: place.__setitem__(str(self._junk())[:40], place[key]))
        else:
            changes.append(lambda: place.append(place[key]))
        self.random.choice(changes)()

    def _junk(self) -> Any:
        """A copy, since later changes may reach into it."""
        return copy.deepcopy(self.random.choice(JUNK))

    def _place(self, body: Any) -> Any:
        """Any object or list within the body."""
        found = [body]
        for each in found:
            inner = each.values() if isinstance(each, dict) else each
            found.extend(child for child in inner if isinstance(child, dict | list))
            if len(found) > 400:
                break
        return self.random.choice([each for each in found if each] or [None])

    def _scratch(self, raw: bytes) -> bytes:
        """Cut it off, cut a piece out, or write something into it."""
        start = self.random.randrange(len(raw) + 1)
        end = min(len(raw), start + self.random.randrange(1, 40))
        scratches = [
            raw[:start],
            raw[:start] + raw[end:],
            raw[:start] + self.random.choice(SCRAPS) + raw[start:],
            raw[:start] + self.random.randbytes(8).replace(b"\n", b"") + raw[end:],
            raw.replace(b"\n", b"\r\n"),
            raw[start:] + raw[:start],
            raw.decode("utf-8", "replace").encode("latin-1", "replace"),
        ]
        return self.random.choice(scratches)
