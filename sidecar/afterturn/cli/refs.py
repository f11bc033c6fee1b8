"""`afterturn refs SESSION [REF]`: what is archived of a session, read straight from the store."""

import argparse
import os
import sys

import anyio

from afterturn.cli.place import user_store
from afterturn.clock import SystemClock
from afterturn.condense.ports import RefQuery, StoredCall
from afterturn.storage import store_status
from afterturn.store.sqlite.store import SqliteStore
from afterturn.store_error import StoreError
from afterturn.text import clean, one_line
from afterturn_protocol.refs import MissingRef, ResolveRefParams, ResolveRefResult

_PAGE = 1_000_000


def run(options: argparse.Namespace) -> int:
    """List the session's refs, or print the one asked for."""
    if options.grep is not None and options.ref is None:
        sys.stderr.write("afterturn: --grep looks through one original; say which, as `afterturn refs SESSION REF`\n")
        return 2
    try:
        return anyio.run(_run, options)
    except StoreError as problem:
        sys.stderr.write(f"afterturn: {problem}\n")
        return 1


async def _run(options: argparse.Namespace) -> int:
    store = user_store(os.environ)
    if store_status(store).bytes is None:
        sys.stderr.write(f"afterturn: there is no store at {store.place.file}\n")
        return 1
    try:
        if not await store.sessions.known(options.session):
            sys.stderr.write(f"afterturn: the store knows no session {options.session!r}\n")
            return 1
        if options.ref is None:
            return await _list(store, options.session)
        return await _print_original(store, options.session, options.ref, options.grep)
    finally:
        await store.close()


async def _list(store: SqliteStore, session_id: str) -> int:
    found = await store.archive.resolve(session_id, [RefQuery(raw="t0", short=0)], now_ms=SystemClock().now_ms())
    known = found[0].known
    calls: list[StoredCall] = (
        list(await store.archive.load(session_id, range(known[0], known[1] + 1))) if known is not None else []
    )
    for call in calls:
        name = _shown(call.tool_name)
        state = "error" if call.is_error else _shown(call.status or "ok")
        became = "condensed" if call.replacement is not None else "verbatim"
        size = f"{len(call.text):>10,} chars"
        sys.stdout.write(f"t{call.ref:<6} turn {call.turn_index:<5} {name:<24.24} {state:<7} {size}  {became}\n")
    sys.stdout.write(f"{len(calls)} originals of session {_shown(session_id)}\n")
    return 0


async def _print_original(store: SqliteStore, session_id: str, ref: str, grep: str | None) -> int:
    from afterturn.condense.resolving import Originals

    originals = Originals(store.archive, SystemClock())

    async def resolve(ref: str, offset: int) -> ResolveRefResult:
        params = ResolveRefParams(session_id=session_id, refs=[ref], offset=offset, limit=_PAGE, grep=grep)
        return await originals.resolve_ref(params)

    answer = await resolve(ref, 0)
    if answer.missing:
        return _missing(answer.missing[0])
    exact = len(answer.records) == 1 and grep is None
    for first in answer.records:
        if len(answer.records) > 1:
            sys.stdout.write(f"== {_shown(first.label)}\n")
        record, ending = first, ""
        while True:
            _write(record.text)
            ending = record.text[-1:] or ending
            if record.next_offset is None:
                break
            more = await resolve(first.short_id, record.next_offset)
            if more.missing:
                return _missing(more.missing[0])
            (record,) = more.records
        if ending not in ("", "\n") and (sys.stdout.isatty() or not exact):
            sys.stdout.write("\n")
    return 0


def _missing(missing: MissingRef) -> int:
    sys.stderr.write(f"afterturn: {missing.ref} is {missing.reason}; known are {missing.known or 'none'}\n")
    return 1


def _write(text: str) -> None:
    """A terminal is shown a text; anything else, such as a file, gets its bytes."""
    if sys.stdout.isatty():
        sys.stdout.write(clean(text))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))


def _shown(text: str) -> str:
    """A host's word on one line of a terminal, where it can move nothing and make no line of its own."""
    return one_line(clean(text))
