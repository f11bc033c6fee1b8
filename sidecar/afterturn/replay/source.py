"""A transcript file: its head, its lines, its text in chunks; nothing larger than a line is ever held."""

import codecs
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

HEAD_BYTES = 256 * 1024
MAX_LINE_BYTES = 16 * 1024 * 1024
"""A longer line is skipped and counted: bounded memory comes before an output that no model ever saw whole."""
_CHUNK_BYTES = 256 * 1024
_MARKED_BYTES = 16 * 1024


class Source:
    """One file, read `passes` times from its start; `position` is how far the reading in progress has come, in bytes.

    `on_bytes` is told what part of all the reading is done, as a number of bytes of the file.
    """

    __slots__ = ("_handle", "_on_bytes", "_passes", "_read", "path", "position", "size")

    def __init__(self, path: Path, on_bytes: Callable[[int], None] | None = None) -> None:
        self.path = path
        self.size = path.stat().st_size
        self.position = 0
        self._on_bytes = on_bytes
        self._read = 0
        self._passes = 1
        self._handle: BinaryIO | None = None

    def plan(self, passes: int) -> None:
        """How often an importer will read the file, so that progress is told of all of it."""
        self._passes = passes

    def close(self) -> None:
        if self._handle is not None:
            self._handle.close()

    def head(self) -> bytes:
        with self.path.open("rb") as handle:
            return handle.read(HEAD_BYTES)

    def lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Each line with the offset of its first byte; None for one that is longer than MAX_LINE_BYTES."""
        with self.path.open("rb") as handle:
            self.position = 0
            while line := handle.readline(MAX_LINE_BYTES):
                begin = self.position
                self._advance(len(line))
                if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
                    yield begin, line
                    continue
                while (rest := handle.readline(_CHUNK_BYTES)) and not rest.endswith(b"\n"):
                    self._advance(len(rest))
                self._advance(len(rest))
                yield begin, None

    def name(self, base: str) -> str:
        """`base` with a mark of what the file begins with: for a session that its format gives no id of its own."""
        return f"{base} {hashlib.sha256(self.head()[:_MARKED_BYTES]).hexdigest()[:12]}"

    def at(self, begin: int, size: int) -> bytes:
        """Bytes that an earlier reading gave, again."""
        if self._handle is None:
            self._handle = self.path.open("rb")
        self._handle.seek(begin)
        self._advance(size)
        return self._handle.read(size)

    def text(self) -> Iterator[str]:
        """The text in chunks; bytes that are no UTF-8 become U+FFFD."""
        decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        with self.path.open("rb") as handle:
            self.position = 0
            while chunk := handle.read(_CHUNK_BYTES):
                self._advance(len(chunk))
                yield decoder.decode(chunk)
            yield decoder.decode(b"", final=True)

    def _advance(self, count: int) -> None:
        self.position += count
        self._read += count
        if self._on_bytes is not None:
            self._on_bytes(min(self._read // self._passes, self.size))
