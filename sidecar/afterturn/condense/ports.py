"""What the condense service needs from outside, as Protocols and the plain values that cross them (store.md).

The store implements `Sessions`, `Archive`, `Batches`, `Turns` and `Blocks`, and hands them over as one `Store`.
Rules that hold for all of them:

- Short refs are handed over as their number: `12` for `t12`, in a space of its own for each session.
- A session sees its own rows and those of its ancestors up to the ref each was forked at ("in view"). Numbers of
  refs and blocks start after the parent's last one at the time of the fork, and a number is never given twice to a
  session, not even after `Sessions.delete`.
- Every text is a `str` that may hold lone surrogates. Bytes given as keys are opaque.
- Every method that writes is one transaction. `Archive.take_in` is on disk when it returns; the others survive the
  end of the process.
- `epoch` counts the lives of a session id: it grows with every delete. A write that carries an older epoch is
  dropped, because what it belongs to was deleted meanwhile.
- A store that cannot be opened, read or written raises `StoreError`; the service lets it pass.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

Redactor = Callable[[str], tuple[str, Mapping[str, int]]]
"""A text with its secrets replaced, and how many of each type there were. Pure, linear, safe in any thread."""


# --- archive ---------------------------------------------------------------------------------------------------


class NewCall(Struct, frozen=True, kw_only=True):
    """One finished tool call on its way into the archive.

    identity: what makes it the same call again (condense.md, 'Order of work', 1).
    dedup: what makes its output the same as another call's (5).
    digest: 32 bytes, the hash of `text` as UTF-8 with surrogates passed: its content address.
    text: what a ref gives back, byte for byte. `lossy` says that it is not the original (store.raw off).
    args: the arguments as JSON text.
    status: the host's own word for the outcome, if it sent one.
    images: descriptors of the images in the result as JSON text; None without images.
    content: the blocks as they came, as JSON text, when there is more than text; None otherwise. May be large.
    """

    identity: bytes
    dedup: bytes
    digest: bytes
    tool_call_id: str
    tool_name: str
    args: str
    text: str
    is_error: bool
    status: str | None
    turn_index: int
    result_timestamp: int | None
    entry_id: str | None
    images: str | None
    content: str | None
    lossy: bool


class Placed(Struct, frozen=True, kw_only=True):
    """Where the archive put one `NewCall`.

    ref: its number, the one it already had if it is in view.
    is_new: whether this intake gave the number.
    first_ref: the lowest ref in view with the same `dedup`, this one included; so it is a duplicate if
        `first_ref < ref`.
    replacement: what was already given for this call, frozen; None if nothing was.
    phase: 0 only archived, 1 in the turn log and waiting, 2 settled (a frozen batch holds it) - before this intake.
    """

    ref: int
    is_new: bool
    first_ref: int
    replacement: str | None
    phase: int


class TurnEntry(Struct, frozen=True, kw_only=True):
    """One finished turn for the turn log. Texts are redacted already.

    group: turns of one user request share it; it grows with every request.
    positions: for each call of the intake its index in the turn, or None for a call that is not to wait (it was
        handled before); a call that already has phase 1 or 2 keeps it and is not logged again.
    loose: calls of the turn that have no ref of their own, as JSON text, opaque.
    """

    batch_id: str
    turn_index: int
    timestamp: int
    assistant_text: str | None
    user_text: str | None
    group: int
    positions: Sequence[int | None]
    loose: str


class Intake(Struct, frozen=True, kw_only=True):
    """Everything one request brings, taken in at once.

    calls: in order; a call may occur twice.
    batch_key, batch_id: the batch these calls are, if a frozen result is wanted for it: the id becomes a name of
        that batch (`Batches.named`), beside those it has.
    turn: appended to the turn log with the calls that are not in it and not settled; nothing is appended when no call
        remains.
    turn_state: replaces the session's turn state (`Turns.state`); None leaves it.
    """

    calls: Sequence[NewCall]
    batch_key: bytes | None = None
    batch_id: str | None = None
    turn: TurnEntry | None = None
    turn_state: str | None = None


class FrozenBatch(Struct, frozen=True, kw_only=True):
    """The result of a batch, the same for ever.

    result: the whole result as JSON text, opaque.
    summary: the text of the summary with its footer; None unless the outcome is "summarized".
    refs: the refs the summary stands for, in label order.
    """

    batch_key: bytes
    batch_id: str
    result: str
    summary: str | None
    refs: Sequence[int]


class Taken(Struct, frozen=True, kw_only=True):
    """What an intake led to: one `Placed` for each call, in order, and the frozen batch if there is one in view."""

    epoch: int
    placed: Sequence[Placed]
    frozen: FrozenBatch | None


class StoredCall(Struct, frozen=True, kw_only=True):
    """One archived call, as it was taken in. `session_id` is the one that archived it, perhaps an ancestor."""

    session_id: str
    ref: int
    identity: bytes
    tool_call_id: str
    tool_name: str
    args: str
    text: str
    is_error: bool
    status: str | None
    turn_index: int
    result_timestamp: int | None
    entry_id: str | None
    images: str | None
    lossy: bool
    replacement: str | None
    first_ref: int


class RefQuery(Struct, frozen=True, kw_only=True):
    """A ref as the caller wrote it, read in every way it can be read. The first reading that finds something wins:

    `short` (tN), `block` (bN), (`call_id`, `at`), then `raw` as a whole toolCallId.
    """

    raw: str
    short: int | None = None
    block: int | None = None
    call_id: str | None = None
    at: int | None = None


class StoredBlock(Struct, frozen=True, kw_only=True):
    """A fused block. `details`: what it stands for, as JSON text, opaque."""

    number: int
    text: str
    details: str
    source: str
    created_at: int


class Found(Struct, frozen=True, kw_only=True):
    """What a `RefQuery` found.

    calls: every occurrence in ref order (more than one only for a reused toolCallId); empty if `block` is set or
        nothing was found.
    expired: nothing was found, but the number was given once: deleted, or past the retention time.
    known: the lowest and the highest number in view that still resolve, of the kind asked for (refs unless the
        query reads as a block); None if there is none.
    """

    calls: Sequence[StoredCall] = ()
    block: StoredBlock | None = None
    expired: bool = False
    known: tuple[int, int] | None = None


class Sessions(Protocol):
    """Sessions as such."""

    async def open(self, session_id: str, *, project: str | None, parent_session_id: str | None, now_ms: int) -> bool:
        """Make the session known and count it as active; whether it was known before.

        The parent is set once, at the first open: the child's numbers start after the parent's last ones of now.
        `project` replaces the stored one unless it is None. Every other write opens an unknown session with defaults.
        """
        ...

    async def known(self, session_id: str) -> bool:
        """Whether the session was ever opened and not deleted since."""
        ...

    async def epoch(self, session_id: str) -> int:
        """The session's current epoch; that of a first life for a session that was never opened."""
        ...

    async def touch(self, session_id: str, *, now_ms: int) -> None:
        """The session is active now; so are its ancestors, because their refs are resolved from it."""
        ...

    async def delete(self, session_id: str, *, now_ms: int) -> int:
        """Erase all that this page's ports hold of the session; how many archived results that were.

        Its refs are expired from then on, its epoch grows, and the text is in no file any more.
        """
        ...


class Archive(Protocol):
    """Raw results and their refs."""

    async def take_in(self, session_id: str, intake: Intake, *, now_ms: int) -> Taken:
        """Archive calls and log a turn in one durable transaction; touches the session."""
        ...

    async def resolve(self, session_id: str, queries: Sequence[RefQuery], *, now_ms: int) -> Sequence[Found]:
        """One `Found` for each query, in order. Counts as activity of the session, but may write that later."""
        ...

    async def load(self, session_id: str, refs: Sequence[int]) -> Sequence[StoredCall]:
        """The calls with these refs that are still there, in the order asked for."""
        ...

    async def contents(self, session_id: str, refs: Sequence[int]) -> Mapping[int, str]:
        """`NewCall.content` of those of these refs that have one, by ref."""
        ...


# --- batches ---------------------------------------------------------------------------------------------------


class Freeze(Struct, frozen=True, kw_only=True):
    """How a freeze ended; exactly one of the three holds.

    batch: the batch that is frozen now - the one given, or the one that was first.
    conflicts: nothing was written, because these refs already have another replacement (ref -> the frozen text).
    gone: nothing was written, because the session was deleted meanwhile.
    """

    batch: FrozenBatch | None = None
    conflicts: Mapping[int, str] | None = None
    gone: bool = False


class PlannedReplacement(Struct, frozen=True, kw_only=True):
    """One frozen replacement, with what a host needs to find the result it stands for."""

    ref: int
    tool_call_id: str
    result_timestamp: int | None
    entry_id: str | None
    text: str


class Batches(Protocol):
    """Frozen results, attempts, and the claim on a batch that is being worked on."""

    async def find(self, session_id: str, batch_key: bytes) -> FrozenBatch | None:
        """The frozen result of a batch, if there is one in view."""
        ...

    async def named(self, session_id: str, batch_id: str) -> FrozenBatch | None:
        """The frozen batch that was last given this id."""
        ...

    async def holding(self, session_id: str, refs: Sequence[int]) -> Sequence[FrozenBatch]:
        """The summarized batches in view whose `refs` hold one of these, each once, oldest first."""
        ...

    async def summarized(self, session_id: str) -> Sequence[FrozenBatch]:
        """All summarized batches in view, oldest first."""
        ...

    async def freeze(
        self, session_id: str, epoch: int, batch: FrozenBatch, replacements: Mapping[int, str], settled: Sequence[int]
    ) -> Freeze:
        """Keep a result for ever: first come, first kept. The refs in `settled` get phase 2; attempts are forgotten."""
        ...

    async def offer(self, session_id: str, epoch: int, replacements: Mapping[int, str]) -> Mapping[int, str]:
        """Freeze replacements outside of a batch; the texts that are frozen now, which may be older ones."""
        ...

    async def replacements(self, session_id: str) -> Sequence[PlannedReplacement]:
        """Every frozen replacement in view, by ref."""
        ...

    async def take_attempt(
        self, session_id: str, batch_key: bytes, *, limit: int, cool_down_ms: int, now_ms: int
    ) -> tuple[int, int]:
        """Count one attempt at a batch before it is made: (its number from 1, 0), or (0, ms until the next is allowed).

        Once `limit` are used, nothing is allowed until `cool_down_ms` after the last one; then the count restarts.
        """
        ...

    async def return_attempt(self, session_id: str, batch_key: bytes) -> None:
        """The attempt taken last was not made after all."""
        ...

    async def claim(self, session_id: str, batch_key: bytes, *, owner: str, ttl_ms: int, now_ms: int) -> int:
        """Claim a batch, or a block, for this process: 0 if `owner` has it now, else ms until the other claim ends.

        The owner's own claim is renewed. A claim of a process that is gone from this machine is free at once.
        """
        ...

    async def release(self, session_id: str, batch_key: bytes, *, owner: str) -> None:
        """Give a claim up; one that is not the owner's stays."""
        ...


# --- turn log --------------------------------------------------------------------------------------------------


class PendingTurn(Struct, frozen=True, kw_only=True):
    """A logged turn with calls that wait (phase 1). `calls`: (index in the turn, ref), in turn order."""

    sequence: int
    batch_id: str
    turn_index: int
    timestamp: int
    assistant_text: str | None
    user_text: str | None
    group: int
    due: bool
    loose: str
    calls: Sequence[tuple[int, int]]


class Turns(Protocol):
    """Turns that are stored but not condensed. Only the session's own; turns without waiting calls are forgotten."""

    async def state(self, session_id: str) -> str | None:
        """The small text that the last intake left (`Intake.turn_state`)."""
        ...

    async def pending(self, session_id: str) -> Sequence[PendingTurn]:
        """The turns with waiting calls, oldest first."""
        ...

    async def mark_due(self, session_id: str) -> None:
        """Every waiting turn is to be condensed now; the mark outlives the process."""
        ...


# --- blocks ----------------------------------------------------------------------------------------------------


class Blocks(Protocol):
    """Fused ranges."""

    async def find(self, session_id: str, block_key: bytes) -> StoredBlock | None:
        """The block made from the same input before, if there is one in view."""
        ...

    async def numbered(self, session_id: str, number: int) -> StoredBlock | None:
        """Block bN, if it is in view."""
        ...

    async def all(self, session_id: str) -> Sequence[StoredBlock]:
        """Every block in view, by number."""
        ...

    async def add(
        self, session_id: str, epoch: int, block_key: bytes, *, text: str, details: str, source: str, now_ms: int
    ) -> StoredBlock | None:
        """Keep a block under the next number, or give the one that was first; None if the session was deleted."""
        ...


class Store(Protocol):
    """The five together."""

    @property
    def sessions(self) -> Sessions: ...
    @property
    def archive(self) -> Archive: ...
    @property
    def batches(self) -> Batches: ...
    @property
    def turns(self) -> Turns: ...
    @property
    def blocks(self) -> Blocks: ...
