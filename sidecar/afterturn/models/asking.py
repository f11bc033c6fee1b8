"""One question to the models, and what it has cost so far (models.md, 'Completers')."""

from collections.abc import Hashable, Sequence
from hashlib import blake2b

from msgspec import Struct

from afterturn.completion import CompleterError, Completion, PromptMessage, Purpose
from afterturn.replies import without_thinking
from afterturn.usage import added
from afterturn_protocol.base import Usage

STOP, CUT, ABORTED = "stop", "length", "aborted"
MOST_REPLY_TOKENS = 8192
"""No retry asks for more: a cap above what the model can write is an error with many providers."""


class Question(Struct, frozen=True, kw_only=True):
    """What a job asks, redacted. epoch: the session's life. prompt_tokens: estimated."""

    purpose: Purpose
    messages: Sequence[PromptMessage]
    session_id: str
    epoch: int
    prompt_version: str
    prompt_tokens: int
    max_tokens: int
    reasoning: str
    idle_timeout_ms: int
    total_timeout_ms: int
    background: bool


class Target(Struct, frozen=True):
    """One model by one way. destination: where the data goes."""

    provider: str
    model: str | None
    destination: str

    @property
    def key(self) -> Hashable:
        """What breaker and places are kept by."""
        return (self.provider, self.model, self.destination)

    @property
    def label(self) -> str:
        """The model for a log and the ledger; the host's own choice has no name."""
        return self.model or self.provider


class Tally:
    """What a question has used of its calls and its time, and what it cost. Waiting for a place takes no time.

    calls: made, at a provider. spent: seconds.
    """

    __slots__ = ("calls", "most_calls", "spent", "total_seconds", "usage")

    def __init__(self, most_calls: int, total_seconds: float) -> None:
        self.most_calls = most_calls
        self.total_seconds = total_seconds
        self.calls = 0
        self.spent = 0.0
        self.usage: Usage | None = None

    @property
    def calls_left(self) -> int:
        """Calls that may still be made."""
        return max(self.most_calls - self.calls, 0)

    @property
    def seconds_left(self) -> float:
        """Time that is left."""
        return max(self.total_seconds - self.spent, 0.0)

    def add(self, usage: Usage) -> None:
        """A call was charged for."""
        self.usage = added(self.usage, usage)

    def costed(self, problem: CompleterError) -> CompleterError:
        """The failure with what all calls cost."""
        problem.called = self.calls > 0
        problem.usage = self.usage
        return problem


def memo_key(question: Question, model: str | None) -> bytes:
    """What a completion is remembered by: all that can change it, but not the session (models.md, 'Memo').

    The reply's cap is part of it, because the jobs ask for more room after a reply that was no good.
    """
    state = blake2b(digest_size=32)
    parts = [question.purpose, question.prompt_version, model or "", str(question.max_tokens), question.reasoning]
    for message in question.messages:
        parts += (message.role, message.content)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.digest()


def ended(completion: Completion) -> str:
    """How the reply ended: "stop", "length" or "aborted"; any other word is an "error" (spec/server-requests.md)."""
    return completion.stop_reason if completion.stop_reason in (STOP, CUT, ABORTED) else "error"


def is_whole(completion: Completion) -> bool:
    """Whether the reply ended by itself and holds something beside thinking."""
    return ended(completion) == STOP and _holds_text(completion.text)


def wants_room(completion: Completion) -> bool:
    """Whether a larger cap may make a better reply: it was cut, or the cap went into thinking."""
    if completion.stop_reason in ("error", ABORTED):
        return False
    return completion.stop_reason == CUT or not _holds_text(completion.text)


def _holds_text(text: str) -> bool:
    return bool(without_thinking(text).strip())
