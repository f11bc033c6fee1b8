"""Cutting a byte stream into message bodies (protocol.md, 'Framing and transport').

Pure and incremental: bytes in, `Frame`s out, whatever the chunks. A frame is a body, or a `Fault` that the
caller answers; after a fault the stream goes on. Neither holds more than the announced, allowed length.
"""

import re
from typing import Protocol

from msgspec import Struct

MAX_HEADER_BYTES = 8192
# A length no JavaScript client can even count to is a broken header, not a message worth waiting for.
_MAX_PLAUSIBLE_LENGTH = 2**53
# Exactly the header every well-behaved client writes.
_USUAL_HEADER = re.compile(rb"Content-Length: (\d{1,15})\r\n\r\n")
_LENGTH_NAME = re.compile(rb"content-length[ \t]{0,32}:", re.IGNORECASE)
_HEADER_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*(:|$)")
_KEEP_FOR_RESYNC = 64
_BLANK = b"\r\n \t"


class Fault(Struct, frozen=True):
    """Something that is no message. `kind` is `bad_header` or `message_too_large`."""

    kind: str
    message: str


Frame = bytes | bytearray | Fault


class Framing(Protocol):
    """What both framings offer."""

    def feed(self, data: bytes) -> list[Frame]:
        """Take the next bytes and return the frames that are now complete, in order."""
        ...

    def end(self) -> list[Frame]:
        """No more bytes will come: the frames that are complete because of that."""
        ...

    def wrap(self, body: bytes) -> bytes:
        """One outgoing message as bytes on the wire."""
        ...


def _header(length: int) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % length


# Most answers are small; looking a header up takes half as long as writing it.
_SMALL_HEADERS = [_header(length) for length in range(256)]


class ContentLengthFraming:
    """LSP framing, read tolerantly and written strictly. `max_bytes` limits a body."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._head = b""  # unparsed bytes, when no body is being read
        self._body = bytearray()  # the body being read; grows with what really arrives, not with what was announced
        self._missing = 0  # bytes the body still lacks
        self._skip = 0  # bytes of an oversized body still to be dropped
        self._lost = False  # looking for the next header anywhere
        self._told = False  # what comes is the rest of a header that was answered already

    def wrap(self, body: bytes) -> bytes:
        length = len(body)
        return (_SMALL_HEADERS[length] if length < len(_SMALL_HEADERS) else _header(length)) + body

    def end(self) -> list[Frame]:
        return []  # a body that is shorter than was announced is no message

    def feed(self, data: bytes) -> list[Frame]:
        frames: list[Frame] = []
        if self._missing:
            if len(data) < self._missing:
                self._body += data
                self._missing -= len(data)
                return frames
            cut = self._missing
            self._body += data[:cut]
            frames.append(self._body)
            self._body, self._missing = bytearray(), 0
            data = data[cut:]
        buffer = self._head + data if self._head else data
        self._head = buffer[self._parse(buffer, frames) :] if buffer else b""
        return frames

    def _parse(self, buffer: bytes, frames: list[Frame]) -> int:
        """Consume whole headers and bodies from `buffer`; returns how many bytes were used."""
        at, end = 0, len(buffer)
        match, max_bytes = _USUAL_HEADER.match, self._max_bytes  # this loop is the hottest of the program
        while at < end:
            if self._skip:
                step = min(self._skip, end - at)
                self._skip -= step
                at += step
                continue
            if self._lost:
                found = _LENGTH_NAME.search(buffer, at)
                if not found:
                    return max(at, end - _KEEP_FOR_RESYNC)
                at, self._lost = found.start(), False
            usual = None if self._told else match(buffer, at)
            if usual is not None:
                start, length = usual.end(), int(usual[1])
            else:
                start, length = self._any_header(buffer, at, frames)
                if start < 0:
                    return -start - 1  # the header is not complete yet
                if self._lost:
                    at = start
                    continue
            if length > max_bytes:
                frames.append(_too_large(length, max_bytes))
                self._skip, at = length, start
            elif end - start < length:
                self._body, self._missing = bytearray(buffer[start:]), length - (end - start)
                return end
            else:
                at = start + length
                frames.append(buffer[start:at])
        return at

    def _any_header(self, buffer: bytes, at: int, frames: list[Frame]) -> tuple[int, int]:
        """The tolerant reading of one header block at `at`.

        Returns `(body start, length)`; `(-1 - at, 0)` when more bytes are needed; or, for a block that cannot
        give a length, sets `_lost`, appends the fault and returns where to look on.
        """
        while at < len(buffer) and buffer[at] in _BLANK:
            at += 1  # a stray line end behind a body is nobody's loss
        block_start, length = at, -1
        while True:
            line_end = buffer.find(b"\n", at, block_start + MAX_HEADER_BYTES)
            line = buffer[at : line_end if line_end >= 0 else block_start + MAX_HEADER_BYTES]
            complete = line_end >= 0
            if complete and not line.strip(b"\r \t"):
                break
            if line.strip(b"\r \t") and (not _HEADER_NAME.match(line) or (complete and b":" not in line)):
                return self._bad_header(buffer, at, frames, "this is no header line")
            if not complete:
                if len(buffer) - block_start >= MAX_HEADER_BYTES:
                    return self._endless(buffer, block_start, frames)
                return -1 - block_start, 0
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                value = value.strip(b"\r \t")
                if not value.isdigit() or len(value) > 16 or int(value) >= _MAX_PLAUSIBLE_LENGTH:
                    return self._bad_header(buffer, at, frames, "Content-Length is not a length")
                if length not in (-1, int(value)):
                    return self._bad_header(buffer, at, frames, "Content-Length is given twice")
                length = int(value)
            at = line_end + 1
        if length < 0:
            return self._bad_header(buffer, block_start, frames, "there is no Content-Length")
        self._told = False
        return line_end + 1, length

    def _bad_header(self, buffer: bytes, at: int, frames: list[Frame], why: str) -> tuple[int, int]:
        """Append the fault and look on behind the place it names, so that one bad header is answered once."""
        if not self._told:
            frames.append(Fault("bad_header", f"Bad header: {why}"))
        self._told = False
        self._lost = True
        own = _LENGTH_NAME.match(buffer, at)
        return (own.end() if own else at), 0

    def _endless(self, buffer: bytes, at: int, frames: list[Frame]) -> tuple[int, int]:
        """The fault of a block that does not end in time, and where to look on.

        No header ends in the block, and one that begins in it and ends behind it holds the last length named there.
        Trying each of them would read every block anew for each of its lines.
        """
        look_on = self._bad_header(buffer, at, frames, "the header does not end")
        named = [found.start() for found in _LENGTH_NAME.finditer(buffer, at + 1, at + MAX_HEADER_BYTES)]
        if not named:
            return look_on
        self._told = True
        return named[-1], 0


class LineFraming:
    """One JSON object a line (`--framing ndjson`); blank lines are passed over. `max_bytes` limits a line."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._line = bytearray()
        self._skipping = False

    def wrap(self, body: bytes) -> bytes:
        return body + b"\n"

    def end(self) -> list[Frame]:
        return self.feed(b"\n")  # the last line needs no line end

    def feed(self, data: bytes) -> list[Frame]:
        frames: list[Frame] = []
        *lines, tail = data.split(b"\n")
        for line in lines:
            self._hold(line, frames)
            if self._line.endswith(b"\r"):
                del self._line[-1:]
            if self._line.strip():
                frames.append(self._line)
            self._line, self._skipping = bytearray(), False
        self._hold(tail, frames)
        return frames

    def _hold(self, piece: bytes, frames: list[Frame]) -> None:
        if self._skipping:
            return
        if len(self._line) + len(piece) > self._max_bytes:
            frames.append(_too_large(None, self._max_bytes))
            self._line, self._skipping = bytearray(), True
        else:
            self._line += piece


def _too_large(length: int | None, limit: int) -> Fault:
    size = f"of {length} bytes " if length is not None else ""
    return Fault("message_too_large", f"A message {size}is over the limit of {limit} bytes and was skipped")


def make_framing(name: str, max_bytes: int) -> Framing:
    """The framing called `content-length` or `ndjson`."""
    return LineFraming(max_bytes) if name == "ndjson" else ContentLengthFraming(max_bytes)
