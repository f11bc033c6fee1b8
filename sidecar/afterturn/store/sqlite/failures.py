"""What went wrong, in a person's words: from the database library's error codes to `StoreUnavailable`."""

from __future__ import annotations

from pathlib import Path

from afterturn.store.errors import StoreUnavailable

BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB = 5, 6, 8, 10, 11, 13, 14, 15, 26
_PERM, _NOMEM, _NOLFS, _AUTH = 3, 7, 22, 23

_WAITING = frozenset({BUSY, LOCKED, PROTOCOL})
_DAMAGED = frozenset({CORRUPT, NOTADB})
_ENVIRONMENT = {
    BUSY: "is locked by another process",
    LOCKED: "is locked by another process",
    PROTOCOL: "is locked by another process",
    _PERM: "may not be accessed",
    _NOMEM: "needs more memory than there is",
    READONLY: "cannot be written: it is read-only",
    IOERR: "cannot be read or written: the disk reports an error",
    CORRUPT: "is damaged",
    FULL: "cannot be written: the disk is full",
    CANTOPEN: "cannot be opened: its folder cannot be written, or too many files are open",
    _NOLFS: "is too large for this file system",
    _AUTH: "may not be accessed",
    NOTADB: "is damaged or is not a database",
}
_KEEP_CONNECTION = frozenset({BUSY, LOCKED, PROTOCOL, FULL, _NOMEM})


def primary_code(error: BaseException) -> int:
    """The primary result code of an sqlite3 error; 0 for any other exception."""
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else 0


def is_waiting(error: BaseException) -> bool:
    """Whether another connection holds a lock, so that a moment later it may work."""
    return primary_code(error) in _WAITING


def is_damage(error: BaseException) -> bool:
    """Whether the file itself is broken."""
    return primary_code(error) in _DAMAGED


def needs_new_connection(error: BaseException) -> bool:
    """Whether the connection should be given up, because what it found may be different at the next opening."""
    code = primary_code(error)
    return code in _ENVIRONMENT and code not in _KEEP_CONNECTION


def unavailable(error: BaseException, path: Path) -> StoreUnavailable | None:
    """The error to raise instead of `error` where the store's surroundings are at fault; None for a bug of ours."""
    if isinstance(error, StoreUnavailable):
        return error
    if isinstance(error, OSError):
        return StoreUnavailable(f"The store {path} cannot be opened: {error.strerror or error}", retryable=True)
    code = primary_code(error)
    reason = _ENVIRONMENT.get(code)
    if reason is None:
        return None
    return StoreUnavailable(f"The store {path} {reason}", retryable=code not in _DAMAGED)
