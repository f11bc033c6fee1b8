"""The calls of a batch, read once: identity, what is left alone at once, and what goes into the archive."""

import json
from collections.abc import Callable, Sequence

from msgspec import Struct

from afterturn.condense.identity import (
    canonical_json,
    dedup_key,
    digest,
    encoded,
    json_text,
    normalized,
    open_identity,
    text_digest,
    timed_identity,
    untimed_identity,
)
from afterturn.condense.images import image_descriptors
from afterturn.condense.ports import NewCall
from afterturn.condense.protect import Protection, recovered_refs
from afterturn.contents import check_content
from afterturn.misfits import InvalidInputError
from afterturn_protocol.blocks import result_text
from afterturn_protocol.condense import Batch, ToolCall
from afterturn_protocol.settings import CondenseSettings

OPEN = "open"
PROTECTED = "protected"
RECOVERED = "recovered"
INCOMPLETE = "incomplete"


class Call(Struct, frozen=True, kw_only=True):
    """One call of a batch.

    index: its place in the batch. kind: OPEN, PROTECTED, RECOVERED or INCOMPLETE. args: JSON text.
    tool_name: the host's own, perhaps with a secret in it. text: the result, "" without one. images: descriptors of
    those in the result as JSON text. identity: what it is within a batch key. recovered: refs a recovery asked for.
    """

    index: int
    kind: str
    tool_call_id: str
    tool_name: str
    args: str
    text: str
    outcome: str
    result_timestamp: int | None
    entry_id: str | None
    turn_index: int
    identity: bytes
    images: str | None = None
    recovered: Sequence[str] = ()

    @property
    def archived(self) -> bool:
        """Whether the call has a result of its own in the archive."""
        return self.kind in (OPEN, PROTECTED)


class Arrivals(Struct, frozen=True):
    """The calls of a batch, and those of them that are to be archived, in order."""

    calls: list[Call]
    new: list[NewCall]


def read_batch(batch: Batch, settings: CondenseSettings, hide: Callable[[str], str] | None) -> Arrivals:
    """Read the calls of a batch. Pure; hashes every text once.

    hide: redacts what is archived, where originals are not kept (`store.raw` off); None keeps them.
    Raises InvalidInputError for blocks that are none, and for args or blocks that are nested too deep to be kept.
    """
    calls: list[Call] = []
    new: list[NewCall] = []
    seen: dict[bytes, int] = {}
    protection = Protection(settings.protected_tools, settings.protected_paths)
    for index, call in enumerate(batch.tool_calls):
        path = f"$.batch.toolCalls[{index}]"
        check_content(f"{path}.content", call.content)
        kind = _kind(call, settings.recovery_tool_name, protection)
        if kind in (RECOVERED, INCOMPLETE):
            calls.append(_loose(index, kind, call, batch.turn_index, hide))
            continue
        try:
            args, canonical = json_text(call.args), canonical_json(call.args)
        except RecursionError:
            raise InvalidInputError(f"{path}.args", "args that are nested less deeply") from None
        try:
            arrived = _new_call(call, batch.turn_index, args, canonical, seen)
        except RecursionError:
            raise InvalidInputError(f"{path}.content", "blocks that are nested less deeply") from None
        calls.append(_archived(index, kind, call, arrived, batch.turn_index))
        new.append(arrived if hide is None else _hidden(arrived, hide))
    return Arrivals(calls, new)


def _kind(call: ToolCall, recovery_tool_name: str, protection: Protection) -> str:
    if not call.has_result:
        return INCOMPLETE
    if call.tool_name == recovery_tool_name:
        return RECOVERED
    return PROTECTED if protection.covers(call.tool_name, call.args) else OPEN


def _loose(index: int, kind: str, call: ToolCall, turn_index: int, hide: Callable[[str], str] | None) -> Call:
    return Call(
        index=index,
        kind=kind,
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name if hide is None else hide(call.tool_name),
        args="null",
        text="",
        outcome=call.outcome,
        result_timestamp=call.result_timestamp,
        entry_id=call.entry_id,
        turn_index=turn_index,
        identity=open_identity(kind, call.tool_call_id, call.tool_name),
        recovered=recovered_refs(call.args) if kind == RECOVERED else (),
    )


def _archived(index: int, kind: str, call: ToolCall, new: NewCall, turn_index: int) -> Call:
    return Call(
        index=index,
        kind=kind,
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        args=new.args,
        text=new.text,
        outcome=call.outcome,
        result_timestamp=call.result_timestamp,
        entry_id=call.entry_id,
        turn_index=turn_index,
        identity=new.identity,
        images=new.images,
    )


def _new_call(call: ToolCall, turn_index: int, args: str, canonical: str, seen: dict[bytes, int]) -> NewCall:
    text = result_text(call.content) if call.content is not None else (call.result_text or "")
    others = [block for block in call.content or () if block.get("type") != "text"]
    other_json = json_text(others) if others else ""
    address = text_digest(encoded(text))
    content = digest(address, encoded(other_json)) if other_json else address
    if call.result_timestamp is not None:
        identity = timed_identity(call.tool_call_id, call.result_timestamp, content)
    else:
        first = untimed_identity(call.tool_call_id, call.tool_name, canonical, content, 0)
        occurrence = seen.get(first, 0)
        seen[first] = occurrence + 1
        identity = first
        if occurrence:
            identity = untimed_identity(call.tool_call_id, call.tool_name, canonical, content, occurrence)
    plain = normalized(text)
    plain_address = address if len(plain) == len(text) else text_digest(encoded(plain))
    return NewCall(
        identity=identity,
        dedup=dedup_key(call.tool_name, canonical, call.outcome, plain_address, other_json),
        digest=address,
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        args=args,
        text=text,
        is_error=call.failed,
        status=call.status,
        turn_index=turn_index,
        result_timestamp=call.result_timestamp,
        entry_id=call.entry_id,
        images=image_descriptors(call.content),
        content=json_text(call.content) if others else None,
        lossy=False,
    )


def _hidden(call: NewCall, hide: Callable[[str], str]) -> NewCall:
    text = hide(call.text)
    return NewCall(
        identity=call.identity,
        dedup=call.dedup,
        digest=text_digest(encoded(text)),
        tool_call_id=call.tool_call_id,
        tool_name=hide(call.tool_name),
        args=redacted_args(call.args, hide),
        text=text,
        is_error=call.is_error,
        status=call.status and hide(call.status),
        turn_index=call.turn_index,
        result_timestamp=call.result_timestamp,
        entry_id=call.entry_id,
        images=call.images and redacted_args(call.images, hide),
        content=None,
        lossy=True,
    )


def redacted_args(args: str, hide: Callable[[str], str]) -> str:
    """Args, given as JSON text, redacted and still JSON: what redaction leaves of it, as a string if it must be."""
    text = json.dumps(json.loads(args), ensure_ascii=False) if "\\u" in args else args
    safe = hide(text)
    if safe == text:
        return args
    try:
        return json_text(json.loads(safe))
    except ValueError:
        return json_text(safe)
