"""Calls, intakes and queries for tests, short to write."""

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from subprocess import run

from afterturn.condense.ports import FrozenBatch, Intake, NewCall, RefQuery, TurnEntry
from afterturn.store.sqlite.store import SqliteStore

DAY_MS = 86_400_000


def key(*parts: object) -> bytes:
    """A 32-byte key, equal for equal parts."""
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=32).digest()


def call(
    text: str,
    *,
    id: str | None = None,
    at: int | None = None,
    args: str = "{}",
    tool: str = "bash",
    content: str | None = None,
    images: str | None = None,
    entry_id: str | None = None,
    status: str | None = None,
    is_error: bool = False,
    lossy: bool = False,
) -> NewCall:
    """A finished call; two are the same call if id, time, args and text are equal."""
    data = text.encode("utf-8", "surrogatepass")
    call_id = id or f"call-{key(text).hex()[:8]}"
    return NewCall(
        identity=key("identity", call_id, at, text, args),
        dedup=key("dedup", tool, args, is_error, text.strip()),
        digest=blake2b(data, digest_size=32).digest(),
        tool_call_id=call_id,
        tool_name=tool,
        args=args,
        text=text,
        is_error=is_error,
        status=status,
        turn_index=3,
        result_timestamp=at,
        entry_id=entry_id,
        images=images,
        content=content,
        lossy=lossy,
    )


async def take(store: SqliteStore, session: str, *calls: NewCall, now_ms: int = 1000) -> list[int]:
    """Archive calls; their refs."""
    taken = await store.archive.take_in(session, Intake(calls=calls), now_ms=now_ms)
    return [place.ref for place in taken.placed]


async def take_turn(
    store: SqliteStore, session: str, *calls: NewCall, group: int = 1, turn: int = 0, now_ms: int = 1000
) -> list[int]:
    """Archive the calls of a turn that wait to be condensed; their refs."""
    entry = TurnEntry(
        batch_id=f"turn-{turn}",
        turn_index=turn,
        timestamp=now_ms,
        assistant_text=f"prose of {turn}",
        user_text=f"request of {turn}",
        group=group,
        positions=list(range(len(calls))),
        loose=f'{{"loose":[{turn}]}}',
    )
    taken = await store.archive.take_in(session, Intake(calls=calls, turn=entry), now_ms=now_ms)
    return [place.ref for place in taken.placed]


async def texts(store: SqliteStore, session: str, *refs: int, now_ms: int = 1000) -> list[str | None]:
    """What each ref resolves to: its text, "expired", or None for unknown."""
    queries = [RefQuery(raw=f"t{ref}", short=ref) for ref in refs]
    found = await store.archive.resolve(session, queries, now_ms=now_ms)
    return [each.calls[0].text if each.calls else "expired" if each.expired else None for each in found]


def frozen(name: str, *, refs: Sequence[int] = (), summary: str | None = None, by: str = "") -> FrozenBatch:
    """A result of the batch with this name; `by` tells two results of one batch apart."""
    return FrozenBatch(
        batch_key=key("batch", name),
        batch_id=name,
        result=f'{{"of":"{name}","by":"{by}"}}',
        summary=summary,
        refs=list(refs),
    )


def bytes_on_disk(file: Path) -> bytes:
    """What stands in a store's files now. Read by another process: to open and close a database here would drop
    the locks that this process holds on it.
    """
    names = [str(each) for each in sorted(file.parent.iterdir()) if each.name.startswith(file.name)]
    return run(["cat", *names], check=True, capture_output=True).stdout
