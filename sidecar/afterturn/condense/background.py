"""Waiting turns become batches in the background (condense.md, 'When to condense')."""

import json
from collections.abc import Awaitable, Callable, Sequence

import anyio

from afterturn.condense.calls import OPEN, PROTECTED
from afterturn.condense.condenser import Condenser, Work
from afterturn.condense.identity import batch_key, made_batch_id
from afterturn.condense.needs import Needs
from afterturn.condense.ports import PendingTurn, Placed, StoredCall
from afterturn.condense.protect import Protection
from afterturn.condense.results import thawed
from afterturn.condense.turns import calls_of, grouped
from afterturn_protocol.condense import CondenseReady, CondenseResult
from afterturn_protocol.settings import CondenseSettings

Spawn = Callable[[Callable[[], Awaitable[None]]], None]
"""Starts a task that outlives the call which starts it."""

Emit = Callable[[str, object], None]
"""Sends an event to the client."""


class Background:
    """Condenses what waits, at most `concurrency` batches at once; one that fails holds up no other."""

    def __init__(self, needs: Needs, condenser: Condenser, spawn: Spawn, emit: Emit) -> None:
        self._needs = needs
        self._condenser = condenser
        self._spawn = spawn
        self._emit = emit
        self._limiter = anyio.CapacityLimiter(1)
        self._busy: set[tuple[str, int]] = set()

    def reserve(
        self, session_id: str, turns: Sequence[PendingTurn], settings: CondenseSettings
    ) -> list[list[PendingTurn]]:
        """The batches to start now: those of turns that are due and not being worked on, which are from now on."""
        free = [turn for turn in turns if turn.due and (session_id, turn.sequence) not in self._busy]
        self._busy.update((session_id, turn.sequence) for turn in free)
        return grouped(free, settings.batching_mode)

    def start(self, session_id: str, epoch: int, batches: Sequence[Sequence[PendingTurn]]) -> None:
        """Begin work on reserved batches; each ends in one `condense.ready`, unless its session is deleted."""
        for turns in batches:
            self._spawn(lambda turns=turns: self._run(session_id, epoch, turns))

    async def _run(self, session_id: str, epoch: int, turns: Sequence[PendingTurn]) -> None:
        settings = self._needs.settings()
        self._limiter.total_tokens = settings.concurrency
        result = None
        try:
            async with self._limiter:
                result = await self._condensed(session_id, epoch, turns, settings)
        except Exception as problem:
            # No request waits for this; the turns stay due, and the next turn end tries them again.
            self._needs.report(f"condensing in the background failed: {type(problem).__name__}")
        finally:
            self._busy.difference_update((session_id, turn.sequence) for turn in turns)
        if result is not None and result.reason != "session_deleted":
            self._emit("condense.ready", CondenseReady(session_id=session_id, result=result))

    async def _condensed(
        self, session_id: str, epoch: int, turns: Sequence[PendingTurn], settings: CondenseSettings
    ) -> CondenseResult | None:
        store = self._needs.store
        refs = [ref for turn in turns for _, ref in turn.calls]
        stored = await store.archive.load(session_id, refs)
        if not stored:
            return None
        protection = Protection(settings.protected_tools, settings.protected_paths)

        def kind_of(call: StoredCall) -> str:
            return PROTECTED if protection.covers(call.tool_name, json.loads(call.args)) else OPEN

        calls = calls_of(turns, stored, kind_of)
        key = batch_key(call.identity for call in calls)
        frozen = await store.batches.find(session_id, key)
        if frozen is not None:
            return thawed(frozen)
        by_identity = {call.identity: call for call in stored}
        work = Work(
            session_id=session_id,
            epoch=epoch,
            batch_key=key,
            batch_id=turns[0].batch_id if len({turn.batch_id for turn in turns}) == 1 else made_batch_id(key),
            calls=calls,
            placed=[_placed(by_identity[call.identity]) for call in calls if call.archived],
            request=next((turn.user_text for turn in turns if turn.user_text), None),
            prose="\n\n".join(turn.assistant_text for turn in turns if turn.assistant_text),
            settings=settings,
            background=True,
        )
        return await self._condenser.condense(work)


def _placed(call: StoredCall) -> Placed:
    return Placed(ref=call.ref, is_new=False, first_ref=call.first_ref, replacement=call.replacement, phase=1)
