"""Texts that are embedded, and the vectors they get (seed core-capture, section 7; capture.md, 'Vectors')."""

import logging
from collections.abc import Sequence

from msgspec.structs import replace

from afterturn.capture.embedder import Embedder, EmbeddingError
from afterturn.capture.normalising import json_text
from afterturn.capture.notes import Notes, joined
from afterturn.capture.rows import TraceRow
from afterturn.text import cut
from afterturn_protocol.traces import ToolCallDTO, Trace, TraceVectors

_INPUT_CHARS = 300
_BYTES_PER_COMPONENT = 4


def texts_of(trace: Trace) -> tuple[str | None, str | None]:
    """The text of each vector, summary (the user's words) and action; None where there is nothing to embed."""
    action = joined([trace.agent_text, "\n".join(_signature(call) for call in trace.tool_calls)])
    return trace.user_text.strip() or None, action or None


def needs_vectors(trace: Trace) -> bool:
    """Whether a text is there whose vector is not."""
    summary, action = bool(trace.user_text.strip()), bool(trace.agent_text.strip() or trace.tool_calls)
    return (summary and not trace.vectors.summary) or (action and not trace.vectors.action)


def _signature(call: ToolCallDTO) -> str:
    return f"{call.name}({cut(json_text(call.input), _INPUT_CHARS)})"


async def embedded(rows: Sequence[TraceRow], embedder: Embedder, notes: Notes) -> list[TraceRow]:
    """The rows with the vectors that they lacked; as they were, with a warning, where those cannot be made."""
    try:
        return await with_vectors(rows, embedder)
    except EmbeddingError as problem:
        count = sum(needs_vectors(row.trace) for row in rows)
        log_failure(count, problem)
        notes.add("embed", "embedding_failed", count, why=problem.message)
        return list(rows)


def log_failure(count: int, problem: EmbeddingError) -> None:
    """Say that so many traces have no vectors for now."""
    logging.getLogger("afterturn.capture.embed").warning("not embedded, traces: %d: %s", count, problem.message)


async def with_vectors(rows: Sequence[TraceRow], embedder: Embedder) -> list[TraceRow]:
    """The rows with the vectors that they lacked, made in one call. Raises EmbeddingError."""
    wanted: list[tuple[int, str]] = []
    texts: list[str] = []
    for index, row in enumerate(rows):
        summary, action = texts_of(row.trace)
        if row.summary_vector is None and summary:
            wanted.append((index, "summary"))
            texts.append(summary)
        if row.action_vector is None and action:
            wanted.append((index, "action"))
            texts.append(action)
    if not texts:
        return list(rows)
    vectors = await embedder.embed(texts)
    _check(vectors, len(texts), embedder.dimension)
    made = list(rows)
    for (index, kind), vector in zip(wanted, vectors, strict=True):
        made[index] = _with_vector(made[index], kind, vector, embedder)
    return made


def _check(vectors: Sequence[bytes], count: int, dimension: int) -> None:
    if len(vectors) != count:
        raise EmbeddingError(f"the embedder gave {len(vectors)} vectors for {count} texts")
    if any(len(vector) != dimension * _BYTES_PER_COMPONENT for vector in vectors):
        raise EmbeddingError(f"the embedder gave a vector that has not {dimension} components")


def _with_vector(row: TraceRow, kind: str, vector: bytes, embedder: Embedder) -> TraceRow:
    summary = vector if kind == "summary" else row.summary_vector
    action = vector if kind == "action" else row.action_vector
    vectors = TraceVectors(
        summary=summary is not None, action=action is not None, model=embedder.model, dimension=embedder.dimension
    )
    return replace(row, summary_vector=summary, action_vector=action, trace=replace(row.trace, vectors=vectors))
