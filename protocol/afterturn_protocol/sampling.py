"""Requests from the server to the client: a completion, the context (protocol.md, 'Requests from the server')."""

from afterturn_protocol.blocks import Block
from afterturn_protocol.shape import Count, Shape


class SamplingMessage(Shape, frozen=True, kw_only=True):
    """One message of a prompt.

    role: "user" or "assistant".
    content: a string or a list of blocks.
    """

    role: str
    content: str | list[Block]


class CreateMessageParams(Shape, frozen=True, kw_only=True):
    """Params of `sampling/createMessage`, sent only to a client that declared `sampling`.

    purpose: "condense.batch", "condense.fuse", "recap", "reflection.synth", "reflection.score", "reflection.batch".
    system: a system prompt; omitted means none at all.
    messages: the prompt.
    max_tokens: most tokens of the answer.
    temperature: as providers define it.
    reasoning: "off" or "default".
    cache: "none": nothing is written to the provider's prompt cache.
    model: "provider/id"; omitted means the host chooses.
    session_id: the session it is for.
    """

    purpose: str
    system: str | None = None
    messages: list[SamplingMessage]
    max_tokens: Count
    temperature: float | None = None
    reasoning: str
    cache: str
    model: str | None = None
    session_id: str


class SamplingUsage(Shape, frozen=True, kw_only=True):
    """Usage as far as the host knows it; omitted and null both mean unknown.

    model: "provider/id".
    input_tokens: tokens sent.
    output_tokens: tokens received.
    cached_tokens: the part of the input that was read from a prompt cache.
    cost: US dollars.
    calls: number of calls; omitted means 1.
    """

    model: str | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached_tokens: Count | None = None
    cost: float | None = None
    calls: Count | None = None


class CreateMessageResult(Shape, frozen=True, kw_only=True):
    """Result of `sampling/createMessage`.

    text: the answer, without reasoning.
    stop_reason: "stop", "length", "error", "aborted". Only a clean stop is used.
    model: "provider/id" that answered.
    usage: what it cost.
    """

    text: str
    stop_reason: str
    model: str
    usage: SamplingUsage | None = None


class GetContextParams(Shape, frozen=True, kw_only=True):
    """Params of `host/getContext`, sent only to a client that declared `context`. Its result is a RecapContext.

    session_id: the session.
    """

    session_id: str
