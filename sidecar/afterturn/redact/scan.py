"""Scanning: where in a piece of text a secret could be, found with a few quick passes, and what is there.

A pass is a search for one literal or for a pattern that begins with a rare one, at 1 to 3 GB/s; the expensive patterns
run only where a pass stopped. All of it works on a shadow of the piece in bytes, one a char.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from afterturn.redact import headers, names, pem, urls
from afterturn.redact.assignments import Name, assigned, two_word_type
from afterturn.redact.keys import LEFT, RUN, escaped_key, keys
from afterturn.redact.span import Span

# How far a pass sees beyond the piece on both sides; no name that counts is longer.
MARGIN = 96
# How far before the place where it is found a secret may begin: the body of a private key that only has its END line.
BACK = 8192 + MARGIN

# Each begins with a letter that is rare in code, which the engine finds with memchr.
_NAMES = (
    re.compile(rb"k(?:en|ey|ie)"),  # token, key, cookie
    re.compile(rb"cre[dt]"),  # secret, credential
    re.compile(rb"p(?:ass|wd)"),
    re.compile(rb"z(?<=uthoriz)ation"),
)
_COMMAND = re.compile(rb"curl")
_URL = re.compile(rb"://")
_DSN = re.compile(rb"@(?:tcp|unix)\(")
_COMMAND_LINE = re.compile(r"[^\n\\]*+(?:\\(?s:.)[^\n\\]*+)*+")
_COMMAND_CHARS = 2048

_IN_WORD = b"w"
_NO_WORD = b" "
_CLASSES = bytes(
    _IN_WORD[0] if (chr(code).isalnum() and code < 128) or code in b"_-" else _NO_WORD[0] for code in range(256)
)
# What may stand behind a name that is given a value.
_AFTER_NAME = frozenset(b"\"'`\\=:>%! \t\r\n")
# The same after a blank, where the name is no option of a command.
_AFTER_BLANK = frozenset(b"\"'`\\=:>%!, \t\r\nv-")
_BLANK, _DASH = b" -"
_ESCAPES = "nrtbfv"
_ESCAPE_MARKS = ("\\", "%", "[", ";")
# A run of words of up to 13 letters, as the names of code are: `snake_case`, `UPPER_CASE`, `CamelCase`.
_PLAIN_NAME = re.compile(
    r"(?:[a-z]{0,13}[_-]++)*+[a-z]{0,13}|(?:[A-Z]{0,13}[_-]++)*+[A-Z]{0,13}|_*(?:[A-Z]{1,4}[a-z]{3,13}[_-]*+)++"
)
# The type of a name that says nothing without the word before it.
_SECOND_WORD = "second-word"
_RUN = _IN_WORD * RUN


class Progress(Struct):
    """What a scan of one text carries from piece to piece.

    types: what the names seen so far mean. keys, named, commands: up to where keys (by either kind of head), names and
    commands are dealt with, in chars.
    """

    types: dict[str, str | None]
    keys: list[int]
    named: int = 0
    commands: int = 0


class Piece(Struct):
    """The part `text[start:stop]` that is scanned; a secret belongs to the piece in which its scan stops first.

    base: the char of `text` that the shadows begin with. low: the shadow in lower case. classes: the shadow with word
    chars as `w` and all else as a blank.
    """

    text: str
    start: int
    stop: int
    progress: Progress
    base: int
    low: bytes
    classes: bytes

    @classmethod
    def of(cls, text: str, start: int, stop: int, progress: Progress) -> "Piece":
        base = max(0, start - MARGIN)
        shadow = text[base : stop + MARGIN].encode("ascii", "replace")
        return cls(text, start, stop, progress, base, shadow.lower(), shadow.translate(_CLASSES))

    def places(self, pattern: re.Pattern[bytes]) -> Iterator[int]:
        """Where in the piece the pattern matches, in chars of the text."""
        for found in pattern.finditer(self.low, max(0, self.start - self.base)):
            at = found.start() + self.base
            if at >= self.stop:
                return
            yield at


def spans(piece: Piece, floor: int) -> Iterator[Span]:
    """The secrets of the piece, in no order; none begins before `floor`, what was given out already."""
    for span in _all(piece, floor):
        if span.end > floor:
            yield span if span.start >= floor else Span(floor, span.end, span.rank, span.type)


def _all(piece: Piece, floor: int) -> Iterator[Span]:
    yield from _keys(piece)
    yield from _named(piece, floor)
    if piece.text.find("@", piece.start, piece.stop + urls.AT_WITHIN) >= 0:
        for at in piece.places(_URL):
            if span := urls.url_password(piece.text, at):
                yield span
        for at in piece.places(_DSN):
            if span := urls.dsn_password(piece.text, at, floor):
                yield span
    yield from _commands(piece)


def _keys(piece: Piece) -> Iterator[Span]:
    start = end = -1
    for first, last in _runs(piece):
        if piece.text[first - 1 : first] in _ESCAPE_MARKS and (span := escaped_key(piece.text, first)):
            yield span
        if first - LEFT > end:  # runs that stand close together are looked at in one go
            if end >= 0:
                yield from keys(piece.text, start, end, piece.progress.keys)
            start = max(0, first - LEFT)
        end = last
    if end >= 0:
        yield from keys(piece.text, start, end, piece.progress.keys)


def _runs(piece: Piece) -> Iterator[tuple[int, int]]:
    """Start and end of the runs that may hold a key, in chars: most names of code are told apart at once."""
    classes, base = piece.classes, piece.base
    at = classes.find(_RUN, max(0, piece.start - base - RUN))
    while at >= 0 and at + base < piece.stop:
        end = classes.find(_NO_WORD, at + RUN)
        if end < 0:
            end = len(classes)
        if not _PLAIN_NAME.fullmatch(piece.text, at + base, end + base):
            yield at + base, end + base
        at = classes.find(_RUN, end)


def _named(piece: Piece, floor: int) -> Iterator[Span]:
    text, base, classes = piece.text, piece.base, piece.classes
    progress = piece.progress
    for place in sorted(place for pattern in _NAMES for place in piece.places(pattern)):
        if place < progress.named:
            continue
        if text[place : place + 3] == "KEY" and (key := pem.block(text, place, floor)):
            progress.named = key.end
            yield key
            continue
        at = place - base
        first = max(classes.rfind(_NO_WORD, max(0, at - MARGIN), at) + 1, at - MARGIN)
        last = classes.find(_NO_WORD, at)
        if last < 0:
            last = len(classes)
        progress.named = last + base
        if last - at > MARGIN or not _may_be_given(piece.low, first, last):
            continue
        for span in _given(piece, first + base, last + base):
            progress.named = max(progress.named, span.end)
            yield span


def _may_be_given(low: bytes, first: int, last: int) -> bool:
    """A quick look at what stands behind the name `low[first:last]`."""
    if last >= len(low):
        return False
    if low[last] != _BLANK:
        return low[last] in _AFTER_NAME
    return low[first] == _DASH or low[last + 1 : last + 2] == b"" or low[last + 1] in _AFTER_BLANK


def _given(piece: Piece, start: int, end: int) -> Iterator[Span]:
    text = piece.text
    if text[start - 1 : start] == "\\" and text[start] in _ESCAPES and end - start > 1:
        start += 1
    name = text[start:end]
    if name in piece.progress.types:
        kind = piece.progress.types[name]
    else:
        kind = piece.progress.types[name] = _SECOND_WORD if name.lower() in ("key", "keys") else names.secret_type(name)
    if kind == _SECOND_WORD:
        kind = two_word_type(text, start, end)
    if kind == names.AUTHORIZATION:
        span = headers.authorization(text, end)
    elif kind == names.COOKIE:
        found, done = headers.cookies(text, end)
        piece.progress.named = max(piece.progress.named, done)
        yield from found
        return
    elif kind:
        span = assigned(text, Name(start, end, name, kind))
    elif name == "sshpass":
        span = urls.sshpass_password(text, end)
    elif name.startswith("PuTTY-User-Key-File"):
        span = pem.putty(text, end)
    else:
        return
    if span:
        yield span


def _commands(piece: Piece) -> Iterator[Span]:
    text = piece.text
    for at in piece.places(_COMMAND):
        if at < piece.progress.commands:
            continue
        line = _COMMAND_LINE.match(text, at, at + _COMMAND_CHARS)
        done = piece.progress.commands = line.end() if line else at
        yield from urls.curl_passwords(text, at, done)
        end = at
        while (cookies := urls.curl_cookies(text, end, done)) is not None:
            found, end = headers.cookie_pairs(text, cookies)
            yield from found
        piece.progress.commands = max(done, end)
