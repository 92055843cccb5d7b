"""What a person reads on a page: its answer, its tables row by row, its links; taken from the HTML that was sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Protocol

_BLOCKS = {"td", "th", "li", "div", "p", "dt", "dd", "option"}
_VOID = {"meta", "link", "input", "img", "br", "hr", "rect", "use", "path"}


class Answer(Protocol):
    """What Django's test client gives."""

    @property
    def content(self) -> bytes: ...


@dataclass
class Element:
    tag: str
    attributes: Mapping[str, str]
    children: list["Element | str"] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it, blanks made one; what a screen reader alone gets is left out."""
        return " ".join(self._words().split())

    def _words(self) -> str:
        if self.tag in {"script", "style", "svg", "title"} or "visually-hidden" in self.classes:
            return " "
        parts = [child if isinstance(child, str) else child._words() for child in self.children]
        # Cells and lines stand apart, words of one line do not.
        is_block = self.tag in _BLOCKS or "under" in self.classes
        edge = " " if is_block else ""
        return f"{edge}{''.join(parts)}{edge}"

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def all(self, tag: str = "", **attributes: str) -> list["Element"]:
        """Every element below with this tag and these attributes; `class_` needs to be among the classes."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if child.matches(tag, attributes):
                    found.append(child)
                found += child.all(tag, **attributes)
        return found

    def one(self, tag: str = "", **attributes: str) -> "Element":
        (found,) = self.all(tag, **attributes)
        return found

    def matches(self, tag: str, attributes: Mapping[str, str]) -> bool:
        wanted = dict(attributes)
        if (name := wanted.pop("class_", None)) and name not in self.classes:
            return False
        return (not tag or self.tag == tag) and all(
            self.attributes.get(key.replace("_", "-")) == value for key, value in wanted.items()
        )

    def rows(self, index: int = 0) -> list[dict[str, str]]:
        """The body of a table: text by the label of its column."""
        body = self.all("tbody")[index]
        return [
            {
                cell.attributes["data-label"]: cell.text
                for cell in row.children
                if isinstance(cell, Element)
            }
            for row in body.all("tr")
        ]

    def links(self) -> dict[str, str]:
        return {link.text: link.attributes["href"] for link in self.all("a")}

    def facts(self) -> dict[str, str]:
        """Definition lists: what a page says of one thing."""
        entries = [
            [child for child in entry.children if isinstance(child, Element)]
            for entry in self.all("div")
        ]
        return {
            entry[0].text: entry[1].text
            for entry in entries
            if [child.tag for child in entry] == ["dt", "dd"]
        }

    @property
    def answer(self) -> str:
        return self.one("p", class_="answer-text").text


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("root", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, {n: v or "" for n, v in attrs}))

    def handle_endtag(self, tag: str) -> None:
        while len(self.open) > 1:
            if self.open.pop().tag == tag:
                return

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parse(response: Answer) -> Element:
    builder = _Builder()
    builder.feed(response.content.decode())
    return builder.root


def heading(response: Answer) -> str:
    """What a page says first."""
    return main(response).one("h1").text


def main(response: Answer) -> Element:
    """The page without its frame."""
    return parse(response).one("main")
