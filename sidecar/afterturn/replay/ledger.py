"""What is in the context, call by call: as it was, and with what afterturn put in place."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from afterturn.replay.figures import ToolFigures
from afterturn.replay.stream import Turn

_TO_BE_CONDENSED = ("condensed", "passthrough", "duplicate")
"""States of calls that a `condense.ready` will speak of (condense.md, 'Order of work')."""


class _Held(msgspec.Struct):
    """A result that something may take the place of. in_context: no compaction took it away."""

    tool_call_id: str
    tool_name: str
    chars: int
    in_context: bool = True
    replaced: bool = False


class Ledger:
    """One session's context. tools: the figures of its file by tool, which it keeps."""

    def __init__(self, tools: dict[str, ToolFigures]) -> None:
        self._tools = tools
        self._held: dict[int, list[_Held]] = {}
        self.before = 0
        self.after = 0
        self.waiting_chars = 0

    @property
    def waits(self) -> bool:
        """Whether turns wait for what becomes of them."""
        return bool(self._held)

    @property
    def waiting_turns(self) -> int:
        """How many do."""
        return len(self._held)

    def add(self, turn: Turn, index: int, items: Iterable[Mapping[str, Any]]) -> None:
        """A turn came. items: what `condense/onTurnEnd` answered for its calls, in order."""
        said = len(turn.user_text or "") + len(turn.assistant_text or "")
        said += sum(_args_chars(call.args) for call in turn.calls)
        held = [_Held(call.tool_call_id, call.tool_name, len(call.result_text or "")) for call in turn.calls]
        results = sum(each.chars for each in held)
        self.before += said + results
        self.after += said + results
        items = list(items)
        self._replace(held, items)
        if any(item["state"] in _TO_BE_CONDENSED for item in items):
            self._held[index] = held
            self.waiting_chars += results

    def count(self, turn: Turn) -> None:
        """Count its calls, whatever becomes of them."""
        for call in turn.calls:
            self._tools.setdefault(call.tool_name, ToolFigures()).add(call)

    def settle(self, items: Iterable[Mapping[str, Any]]) -> None:
        """A batch is ready; its turns wait no longer. items: of its result, in order."""
        by_turn: dict[int, list[Mapping[str, Any]]] = {}
        for item in items:
            by_turn.setdefault(item["turnIndex"], []).append(item)
        for turn, own in by_turn.items():
            held = self._held.pop(turn, [])
            self.waiting_chars -= sum(each.chars for each in held)
            self._replace(held, own)

    def give_up(self) -> None:
        """Nothing more will come for what waits."""
        self._held.clear()
        self.waiting_chars = 0

    def compacted(self) -> None:
        """The harness made a summary of everything; how long it is, no harness says."""
        self.before = self.after = 0
        for held in self._held.values():
            for each in held:
                each.in_context = False

    def _replace(self, held: list[_Held], items: Iterable[Mapping[str, Any]]) -> None:
        left = [each for each in held if not each.replaced]
        for item in items:
            text = item.get("replacement")
            if text is None:
                continue
            each = next((each for each in left if each.tool_call_id == item["toolCallId"]), None)
            if each is None:
                continue
            left.remove(each)
            each.replaced = True
            saved = each.chars - len(text)
            self._tools[each.tool_name].kept_chars -= saved
            if each.in_context:
                self.after -= saved


def _args_chars(args: Any) -> int:
    return len(args) if isinstance(args, str) else len(json.dumps(args, ensure_ascii=False))
