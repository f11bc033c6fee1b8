"""Finished turns that wait, and how they make batches (condense.md, 'When to condense')."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from afterturn.condense.calls import INCOMPLETE, Call
from afterturn.condense.identity import encoded, json_text, text_digest
from afterturn.condense.ports import PendingTurn, StoredCall

KindOf = Callable[[StoredCall], str]
"""Whether a stored call is OPEN or PROTECTED, as the settings are now."""

_UNFINISHED = ("error", "aborted", "abort", "cancelled", "canceled", "interrupted")


class TurnState(Struct, frozen=True):
    """What one turn end leaves for the next.

    group: number of the user request that goes on. closed: it ended. request: hash of its text, as hex, and its
    redacted `text`. baseline: the context's use at the last turn that told it.
    """

    group: int = 0
    closed: bool = False
    request: str | None = None
    text: str | None = None
    baseline: float | None = None


def read_state(stored: str | None) -> TurnState:
    """The state as `written_state` wrote it; the first state where there is none."""
    return TurnState(**json.loads(stored)) if stored is not None else TurnState()


def written_state(state: TurnState) -> str:
    """The state as a small text."""
    return json_text({name: getattr(state, name) for name in state.__struct_fields__})


def next_state(
    state: TurnState, *, user_text: str | None, safe_text: str | None, final: bool, baseline: float | None
) -> TurnState:
    """The state with this turn in it: it begins another user request after a final turn or with another request text.

    safe_text: the request redacted and cut, for the prompts of later turns of the same request.
    """
    request = text_digest(encoded(user_text)).hex() if user_text else None
    if state.closed or (request is not None and request != state.request):
        return TurnState(state.group + 1, final, request, safe_text, baseline)
    return TurnState(state.group, final, state.request, state.text, baseline)


def ended_well(stop_reason: str | None) -> bool:
    """Whether a final reply ended neither in an error nor in an abort."""
    return stop_reason is None or stop_reason.lower() not in _UNFINISHED


def written_loose(calls: Sequence[Call], quiet: Sequence[int]) -> str:
    """The calls of a turn without a ref of their own, and the indexes of those that wait for nothing, as a text."""
    loose = [
        {
            "index": call.index,
            "kind": call.kind,
            "toolCallId": call.tool_call_id,
            "toolName": call.tool_name,
            "outcome": call.outcome,
            "resultTimestamp": call.result_timestamp,
            "entryId": call.entry_id,
            "identity": call.identity.hex(),
            "recovered": list(call.recovered),
        }
        for call in calls
        if not call.archived
    ]
    return json_text({"loose": loose, "quiet": list(quiet)})


def waiting_calls(turns: Sequence[PendingTurn]) -> int:
    """How many calls wait to be condensed."""
    count = 0
    for turn in turns:
        quiet: list[int] = json.loads(turn.loose)["quiet"]
        count += sum(index not in quiet for index, _ in turn.calls)
    return count


def grouped(turns: Sequence[PendingTurn], batching_mode: str) -> list[list[PendingTurn]]:
    """Waiting turns, oldest first, as batches: of one turn, or of the consecutive turns of one user request.

    Pieces of one turn, sent as its results came, are one turn.
    """
    batches: list[list[PendingTurn]] = []
    for turn in turns:
        last = batches[-1][-1] if batches else None
        if (
            last is not None
            and last.group == turn.group
            and (batching_mode == "agent-message" or last.turn_index == turn.turn_index)
        ):
            batches[-1].append(turn)
        else:
            batches.append([turn])
    return batches


def calls_of(turns: Sequence[PendingTurn], stored: Sequence[StoredCall], kind_of: KindOf) -> list[Call]:
    """The calls of a batch of waiting turns, in order, renumbered from 0; what is no longer stored is left out.

    A call that was incomplete in one piece of a turn and has its result in a later one is there once.
    """
    by_ref = {call.ref: call for call in stored}
    finished = {call.tool_call_id for call in stored}
    ordered: list[tuple[int, int, Call]] = []
    ordinal = 0
    for turn, before in zip(turns, (None, *turns), strict=False):
        ordinal += before is not None and before.turn_index != turn.turn_index
        for index, ref in turn.calls:
            call = by_ref.get(ref)
            if call is not None:
                ordered.append((ordinal, index, _from_store(call, turn.turn_index, kind_of(call))))
        for loose in json.loads(turn.loose)["loose"]:
            if loose["kind"] != INCOMPLETE or loose["toolCallId"] not in finished:
                ordered.append((ordinal, loose["index"], _from_loose(loose, turn.turn_index)))
    ordered.sort(key=lambda entry: entry[:2])
    return [replace(call, index=index) for index, (_, _, call) in enumerate(ordered)]


def _from_store(call: StoredCall, turn_index: int, kind: str) -> Call:
    return Call(
        index=0,
        kind=kind,
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        args=call.args,
        text=call.text,
        outcome=call.status or ("error" if call.is_error else "ok"),
        result_timestamp=call.result_timestamp,
        entry_id=call.entry_id,
        turn_index=turn_index,
        identity=call.identity,
        images=call.images,
    )


def _from_loose(loose: dict[str, Any], turn_index: int) -> Call:
    return Call(
        index=0,
        kind=loose["kind"],
        tool_call_id=loose["toolCallId"],
        tool_name=loose["toolName"],
        args="null",
        text="",
        outcome=loose["outcome"],
        result_timestamp=loose["resultTimestamp"],
        entry_id=loose["entryId"],
        turn_index=turn_index,
        identity=bytes.fromhex(loose["identity"]),
        recovered=loose["recovered"],
    )
