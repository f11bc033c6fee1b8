"""The condense service: one method for each method of the wire (protocol.md, 'condense').

Results are archived before anything else happens, in the order the calls arrive; `arrived` is called once that is
done, so that the session's next message need not wait for a model. Everything here is safe to cancel.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from afterturn.condense.arriving import read_arrivals
from afterturn.condense.background import Background, Emit, Spawn
from afterturn.condense.condenser import Condenser, Work
from afterturn.condense.identity import batch_key, made_batch_id
from afterturn.condense.needs import Needs
from afterturn.condense.plan import made_plan
from afterturn.condense.ports import Intake
from afterturn.condense.results import thawed
from afterturn.condense.turn_end import TurnEnds
from afterturn.overlay import overlaid
from afterturn_protocol.condense import (
    CondenseResult,
    CondenseTurnEndParams,
    CondenseTurnEndResult,
    FlushParams,
    FlushResult,
    FuseParams,
    FuseResult,
    PlanParams,
    PlanResult,
    SummarizeParams,
)

if TYPE_CHECKING:
    from afterturn.condense.fuser import Fuser

Arrived = Callable[[], None]
"""Called once when what the request brings is archived, in order."""

AfterReply = Callable[[Callable[[], None]], None]
"""Runs what it is given once the answer is on its way."""


class CondenseService:
    """Condenses, resolves, plans.

    needs: the outside. spawn: starts a task in the background. emit: sends the event `condense.ready`.
    Every method raises StoreError where the store fails, and InvalidInputError for values that make no sense.
    """

    def __init__(self, needs: Needs, *, spawn: Spawn, emit: Emit) -> None:
        self._needs = needs
        self._condenser = Condenser(needs)
        self._turn_ends = TurnEnds(needs, Background(needs, self._condenser, spawn, emit))
        self._fuser: Fuser | None = None

    async def summarize(self, params: SummarizeParams, *, arrived: Arrived) -> CondenseResult:
        """`condense/summarize`: the batch archived and condensed, or what was answered for it before."""
        needs, batch = self._needs, params.batch
        settings = overlaid("condense", needs.settings(), params.options)
        arrivals = await read_arrivals(needs, batch, settings)
        key = batch_key(call.identity for call in arrivals.calls)
        batch_id = batch.batch_id or made_batch_id(key)
        intake = Intake(calls=arrivals.new, batch_key=key, batch_id=batch_id)
        taken = await needs.store.archive.take_in(params.session_id, intake, now_ms=needs.clock.now_ms())
        arrived()
        if taken.frozen is not None and settings.enabled:
            return thawed(taken.frozen)
        work = Work(
            session_id=params.session_id,
            epoch=taken.epoch,
            batch_key=key,
            batch_id=batch_id,
            calls=arrivals.calls,
            placed=taken.placed,
            request=batch.user_text,
            prose=batch.assistant_text,
            settings=settings,
            background=False,
        )
        return await self._condenser.condense(work)

    async def on_turn_end(
        self, params: CondenseTurnEndParams, *, arrived: Arrived, after_reply: AfterReply
    ) -> CondenseTurnEndResult:
        """`condense/onTurnEnd`: the turn stored; what is started ends in `condense.ready`."""
        return await self._turn_ends.on_turn_end(params, arrived=arrived, after_reply=after_reply)

    async def flush(self, params: FlushParams, *, arrived: Arrived, after_reply: AfterReply) -> FlushResult:
        """`condense/flush`: everything that waits is started."""
        batches = await self._turn_ends.flush(params.session_id, arrived=arrived, after_reply=after_reply)
        return FlushResult(batches=batches)

    async def resume(self, session_id: str, *, arrived: Arrived, after_reply: AfterReply) -> int:
        """Take up what a process that ended had started in this session; how many batches that is."""
        return await self._turn_ends.resume(session_id, arrived=arrived, after_reply=after_reply)

    async def fuse(self, params: FuseParams) -> FuseResult:
        """`condense/fuse`: one block for a range."""
        if self._fuser is None:
            from afterturn.condense.fuser import Fuser

            self._fuser = Fuser(self._needs)
        return await self._fuser.fuse(params)

    async def plan(self, params: PlanParams) -> PlanResult:
        """`condense/plan`: everything that was given out so far."""
        store = self._needs.store
        return made_plan(
            await store.batches.replacements(params.session_id),
            await store.batches.summarized(params.session_id),
            await store.blocks.all(params.session_id),
        )
