"""What makes a step the same step, and its content the same content (capture.md, 'Steps', 'Durability')."""

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from afterturn.capture.steps import Step
from afterturn_protocol.traces import ToolCallDTO

_ID_CHARS = 26
_sorted = msgspec.json.Encoder(order="sorted").encode
_escaped = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode


def digest(*parts: str) -> bytes:
    """A hash of 32 bytes over texts that cannot run into each other; lone surrogates pass."""
    return _hashed(parts)


def trace_id(session_id: str, episode_id: str, step: Step) -> str:
    """The id of a step's trace: the same whenever the episode is captured, whatever its times and options."""
    key = digest("trace", session_id, episode_id, step.turn_id, step.kind, str(step.occurrence))
    return "tr_" + key.hex()[:_ID_CHARS]


def content_key(user_text: str, agent_text: str, thinking: str | None, calls: Sequence[ToolCallDTO]) -> bytes:
    """The hash of what a step holds, times and call ids aside: equal means that there is nothing new to score."""
    held = [(call.name, call.input, call.output, call.error_code) for call in calls]
    return _hashed(("content", user_text, agent_text, thinking, held))


def _hashed(value: Any) -> bytes:
    """A hash of 32 bytes over a JSON value, the same for equal values whatever the order of keys."""
    try:
        data = _sorted(value)
    except UnicodeEncodeError:  # lone surrogates, which only escapes can carry
        data = _escaped(value).encode()
    return blake2b(data, digest_size=32).digest()
