"""condense/summarize, onTurnEnd, flush, fuse, plan."""

from collections.abc import Coroutine
from typing import Any

from afterturn.condense.service import CondenseService
from afterturn.rpc.call import Call
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


def summarize(condense: CondenseService, params: SummarizeParams, call: Call) -> Coroutine[Any, Any, CondenseResult]:
    """`condense/summarize`."""
    return condense.summarize(params, arrived=call.arrived)


def on_turn_end(
    condense: CondenseService, params: CondenseTurnEndParams, call: Call
) -> Coroutine[Any, Any, CondenseTurnEndResult]:
    """`condense/onTurnEnd`."""
    return condense.on_turn_end(params, arrived=call.arrived, after_reply=call.after_reply)


def flush(condense: CondenseService, params: FlushParams, call: Call) -> Coroutine[Any, Any, FlushResult]:
    """`condense/flush`."""
    return condense.flush(params, arrived=call.arrived, after_reply=call.after_reply)


async def fuse(condense: CondenseService, params: FuseParams, call: Call) -> FuseResult:
    """`condense/fuse`: begins in its turn, but the session does not wait for the model."""
    call.arrived()
    return await condense.fuse(params)


def plan(condense: CondenseService, params: PlanParams, call: Call) -> Coroutine[Any, Any, PlanResult]:
    """`condense/plan`."""
    return condense.plan(params)
