"""Scanning: where in a piece of text a secret could be, found with a few quick passes, and what is there.

A pass is a search for one literal or for a pattern that begins with a rare one, at 1 to 3 GB/s; the expensive patterns
run only where a pass stopped. All of it works on a shadow of the piece in bytes, one a char.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from afterturn.redact import arguments, commands, headers, manifests, names, pem, piped, urls, wide
from afterturn.redact.assignments import Name, assigned, beside_user, two_words
from afterturn.redact.clean import CLASSES
from afterturn.redact.keys import LEFT, RUN, azure_secret, escaped_key, keys
from afterturn.redact.span import Span

# No name that counts is longer.
LONGEST = 96
# How far a pass sees beyond the piece on both sides: a name, and what stands before and behind it.
MARGIN = 256
# How far before the place where it is found a secret may begin: the body of a private key that only has its END line.
BACK = 8192 + LONGEST

# What may stand behind a name that is given a value.
_GIVEN = rb"(?=[a-z0-9_-]{0,96}+(?:[\"'`\\=:>%! \t\r\n?]|\(\\{0,7}[\"'`]|&(?:quot|apos|#)|\*\*))"
# Each begins with a letter that is rare in code, which the engine finds with memchr.
_NAMES = (
    # token, cookie; key with another word before it; the border of a private key
    re.compile(rb"k(?:(?:en|ie|ey(?<=[a-z0-9_?&#. -]key))" + _GIVEN + rb"|ey-{4})"),
    re.compile(rb"cre[dt]" + _GIVEN),  # secret, credential
    re.compile(rb"p(?:ass|wd)" + _GIVEN),
    re.compile(rb"z(?<=uthoriz)ation" + _GIVEN),
)
_URL = re.compile(rb"://")
_DSN = re.compile(rb"@(?:tcp|unix)\(")
_ORACLE = re.compile(rb":thin:")
_SIGNATURE = re.compile(rb"g=(?<=sig=)")
_AZURE = re.compile(rb"q~(?<=[78]q~)")
_PIPED = re.compile(rb"h(?:o (?<=echo )|(?<=auth)(?:=| = )\(|(?<=(?:basic|igest|asic_)auth)\()")
_PRINTED = re.compile(rb"f(?<=printf) ")
_HERE = re.compile(rb"<<<")
_SECURE_STRING = re.compile(rb"v(?<=conv)ertto-securestring ")
_IDENTIFIED = re.compile(rb"fied (?<=identified )")
_NET_USE = re.compile(rb"net use ")
_COMMANDS = {command.word: re.compile(command.word.encode()) for command in commands.COMMANDS}
# Chars around a name that what it says depends on, as long as what was found ends within them.
_SEEN_BEFORE = 256
_SEEN_BEHIND = 1280
_SEEN_MOST = 512
# The same that what was found there before is looked up by.
_NEAR = 16

_IN_WORD = b"w"
_NO_WORD = b" "
# What may stand behind a name and a blank, where the name is no option of a command.
_AFTER_BLANK = frozenset(b"\"'`\\=:>%!, \t\r\nv-")
_BLANK, _DASH, _TAG = b" -<"
# What stands before a name whose value follows after a blank, and names that are such by themselves.
_SETS = (
    *(b"env ", b"setx ", b"setenv ", b"set -x ", b"set -gx ", b"set -ux ", b"configure set ", b"secret set "),
    *(b"config set ", b"/:"),
)
_TELLS = (b"is ", b"is:", b"was ", b"set to ", b"to ")
_LOGIN = b"login"
_PASSWORD = b"password"
_REQUIRE_PASS = b"requirepass"
_ESCAPES = "nrtbfv"
_ESCAPE_MARKS = ("\\", "%", "[", ";")
# A run of words of up to 13 letters, as the names of code are: `snake_case`, `UPPER_CASE`, `CamelCase`; and one of
# small letters, capitals or digits alone, which no key is but one access key of AWS in 28, all capitals by chance.
# (`ACCA` and 16 capitals may be DNA.)
_PLAIN_NAME = re.compile(
    r"[a-z]++|(?!A[BKS]IA[A-Z]{16}\Z)[A-Z]++|[0-9]++"
    r"|(?:[a-z]{0,13}[_-]++)*+[a-z]{0,13}|(?:[A-Z]{0,13}[_-]++)*+[A-Z]{0,13}|_*(?:[A-Z]{1,4}[a-z]{3,13}[_-]*+)++"
)
# The types of names that say nothing without what stands around them.
_SECOND_WORD = "second-word"
_OPENSSL = "openssl"
_SSHPASS = "sshpass"
_HTPASSWD = "htpasswd"
_PUTTY = "putty"
_PUTTY_NAME = "PuTTY-User-Key-File"
_RUN = _IN_WORD * RUN


class Progress(Struct):
    """What a scan of one text carries from piece to piece.

    types: what the names seen so far mean. seen: what was found at a name, by the chars next to it; texts that repeat
    themselves are looked at once. keys, named, dsn, azure: up to where keys (by either kind of head), names, `@tcp(`
    and secrets of Azure are dealt with, in chars. commands: the same of each command, by its word.
    """

    types: dict[str, str | None]
    keys: list[int]
    seen: dict[str, "Found"]
    commands: dict[str, commands.Progress]
    named: int = 0
    dsn: int = 0
    azure: int = 0


class Found(Struct):
    """What stands at a name in a window of text, which is all that it depends on.

    spans: start, end, rank and type of the secrets. done: up to where the text is dealt with. In chars from the name.
    """

    window: str
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
    if piece.text.find("~", piece.start, piece.stop + 1) >= 0:
        for at in piece.places(_AZURE):
            # A head within a secret has that secret's end: from each to there, a text of heads would be read anew.
            if at > piece.progress.azure and (span := azure_secret(piece.text, at - 1)):
                piece.progress.azure = span.end
                yield span
    yield from _named(piece, floor)
    if piece.text.find("@", piece.start, piece.stop + urls.AT_WITHIN) >= 0:
        for at in piece.places(_URL):
            if span := urls.url_password(piece.text, at):
                yield span
        for at in piece.places(_DSN):
            if span := urls.dsn_password(piece.text, at, max(floor, piece.progress.dsn)):
                yield span
            piece.progress.dsn = at
        for at in piece.places(_ORACLE):
            if span := urls.oracle_password(piece.text, at):
                yield span
    for at in piece.places(_SIGNATURE):
        if span := urls.signature(piece.text, at - 3):
            yield span
    for at in piece.places(_IDENTIFIED):
        if span := urls.sql_password(piece.text, at - 6):
            yield span
    yield from _piped(piece)
    yield from _commands(piece)
    if piece.text.find("\\", piece.start, piece.stop + MARGIN) >= 0:
        for at in piece.places(_NET_USE):
            if span := arguments.share_password(piece.text, at):
                yield span
    if not piece.text[piece.start : piece.stop + wide.LONGEST].isascii():
        yield from wide.wide_names(piece.text, piece.start, piece.stop)


def _piped(piece: Piece) -> Iterator[Span]:
    text, start, stop = piece.text, piece.start, piece.stop
    for at in piece.places(_PIPED):
        if span := piped.echoed_password(text, at + 1) or piped.login_password(text, at + 1):
            yield span
    if piece.low.find(b"printf ") >= 0:
        for at in piece.places(_PRINTED):
            if span := piped.echoed_password(text, at + 1):
                yield span
    if text.find("<<<", start, stop + 2) >= 0:
        for at in piece.places(_HERE):
            if span := piped.here_password(text, at):
                yield span
    for at in piece.places(_SECURE_STRING):
        if span := piped.secure_string(piece.text, at - 3):
            yield span


def _commands(piece: Piece) -> Iterator[Span]:
    known = piece.progress.commands
    options = set(commands.OPTION.findall(piece.text, piece.start, piece.stop + 2 * commands.CHARS))
    for command in commands.COMMANDS if options else ():
        if options.isdisjoint(command.options):
            continue
        places = piece.places(_COMMANDS[command.word])
        if places or command.word in known:
            progress = known.setdefault(command.word, commands.Progress())
            yield from commands.Places(piece.text, command, places, piece.stop, progress).secrets()


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
    classes, base, start = piece.classes, piece.base, piece.start
    at = classes.find(_RUN)
    while at >= 0 and at + base < piece.stop:
        end = classes.find(_NO_WORD, at + RUN)
        if end < 0:
            end = len(classes)
        if end + base >= start and not _PLAIN_NAME.fullmatch(piece.text, at + base, end + base):
            yield at + base, end + base
        at = classes.find(_RUN, end)


def _named(piece: Piece, floor: int) -> Iterator[Span]:
    text, base, classes, progress = piece.text, piece.base, piece.classes, piece.progress
    for place in sorted([place for pattern in _NAMES for place in piece.places(pattern)]):
        if place < progress.named:
            continue
        if text[place : place + 3] == "KEY" and (key := pem.block(text, place, floor)):
            progress.named = key.end
            yield key
            continue
        at = place - base
        last = classes.find(_NO_WORD, at, at + LONGEST + 1)
        if last < 0:  # none but the border of a private key
            continue
        before = at - LONGEST if at > LONGEST else 0
        first = classes.rfind(_NO_WORD, before, at) + 1 or before
        start, end = first + base, last + base
        found = progress.seen.get(text[start - _NEAR : end + _NEAR]) if start >= _SEEN_BEFORE else None
        if found and found.window == text[start - _SEEN_BEFORE : end + _SEEN_BEHIND]:
            progress.named = found.done + start
            for span in found.spans:
                yield Span(span[0] + start, span[1] + start, span[2], span[3])
            continue
        progress.named = end
        if _may_be_given(piece.low, first, last) and (name := _name(text, start, end, progress.types)):
            spans = list(_given(text, name, progress, floor))
            yield from spans
            if name.type != _PUTTY and name.text != manifests.KIND:
                _keep(text, start, end, progress, spans)


def _name(text: str, start: int, end: int, types: dict[str, str | None]) -> Name | None:
    """The name at `text[start:end]`, where it may say secret."""
    if text[start - 1 : start] == "\\" and text[start] in _ESCAPES and end - start > 1:
        start += 1
    name = text[start:end]
    kind = types[name] if name in types else types.setdefault(name, _kind(name))
    if kind == _SECOND_WORD:
        if not (both := two_words(text, start, end)):
            return None
        kind = types[both] if both in types else types.setdefault(both, names.secret_type(both))
    return Name(start, end, name, kind) if kind else None


def _kind(name: str) -> str | None:
    if name in ("pass", "sshpass"):
        return _OPENSSL if name == "pass" else _SSHPASS
    if name.startswith(_PUTTY_NAME):
        return _PUTTY
    return _SECOND_WORD if name.lower() in ("key", "keys") else names.secret_type(name)


def _keep(text: str, start: int, end: int, progress: Progress, spans: list[Span]) -> None:
    """Keeps what was found at the name `text[start:end]`, where all of it is in sight."""
    if start >= _SEEN_BEFORE and progress.named + 64 < end + _SEEN_BEHIND < len(text):
        if len(progress.seen) >= _SEEN_MOST:
            progress.seen.clear()
        window = text[start - _SEEN_BEFORE : end + _SEEN_BEHIND]
        found = [(span.start - start, span.end - start, span.rank, span.type) for span in spans]
        progress.seen[text[start - _NEAR : end + _NEAR]] = Found(window, found, progress.named - start)


def _may_be_given(low: bytes, first: int, last: int) -> bool:
    """A quick look at what stands behind the name `low[first:last]`, where that is a blank."""
    if low[last] != _BLANK:
        return True
    if low[first] == _DASH or low[first - 1] == _TAG:
        return True
    if low[last + 1 : last + 2] == b"" or low[last + 1] in _AFTER_BLANK:
        return True
    if low.startswith(_TELLS, last + 1) or low.endswith(_SETS, max(0, first - 14), first):
        return True
    name = low[first:last]
    return name == _REQUIRE_PASS or (name == _PASSWORD and low.find(_LOGIN, max(0, first - LONGEST), first) >= 0)


def _given(text: str, name: Name, progress: Progress, floor: int) -> Iterator[Span]:
    """The secrets at the name; `progress.named` becomes the end of the last."""
    start, end, kind = name.start, name.end, name.type
    if name.text == manifests.KIND and manifests.is_kind(text, start):
        for span in manifests.secret_values(text, start, floor):
            progress.named = max(progress.named, span.end)
            yield span
        return
    if kind == names.COOKIE:
        spans, progress.named = headers.cookies(text, end)
        yield from spans
        return
    if kind == names.AUTHORIZATION:
        span = headers.authorization(text, end)
    elif kind == _OPENSSL:
        span = urls.openssl_password(text, start, end) or beside_user(text, start, end)
    elif kind == _SSHPASS:
        span = urls.sshpass_password(text, end)
    elif name.text == _HTPASSWD and text.startswith(" -", end):
        span = arguments.htpasswd_password(text, end)
    elif kind == _PUTTY:
        span = pem.putty(text, end)
    else:
        span = assigned(text, name)
    if span:
        progress.named = max(progress.named, span.end)
        yield span
