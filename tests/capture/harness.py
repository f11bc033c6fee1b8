"""Episodes in a few words, and an outside that does what a test says."""

import json
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from afterturn.capture.embedder import EmbeddingError
from afterturn.capture.rows import TraceRow
from afterturn.capture.runner import Captured, EpisodeWork, Needs, run
from afterturn.completion import CompleterError, Completion, PromptMessage
from afterturn_protocol.base import Usage
from afterturn_protocol.capture import Episode
from afterturn_protocol.settings import CaptureSettings
from afterturn_protocol.traces import Trace

Answer = str | Completion | CompleterError


def user(text: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def says(text: Any, /, id: str | None = None, **meta: Any) -> dict[str, Any]:
    """An assistant turn; further arguments are its meta."""
    return {"role": "assistant", "content": text} | ({"id": id} if id else {}) | ({"meta": meta} if meta else {})


def tool(name: str | None, output: Any = None, /, **meta: Any) -> dict[str, Any]:
    return {"role": "tool", "content": output, "meta": ({"name": name} if name else {}) | meta}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def episode(*turns: dict[str, Any], **more: Any) -> Episode:
    """An episode of these turns; a turn without a time gets its position in seconds."""
    timed = [{"ts": index * 1000, **turn} for index, turn in enumerate(turns)]
    fields = {"id": "e1", "sessionId": "s1", "startedAt": 0, "turns": timed, **more}
    return msgspec.convert(fields, Episode)


def exchange(number: int, reflection: str | None = None) -> list[dict[str, Any]]:
    """A question and its answer, unlike those with another number."""
    meta = {"reflection": reflection} if reflection else {}
    return [user(f"question {number}"), says(f"answer {number}", id=f"a{number}", **meta)]


class FakeClock:
    """Every look at it takes a millisecond."""

    def __init__(self) -> None:
        self.ms = 1_000_000

    def now_ms(self) -> int:
        self.ms += 1
        return self.ms

    def monotonic(self) -> float:
        return self.now_ms() / 1000

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("capture never sleeps")


class Asked(msgspec.Struct):
    """One call that reached the completer."""

    purpose: str
    system: str
    user: str
    max_tokens: int
    version: str


class FakeCompleter:
    """Answers by purpose: with a text, with what a function makes of the call, or with the next of a list."""

    def __init__(self, **answers: Any) -> None:
        self._answers = {name.replace("_", "."): answer for name, answer in answers.items()}
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self._at_once = 0
        self.is_there = True

    def available(self, session_id: str, model: str | None) -> bool:
        return self.is_there

    async def complete(self, purpose: Any, messages: Sequence[PromptMessage], **more: Any) -> Completion:
        import anyio

        asked = Asked(purpose, messages[0].content, messages[1].content, more["max_tokens"], more["prompt_version"])
        assert [message.role for message in messages] == ["system", "user"]
        self.asked.append(asked)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await anyio.lowlevel.checkpoint()
            return self._answer(asked)
        finally:
            self._at_once -= 1

    def _answer(self, asked: Asked) -> Completion:
        answer = self._answers[asked.purpose]
        if isinstance(answer, list):
            answer = answer.pop(0)
        if callable(answer):
            answer = answer(asked)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Completion):
            return answer
        return Completion(text=answer, stop_reason="stop", model="fake/m", usage=usage())

    def calls(self) -> dict[str, int]:
        counted: dict[str, int] = {}
        for asked in self.asked:
            counted[asked.purpose] = counted.get(asked.purpose, 0) + 1
        return counted


def usage() -> Usage:
    return Usage(model="fake/m", input_tokens=10, output_tokens=2, cost=0.5, calls=1)


def score(alpha: Any = 0.7, usable: Any = True, reason: Any = "clear") -> str:
    return json.dumps({"alpha": alpha, "usable": usable, "reason": reason})


def batch(*entries: dict[str, Any]) -> str:
    return json.dumps({"scores": list(entries)})


def entry(index: Any, alpha: Any = 0.7, usable: Any = True, text: Any = "", reason: Any = "clear") -> dict[str, Any]:
    return {"idx": index, "reflection_text": text, "alpha": alpha, "usable": usable, "reason": reason}


def prompted_steps(asked: Asked) -> list[dict[str, Any]]:
    """The steps that a batch prompt shows."""
    return [json.loads(line) for line in asked.user.split("\n") if line.startswith('{"idx"')]


def batch_for_all(alpha: float = 0.7, text: str = "") -> Callable[[Asked], str]:
    """A batch reply with an entry for every step of the prompt."""
    return lambda asked: batch(*(entry(step["idx"], alpha, text=text) for step in prompted_steps(asked)))


def refused(kind: str = "provider_error", **more: Any) -> CompleterError:
    return CompleterError(kind, "it did not work", **({"retryable": True} | more))


class MemoryMemo:
    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}

    async def get(self, key: bytes) -> bytes | None:
        return self.values.get(key)

    async def put(self, key: bytes, value: bytes) -> None:
        assert len(key) == 32
        self.values[key] = value


class FakeEmbedder:
    """Vectors of two components; fails where it is told to."""

    def __init__(self, problem: EmbeddingError | None = None, dimension: int = 2) -> None:
        self.model = "fake-2"
        self.dimension = dimension
        self.problem = problem
        self.embedded: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.embedded.append(list(texts))
        if self.problem is not None:
            raise self.problem
        return [vector(text) for text in texts]


def vector(text: str) -> bytes:
    return struct.pack("<2f", float(len(text)), 1.0)


def hide(text: str) -> tuple[str, dict[str, int]]:
    """Stands for the redactor: SECRET and a digit is a secret."""
    clean, count = re.subn(r"SECRET\d", "[REDACTED:x]", text)
    return clean, {"x": count} if count else {}


async def capture(
    given: Episode,
    completer: FakeCompleter | None = None,
    *,
    embedder: FakeEmbedder | None = None,
    scores: MemoryMemo | None = None,
    known: Sequence[TraceRow] = (),
    stages: list[str] | None = None,
    **settings: Any,
) -> Captured:
    needs = Needs(completer=completer, embedder=embedder, redact=hide, clock=FakeClock())
    work = EpisodeWork(
        episode=given,
        project="p",
        settings=CaptureSettings(**settings),
        redactions=0,
        scores=scores or MemoryMemo(),
        known=known,
        at_stage=stages.append if stages is not None else lambda _: None,
    )
    captured = await run(needs, work)
    assert [row.trace for row in captured.rows] == captured.result.traces
    assert [trace.trace_id for trace in captured.result.traces] == captured.result.trace_ids
    assert len(set(captured.result.trace_ids)) == len(captured.result.trace_ids)
    assert [trace.step_index for trace in captured.result.traces] == list(range(len(captured.rows)))
    return captured


def codes(captured: Captured) -> list[str]:
    return [f"{warning.stage}.{warning.code}" for warning in captured.result.warnings]


def judged(trace: Trace) -> tuple[str, float, bool]:
    return trace.reflection.source, trace.reflection.alpha, trace.reflection.usable
