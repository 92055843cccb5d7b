"""Bodies cut into lines and list items while they arrive, with memory for one of them.

Knows JSON and gzip, nothing of Kubernetes beyond the outer shape of a list.
"""

import functools
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from dra.catalogue import Statement
from kube.failures import Malformed

# Larger than anything etcd can hold (1.5 MiB by default): what exceeds it is no object.
LONGEST_OBJECT_BYTES: Final = 64 << 20
_INFLATE_STEP_BYTES: Final = 256 << 10
_GZIP_WINDOW_BITS: Final = 31

Envelope = dict[str, msgspec.Raw]
_envelope_decoder: Final = msgspec.json.Decoder(Envelope)


def decode_envelope(body: bytes | msgspec.Raw) -> Envelope:
    """Values stay bytes, views into `body`.

    Raises msgspec.DecodeError on anything but one whole JSON object.
    """
    return _envelope_decoder.decode(body)


def joined(members: Envelope) -> bytes:
    """The object of these members, compact."""
    inside = b",".join([key(name) + bytes(value) for name, value in members.items()])
    return b"{" + inside + b"}"


@functools.lru_cache(maxsize=512)
def key(name: str) -> bytes:
    """A member's name with its colon."""
    return msgspec.json.encode(name) + b":"


def gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """All members: a compressed WatchList is a new gzip member for each flush."""
    inflater = zlib.decompressobj(_GZIP_WINDOW_BITS)
    is_inside_member = False
    for compressed in chunks:
        chunk, has_more = compressed, False
        while chunk or has_more:
            try:
                plain = inflater.decompress(chunk, _INFLATE_STEP_BYTES)
            except zlib.error as error:
                raise Malformed(Statement.of("compressed_damaged", error=str(error))) from error
            if plain:
                yield plain
            if inflater.eof:
                chunk, has_more = inflater.unused_data, False
                inflater = zlib.decompressobj(_GZIP_WINDOW_BITS)
                is_inside_member = False
            else:
                chunk, has_more = inflater.unconsumed_tail, len(plain) == _INFLATE_STEP_BYTES
                is_inside_member = True
    if is_inside_member:
        raise Malformed(Statement("compressed_ends"))


def split_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines that are not empty. The last one may be half a line: the decoder tells."""
    rest = bytearray()
    for chunk in chunks:
        first, *more = chunk.split(b"\n")
        rest += first
        if more:
            if rest:
                yield bytes(rest)
            yield from filter(None, more[:-1])
            rest = bytearray(more[-1])
        if len(rest) > LONGEST_OBJECT_BYTES:
            raise Malformed(Statement("line_too_large"))
    if rest.strip():
        yield bytes(rest)


class ListEnvelope(msgspec.Struct):
    """A list without its items."""

    class ListMetadata(msgspec.Struct, rename="camel"):
        """Of the list itself."""

        resource_version: str = ""

    kind: str = ""
    metadata: ListMetadata | None = None

    @property
    def resource_version(self) -> str:
        """Empty when the list does not say it."""
        return self.metadata.resource_version if self.metadata else ""


_ITEMS: Final = re.compile(rb'"items"\s*:\s*(\[|null)')
_HEAD_BYTES: Final = 1 << 20  # `items` must have begun by then
_FIRST_KEY: Final = re.compile(rb'\{"(?:[^"\\]|\\.)*":')
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}"]', re.DOTALL)
_BLANK: Final = b" \t\r\n"
_KEY_BYTES: Final = 4096


class ListBody:
    """The items of one list body, one after the other.

    JSON from an API server is compact and each item begins with the same key, so items are
    parted by `},` and that beginning. Each candidate must decode as one whole JSON object;
    since no object is the beginning of another, what decodes is the item. Where that fails
    (other spacing, another first key, the same bytes inside the item) braces are counted.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._buffer = bytearray()
        self._head = b""
        self._separator = b""  # empty: count braces
        self.envelope = ListEnvelope()
        self.count = 0
        # False for pretty-printed lists, whose items have to be made compact.
        self.is_compact = True

    def __iter__(self) -> Iterator[tuple[bytes, Envelope]]:
        """Each item with its envelope. `envelope` is whole when the iteration has ended."""
        if not self._read_head():
            return
        while self._at_item():
            if not self.count:
                self._learn_separator()
            item, envelope = self._take_item()
            self.count += 1
            yield item, envelope
        self._read_tail()

    def _more(self) -> bool:
        chunk = next(self._chunks, None)
        if chunk is None:
            return False
        self._buffer += chunk
        if len(self._buffer) > LONGEST_OBJECT_BYTES:
            raise Malformed(Statement("item_too_large"))
        return True

    def _read_head(self) -> bool:
        """Up to the `[` of the items; False when there is none, as in `"items":null`."""
        searched = 0
        while True:
            if any(self._begins_list(end) for end in self._openings(max(0, searched - 64))):
                return True
            searched = len(self._buffer)
            if not self._more():
                self.envelope = _decode_list_envelope(bytes(self._buffer))
                return False
            if searched > _HEAD_BYTES:
                raise Malformed(Statement("no_list"))

    def _openings(self, begin: int) -> list[int]:
        openings = _ITEMS.finditer(self._buffer, begin)
        return [match.end() for match in openings if match.group(1) == b"["]

    def _begins_list(self, end: int) -> bool:
        head = bytes(self._buffer[:end])
        try:
            msgspec.json.decode(head + b"]}", type=Envelope)
        except msgspec.DecodeError:
            return False  # the word inside another value
        self._head = head
        del self._buffer[:end]
        return True

    def _at_item(self) -> bool:
        """Drop the blanks and the comma before the next item; False at the closing bracket."""
        droppable = _BLANK + (b"," if self.count else b"")
        while True:
            begin = 0
            while begin < len(self._buffer) and self._buffer[begin] in droppable:
                begin += 1
            del self._buffer[:begin]
            if self._buffer:
                return self._buffer[0] != ord("]")
            if not self._more():
                raise Malformed(Statement("list_ends"))

    def _learn_separator(self) -> None:
        while b":" not in self._buffer and len(self._buffer) < _KEY_BYTES and self._more():
            pass
        first_key = _FIRST_KEY.match(self._buffer)
        if first_key:
            self._separator = b"}," + first_key.group()
        else:
            self.is_compact = False

    def _take_item(self) -> tuple[bytes, Envelope]:
        if self._separator:
            end = self._find_separator()
            if end is not None:
                item = bytes(self._buffer[:end])
                try:
                    envelope = decode_envelope(item)
                except msgspec.DecodeError:
                    pass
                else:
                    del self._buffer[: end + 1]
                    return item, envelope
        return self._take_item_by_braces()

    def _find_separator(self) -> int | None:
        searched = 0
        while (separator_at := self._buffer.find(self._separator, searched)) < 0:
            searched = max(0, len(self._buffer) - len(self._separator))
            if not self._more():
                return None  # the last item
        return separator_at + 1

    def _take_item_by_braces(self) -> tuple[bytes, Envelope]:
        end = self._find_closing_brace()
        item = bytes(self._buffer[:end])
        try:
            envelope = decode_envelope(item)
        except msgspec.DecodeError as error:
            raise Malformed(Statement.of("item_not_json", error=str(error))) from error
        del self._buffer[:end]
        return item, envelope

    def _find_closing_brace(self) -> int:
        position = depth = 0
        while True:
            position, depth = _count_braces(self._buffer, position, depth)
            if position and not depth:
                return position
            if not self._more():
                raise Malformed(Statement("list_ends_in_item"))

    def _read_tail(self) -> None:
        while self._more():
            pass
        self.envelope = _decode_list_envelope(self._head + bytes(self._buffer))


def _count_braces(text: bytearray, position: int, depth: int) -> tuple[int, int]:
    """How far `text` could be read, and the depth there; stops where the depth becomes 0."""
    if position == 0 and text[0] != ord("{"):
        raise Malformed(Statement("item_no_object"))
    for token in _TOKEN.finditer(text, position):
        text_of_token = token.group()
        if text_of_token == b'"':  # a string whose end has not arrived
            return token.start(), depth
        depth += (text_of_token == b"{") - (text_of_token == b"}")
        if not depth:
            return token.end(), 0
    return len(text), depth


def _decode_list_envelope(body: bytes) -> ListEnvelope:
    try:
        return msgspec.json.decode(body, type=ListEnvelope)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(Statement.of("list_unreadable", error=str(error))) from error


def compact(body: bytes) -> bytes:
    """The same JSON without blanks."""
    return msgspec.json.format(body, indent=-1)
