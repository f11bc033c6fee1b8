"""Shapes that several nouns share: messages, the model a session runs on, usage (protocol.md, 'Shared shapes')."""

from typing import Any

from afterturn_protocol.blocks import Block
from afterturn_protocol.shape import Count, Millis, Shape


class ToolUse(Shape, frozen=True, kw_only=True):
    """A tool call as an assistant message lists it.

    id: the call's id, which the tool message names as its `toolCallId`.
    name: the tool.
    input: the arguments, any JSON.
    """

    id: str
    name: str
    input: Any = None


class Message(Shape, frozen=True, kw_only=True):
    """One message of a conversation, as the host projects it.

    id: the host's own id for the entry.
    role: "user", "assistant", "tool", "system"; others are kept.
    content: a string or a list of blocks.
    kind: "message" (the default), "compaction", "branchSummary", "custom".
    tool_calls: the calls an assistant message makes.
    tool_call_id: for a tool message, the call it answers.
    tool_name: for a tool message, the tool.
    is_error: whether the tool failed; omitted means no.
    stop_reason: why the assistant stopped.
    timestamp: epoch ms.
    omitted: the entry is hidden from the model by a context edit; it never leaves in a prompt.
    """

    id: str | None = None
    role: str
    content: str | list[Block]
    kind: str | None = None
    tool_calls: list[ToolUse] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool | None = None
    stop_reason: str | None = None
    timestamp: Millis | None = None
    omitted: bool | None = None


class ModelChoice(Shape, frozen=True, kw_only=True):
    """A model that a provider offers.

    provider: such as "anthropic".
    id: the provider's own name of the model.
    """

    provider: str
    id: str


class ModelInfo(Shape, frozen=True, kw_only=True):
    """The model a session runs on, and what its provider offers.

    provider: such as "anthropic".
    id: the provider's own name of the model.
    api: the API family that the host uses to reach it.
    available: the models that may be chosen from.
    """

    provider: str
    id: str
    api: str | None = None
    available: list[ModelChoice] | None = None


class Usage(Shape, frozen=True, kw_only=True):
    """What model calls cost. What is unknown is null, never 0; a result that is repeated from memory has no usage.

    model: "provider/id"; "*" in a sum over several models.
    input_tokens: tokens sent, or null.
    output_tokens: tokens received, or null.
    cached_tokens: the part of the input that was read from a prompt cache.
    cost: US dollars, or null where no price is known.
    calls: number of model calls.
    """

    model: str
    input_tokens: Count | None
    output_tokens: Count | None
    cached_tokens: Count | None = None
    cost: float | None
    calls: Count
