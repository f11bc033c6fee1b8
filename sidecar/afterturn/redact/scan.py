"""Scanning: where in a piece of text a secret could be, found with a few quick passes, and what is there.

A pass is a search for one literal or for a pattern that begins with a rare one, at 1 to 3 GB/s; the expensive patterns
run only where a pass stopped. All of it works on a shadow of the piece in bytes, one a char.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from afterturn.redact import commands, headers, manifests, names, pem, urls, wide
from afterturn.redact.assignments import Name, assigned, two_word_type
from afterturn.redact.clean import CLASSES
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
_URL = re.compile(rb"://")
_DSN = re.compile(rb"@(?:tcp|unix)\(")
_ORACLE = re.compile(rb":thin:")
_SIGNATURE = re.compile(rb"g=(?<=sig=)")
_IDENTIFIED = re.compile(rb"fied (?<=identified )")
_COMMANDS = {command.word: re.compile(command.word.encode()) for command in commands.COMMANDS}
# Chars around a name that what it says depends on, as long as what was found ends within them.
_SEEN_BEFORE = 256
_SEEN_BEHIND = 1280
_SEEN_MOST = 512
# After so many places that look like none before, none is kept for the next hundreds.
_PATIENCE = 64
_NO_PATIENCE = -512
_LOOK_FAR = ("Secret", "PuTTY-User-Key-File-2", "PuTTY-User-Key-File-3")

_IN_WORD = b"w"
_NO_WORD = b" "
# What may stand behind a name that is given a value.
_AFTER_NAME = frozenset(b"\"'`\\=:>%! \t\r\n?")
# The same after a blank, where the name is no option of a command.
_AFTER_BLANK = frozenset(b"\"'`\\=:>%!, \t\r\nv-")
_BLANK, _DASH, _TAG = b" -<"
# What stands before a name whose value follows after a blank, and names that are such by themselves.
_SETS = (b"env ", b"setx ", b"setenv ", b"set -x ", b"set -gx ", b"set -ux ", b"configure set ", b"secret set ")
_LOGIN = b"login"
_PASSWORD = b"password"
_REQUIRE_PASS = b"requirepass"
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

    types: what the names seen so far mean. seen: what was found at a name, by all that it depends on; texts that
    repeat themselves are looked at once. keys, named, commands: up to where keys (by either kind of head), names and
    each command are dealt with, in chars. patience: falls with every place that looks like none before it.
    """

    types: dict[str, str | None]
    keys: list[int]
    seen: dict[str, "Found"]
    commands: dict[str, int]
    named: int = 0
    patience: int = _PATIENCE


class Found(Struct):
    """What stands at a name: the secrets, and up to where the text is dealt with; in chars from the name's start."""

    spans: list[tuple[int, int, int, str]]
    done: int


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
        return cls(text, start, stop, progress, base, shadow.lower(), shadow.translate(CLASSES))

    def places(self, pattern: re.Pattern[bytes]) -> list[int]:
        """Where in the piece the pattern matches, in chars of the text."""
        base = self.base
        first, last = max(0, self.start - base), self.stop - base
        if not pattern.search(self.low, first, last + MARGIN):
            return []
        # A match may end behind the piece, where it begins in it.
        return [at + base for found in pattern.finditer(self.low, first, last + MARGIN) if (at := found.start()) < last]


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
        for at in piece.places(_ORACLE):
            if span := urls.oracle_password(piece.text, at):
                yield span
    for at in piece.places(_SIGNATURE):
        if span := urls.signature(piece.text, at - 3):
            yield span
    for at in piece.places(_IDENTIFIED):
        if span := urls.sql_password(piece.text, at - 6):
            yield span
    yield from _commands(piece)
    if not piece.text[piece.start : piece.stop + wide.LONGEST].isascii():
        yield from wide.wide_names(piece.text, piece.start, piece.stop)


def _commands(piece: Piece) -> Iterator[Span]:
    done = piece.progress.commands
    with_options = commands.OPTION.search(piece.text, piece.start, piece.stop + commands.CHARS)
    for command in commands.COMMANDS if with_options else commands.COMMANDS[:1]:
        if places := piece.places(_COMMANDS[command.word]):
            found = commands.Places(piece.text, command, places, done.get(command.word, 0))
            yield from found.secrets()
            done[command.word] = found.done


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
    text, base, classes, low = piece.text, piece.base, piece.classes, piece.low
    progress = piece.progress
    seen = progress.seen
    for place in sorted([place for pattern in _NAMES for place in piece.places(pattern)]):
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
        if last - at > MARGIN or not _may_be_given(low, first, last):
            continue
        start, end = first + base, last + base
        if progress.patience <= 0 or start < _SEEN_BEFORE:
            progress.patience = _PATIENCE if progress.patience <= _NO_PATIENCE else progress.patience - 1
            for span in _given(piece, start, end, floor):
                progress.named = max(progress.named, span.end)
                yield span
            continue
        found = seen.get(text[start - _SEEN_BEFORE : end + _SEEN_BEHIND])
        if found is None:
            progress.patience -= 1
            yield from _looked_at(piece, start, end, floor)
            continue
        progress.patience = _PATIENCE
        progress.named = found.done + start
        for span in found.spans:
            yield Span(span[0] + start, span[1] + start, span[2], span[3])


def _looked_at(piece: Piece, start: int, end: int, floor: int) -> list[Span]:
    """What stands at the name `text[start:end]`, kept for the places that look the same where all of it is in sight."""
    text, progress = piece.text, piece.progress
    spans = list(_given(piece, start, end, floor))
    progress.named = done = max([progress.named, *(span.end for span in spans)])
    in_sight = start >= _SEEN_BEFORE and done + 64 < end + _SEEN_BEHIND < len(text)
    if in_sight and text[start:end] not in _LOOK_FAR:
        if len(progress.seen) >= _SEEN_MOST:
            progress.seen.clear()
        progress.seen[text[start - _SEEN_BEFORE : end + _SEEN_BEHIND]] = Found(
            [(span.start - start, span.end - start, span.rank, span.type) for span in spans], done - start
        )
    return spans


def _may_be_given(low: bytes, first: int, last: int) -> bool:
    """A quick look at what stands behind the name `low[first:last]`."""
    if last >= len(low):
        return False
    if low[last] != _BLANK:
        return low[last] in _AFTER_NAME
    if low[first] == _DASH or low[first - 1] == _TAG:
        return True
    if low[last + 1 : last + 2] == b"" or low[last + 1] in _AFTER_BLANK:
        return True
    if low.endswith(_SETS, max(0, first - 14), first):
        return True
    name = low[first:last]
    return name == _REQUIRE_PASS or (name == _PASSWORD and low.find(_LOGIN, max(0, first - MARGIN), first) >= 0)


def _given(piece: Piece, start: int, end: int, floor: int) -> Iterator[Span]:
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
    elif name == "Secret" and manifests.is_kind(text, start):
        yield from manifests.secret_values(text, start, floor)
        return
    elif name == "pass":
        span = urls.openssl_password(text, start, end)
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
