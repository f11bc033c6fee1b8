"""What is in the context, call by call: as it was, and with what afterturn put in place."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from afterturn.replay.figures import ToolFigures
from afterturn.replay.stream import Turn

_TO_BE_CONDENSED = ("condensed", "passthrough", "duplicate")
"""States of calls that a `condense.ready` will speak of (condense.md, 'Order of work')."""


class _Waiting(msgspec.Struct):
    """A turn of which something is not decided yet. chars: of all its results. refs: how many calls are not."""

    chars: int
    refs: int = 0


class _Held(msgspec.Struct):
    """A result that something may take the place of. in_context: no compaction took it away."""

    tool_name: str
    chars: int
    turn: int
    in_context: bool = True
    replaced: bool = False


class Ledger:
    """One session's context. tools: the figures of its file by tool, which it keeps."""

    def __init__(self, tools: dict[str, ToolFigures]) -> None:
        self._tools = tools
        self._turns: dict[int, _Waiting] = {}
        self._held: dict[str, list[_Held]] = {}
        self._highest_ref = 0
        self.before = 0
        self.after = 0
        self.waiting_chars = 0

    @property
    def waits(self) -> bool:
        """Whether turns wait for what becomes of them."""
        return bool(self._turns)

    @property
    def waiting_turns(self) -> int:
        """How many do."""
        return len(self._turns)

    def add(self, turn: Turn, index: int, items: Iterable[Mapping[str, Any]]) -> None:
        """A turn came. items: what `condense/onTurnEnd` answered for its calls, in order."""
        said = len(turn.user_text or "") + len(turn.assistant_text or "")
        said += sum(_args_chars(call.args) for call in turn.calls)
        results = sum(len(call.result_text or "") for call in turn.calls)
        self.before += said + results
        self.after += said + results
        known = self._highest_ref
        waiting = _Waiting(results)
        for call, item in zip(turn.calls, items, strict=False):
            held = _Held(call.tool_name, len(call.result_text or ""), index)
            self._replace(held, item)
            ref = item.get("shortId")
            if ref is None or item["state"] not in _TO_BE_CONDENSED:
                continue
            number = int(ref[1:])
            self._highest_ref = max(self._highest_ref, number)
            if number <= known and ref not in self._held:
                continue  # the same call again, which was decided before
            waiting.refs += 1
            self._held.setdefault(ref, []).append(held)
        if waiting.refs:
            self._turns[index] = waiting
            self.waiting_chars += results

    def count(self, turn: Turn) -> None:
        """Count its calls, whatever becomes of them."""
        for call in turn.calls:
            self._tools.setdefault(call.tool_name, ToolFigures()).add(call)

    def settle(self, items: Iterable[Mapping[str, Any]]) -> None:
        """A batch is ready; its calls wait no longer, in whichever turn they came. items: of its result."""
        for item in items:
            ref: str | None = item.get("shortId")
            for held in self._held.pop(ref, []) if ref is not None else []:
                self._replace(held, item)
                turn = self._turns[held.turn]
                turn.refs -= 1
                if not turn.refs:
                    del self._turns[held.turn]
                    self.waiting_chars -= turn.chars

    def give_up(self) -> None:
        """Nothing more will come for what waits."""
        self._held.clear()
        self._turns.clear()
        self.waiting_chars = 0

    def compacted(self) -> None:
        """The harness made a summary of everything; how long it is, no harness says."""
        self.before = self.after = 0
        for held in self._held.values():
            for each in held:
                each.in_context = False

    def _replace(self, held: _Held, item: Mapping[str, Any]) -> None:
        text = item.get("replacement")
        if text is None or held.replaced:
            return
        held.replaced = True
        saved = held.chars - len(text)
        self._tools[held.tool_name].kept_chars -= saved
        if held.in_context:
            self.after -= saved


def _args_chars(args: Any) -> int:
    return len(args) if isinstance(args, str) else len(json.dumps(args, ensure_ascii=False))
