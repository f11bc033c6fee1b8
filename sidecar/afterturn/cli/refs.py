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
from afterturn_protocol.refs import ResolveRefParams

_PAGE = 1_000_000


def run(options: argparse.Namespace) -> int:
    """List the session's refs, or print the one asked for."""
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
        state = "error" if call.is_error else call.status or "ok"
        became = "condensed" if call.replacement is not None else "verbatim"
        size = f"{len(call.text):>10,} chars"
        sys.stdout.write(
            f"t{call.ref:<6} turn {call.turn_index:<5} {call.tool_name:<24.24} {state:<7} {size}  {became}\n"
        )
    sys.stdout.write(f"{len(calls)} originals of session {session_id}\n")
    return 0


async def _print_original(store: SqliteStore, session_id: str, ref: str, grep: str | None) -> int:
    from afterturn.condense.resolving import Originals

    originals = Originals(store.archive, SystemClock())
    offset: int | None = 0
    while offset is not None:
        params = ResolveRefParams(session_id=session_id, refs=[ref], offset=offset, limit=_PAGE, grep=grep)
        answer = await originals.resolve_ref(params)
        for missing in answer.missing:
            sys.stderr.write(f"afterturn: {missing.ref} is {missing.reason}; known are {missing.known or 'none'}\n")
            return 1
        for record in answer.records:
            if len(answer.records) > 1:
                sys.stdout.write(f"== {record.label}\n")
            sys.stdout.write(record.text)
        offset = max((record.next_offset for record in answer.records if record.next_offset is not None), default=None)
    sys.stdout.write("\n")
    return 0
