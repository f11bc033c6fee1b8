"""Any transcript file as the neutral stream: what wrote it is found by what stands in it, never by its name."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from afterturn.replay.heads import first_values
from afterturn.replay.importers import (
    Importer,
    ValueImporter,
    aider,
    amp,
    claude_code,
    codex,
    gemini_cli,
    kimi_cli,
    mini_swe_agent,
    opencode,
    openhands,
    pi,
    swe_agent,
)
from afterturn.replay.json_values import decoded
from afterturn.replay.source import Source
from afterturn.replay.stream import Event

_BY_VALUE: tuple[ValueImporter, ...] = (
    pi,
    claude_code,
    codex,
    opencode,
    gemini_cli,
    kimi_cli,
    amp,
    swe_agent,
    mini_swe_agent,
    openhands,
)
HARNESSES = tuple(importer.HARNESS for importer in (*_BY_VALUE, aider))
_BLANK = b" \t\r\n\x00\xef\xbb\xbf"
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
}


_TAR_MARK = 257
"""Where the mark of a tar archive stands."""


class UnreadableError(Exception):
    """A file that is no session, or one that cannot be read; `reason` is one line for people, without the path."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def events(path: Path, *, on_bytes: Callable[[int], None] | None = None) -> Iterator[Event]:
    """The events of all sessions of a file, in the order of the file; sessions in one file may interleave.

    Nothing larger than one entry and what waits for its results is held. `on_bytes` is told how far the work is, in
    bytes of the file. Raises UnreadableError, before any event or after some.
    """
    found = False
    try:
        with closing(_opened(path, on_bytes)) as source:
            importer = _importer(path, source.head())
            for event in importer.read(source):
                found = True
                yield event
    except OSError as problem:
        raise UnreadableError(path, in_words(problem)) from problem
    if not found:
        raise UnreadableError(path, f"is of {importer.HARNESS}, but no turn of it can be read: it is empty or cut off")


def _opened(path: Path, on_bytes: Callable[[int], None] | None) -> Source:
    if path.is_dir():
        raise UnreadableError(path, "is a folder, not a file")
    if path.exists() and not path.is_file():
        raise UnreadableError(path, "is not a regular file")
    return Source(path, on_bytes)


def _importer(path: Path, head: bytes) -> Importer:
    if not head.strip(_BLANK):
        raise UnreadableError(path, "is empty")
    for magic, name in _COMPRESSED.items():
        if head.startswith(magic):
            raise UnreadableError(path, f"is compressed ({name}); unpack it first")
    if head.startswith(b"ustar", _TAR_MARK):
        raise UnreadableError(path, "is an archive (tar); unpack it first")
    for value in first_values(head):
        for importer in _BY_VALUE:
            if importer.recognises(value):
                return importer
    if aider.recognises_text(decoded(head)):
        return aider
    if b"\x00" in head:
        raise UnreadableError(path, "is a binary file")
    what = "JSON" if head.lstrip(_BLANK)[:1] in (b"{", b"[") else "text"
    raise UnreadableError(path, f"is {what}, but no session of {', '.join(HARNESSES[:-1])} or {HARNESSES[-1]}")


def in_words(problem: OSError) -> str:
    """What is wrong with a file, for people, without its path."""
    if isinstance(problem, FileNotFoundError):
        return "there is no such file"
    if isinstance(problem, PermissionError):
        return "you may not read it"
    return problem.strerror or str(problem)
