"""One question to a model: from memory if it was paid for, read, and asked once more if it cannot be read.

What is left of the episode's calls, what they cost and whether there is any use in asking on is kept here
(capture.md, 'Reflection', 'Durability').
"""

import re
from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from afterturn.capture.alpha import UnreadableReplyError
from afterturn.capture.ids import digest
from afterturn.capture.memo import ScoreMemo
from afterturn.capture.reading import Redactor
from afterturn.completion import Completer, CompleterError, Completion, PromptMessage, Purpose
from afterturn.usage import added
from afterturn_protocol.base import Usage

T = TypeVar("T")

IDLE_TIMEOUT_MS = 45_000
TOTAL_TIMEOUT_MS = 120_000
_MOST_PROVIDER_CALLS = 3
_MOST_TOKENS = 32_000
MAX_REPLY_CHARS = 256_000
_SURROGATE = re.compile("[\ud800-\udfff]")
_CODES = {
    "deadline": "llm_timeout",
    "budget_exceeded": "llm_budget_exceeded",
}


class NoAnswerError(Exception):
    """A question that got no usable answer. code: of the warning it makes; why: for its detail."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(f"{code}: {why}")
        self.code = code
        self.why = why


class Question(Struct, Generic[T], frozen=True, kw_only=True):
    """What is asked.

    about: the trace or episode it is about; with prompt and model that is what an answer is remembered by.
    read: makes something of the reply; raises UnreadableReplyError. whole: a reply that was cut is of no use.
    repair: the user message after a reply that could not be read, from what was wrong; None asks only once.
    """

    purpose: Purpose
    version: str
    about: str
    system: str
    user: str
    max_tokens: int
    read: Callable[[str], T]
    whole: bool = False
    repair: Callable[[str], str] | None = None


class Answer(Struct, Generic[T], frozen=True):
    """What was made of a reply, and the model that gave it."""

    value: T
    model: str


class _Kept(Struct, frozen=True, array_like=True):
    """A reply in the memo. text: None for one that could not be read, so that it is not paid for again."""

    text: str | None
    model: str
    usage: Usage | None


class Asker:
    """Asks for one episode. calls: how many questions were asked, by purpose. usage: what they cost in all."""

    def __init__(
        self,
        completer: Completer,
        scores: ScoreMemo,
        redact: Redactor,
        *,
        session_id: str,
        model: str | None,
        most_calls: int,
        background: bool,
    ) -> None:
        self._completer = completer
        self._scores = scores
        self._redact = redact
        self._session_id = session_id
        self._model = model
        self._left = most_calls
        self._background = background
        self._stopped: NoAnswerError | None = None
        self.calls: dict[str, int] = {}
        self.usage: Usage | None = None

    async def ask(self, question: Question[T]) -> Answer[T]:
        """The answer to a question. Raises NoAnswerError; StoreError of the memo passes."""
        model = self._model or ""
        key = digest(question.purpose, question.version, model, question.about, question.system, question.user)
        value = await self._scores.get(key)
        if value is not None:
            return self._remembered(question, msgspec.json.decode(value, type=_Kept))
        spent: Usage | None = None
        user, max_tokens = question.user, question.max_tokens
        for again in (False, True):
            completion = await self._completed(question, user, max_tokens, first=not again)
            spent = added(spent, completion.usage)
            text = _SURROGATE.sub("\ufffd", self._redact(completion.text[:MAX_REPLY_CHARS])[0])
            try:
                if question.whole and completion.stop_reason == "length":
                    raise UnreadableReplyError("it was cut")
                read = question.read(text)
            except UnreadableReplyError as wrong:
                # What was cut, or empty, was asked once more with more room already (models.md, 'Completers').
                asked_again = again or completion.stop_reason == "length" or not text.strip()
                if question.repair is None or asked_again:
                    await self._keep(key, _Kept(None, completion.model, spent))
                    raise NoAnswerError("llm_output_malformed", wrong.problem) from None
                user, max_tokens = question.repair(wrong.problem), min(max_tokens * 2, _MOST_TOKENS)
                continue
            await self._keep(key, _Kept(text, completion.model, spent))
            return Answer(read, completion.model)
        raise AssertionError("the second round returns or raises")

    async def _keep(self, key: bytes, kept: _Kept) -> None:
        await self._scores.put(key, msgspec.json.encode(kept))

    def _remembered(self, question: Question[T], kept: _Kept) -> Answer[T]:
        self._count(question.purpose)
        self._left -= 1
        self.usage = added(self.usage, kept.usage)
        if kept.text is None:
            raise NoAnswerError("llm_output_malformed", "the reply could not be read")
        return Answer(question.read(kept.text), kept.model)

    async def _completed(self, question: Question[T], user: str, max_tokens: int, *, first: bool) -> Completion:
        if self._stopped is not None:
            raise self._stopped
        if self._left <= 0:
            raise NoAnswerError("llm_call_limit", "the limit of calls for one episode is reached")
        self._left -= 1
        try:
            completion = await self._completer.complete(
                question.purpose,
                [PromptMessage("system", question.system), PromptMessage("user", user)],
                session_id=self._session_id,
                prompt_version=question.version,
                max_tokens=max_tokens,
                model=self._model,
                reasoning="off",
                idle_timeout_ms=IDLE_TIMEOUT_MS,
                total_timeout_ms=TOTAL_TIMEOUT_MS,
                max_calls=_MOST_PROVIDER_CALLS,
                background=self._background,
            )
        except CompleterError as problem:
            raise self._failed(question.purpose, problem, first=first) from None
        if first:
            self._count(question.purpose)
        self.usage = added(self.usage, completion.usage)
        if completion.stop_reason in ("error", "aborted"):
            raise NoAnswerError("llm_unavailable", f"the reply ended with {completion.stop_reason}")
        return completion

    def _failed(self, purpose: str, problem: CompleterError, *, first: bool) -> NoAnswerError:
        self.usage = added(self.usage, problem.usage)
        no_answer = NoAnswerError(_CODES.get(problem.kind, "llm_unavailable"), problem.message)
        if not problem.called:
            self._left += 1
        elif first:
            self._count(purpose)
        # Nothing that is asked next would fare better: no credentials, no budget, nobody to ask.
        if problem.terminal or not problem.called:
            self._stopped = no_answer
        return no_answer

    def _count(self, purpose: str) -> None:
        self.calls[purpose] = self.calls.get(purpose, 0) + 1
