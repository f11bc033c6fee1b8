"""One draft, from what there is to draft from to the recap (recap.md, 'Drafting').

Everything here may take time and may be cancelled. What it led to goes back to the machine as an event; whether the
draft is still wanted is the machine's business, and is asked after every wait.
"""

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import to_thread
from msgspec import Struct

from afterturn.completion import Completer, CompleterError, Completion
from afterturn.prompts.recap import VERSION
from afterturn.recap.answers import check_answer, is_clean_stop, kept_recap
from afterturn.recap.current import is_current
from afterturn.recap.job import Job
from afterturn.recap.models import choose_model
from afterturn.recap.ports import ContextUnavailable, KeptRecap, Needs
from afterturn.recap.prompting import RecapInput, build_input
from afterturn.recap.signals import MANUAL, REOPEN, Dropped, Failed, Gathered, Written
from afterturn_protocol.base import ModelInfo, Usage
from afterturn_protocol.context import RecapContext
from afterturn_protocol.recap import Recap, RecapError
from afterturn_protocol.session import SavedRecap

P = ParamSpec("P")
T = TypeVar("T")

MAX_TOKENS = 256
MAX_CALLS = 2
"""An answer that was cut is asked for once more."""

HEAVY_CHARS = 20_000
"""Reading more than this takes more than a few milliseconds."""


class Material(Struct, frozen=True, kw_only=True):
    """What a draft is made of. model: the one to ask; None where facts are all there can be."""

    context: RecapContext
    input: RecapInput
    model: str | None


class Words(Struct, frozen=True, kw_only=True):
    """A recap's text, and where it is from. Facts are nobody's words, even where a model was paid for."""

    text: str
    origin: str
    model: str | None = None
    usage: Usage | None = None


class Drafter:
    """Gathers and writes. `note` takes a sentence about the settings that is worth telling once."""

    def __init__(self, needs: Needs, note: Callable[[str], None]) -> None:
        self._needs = needs
        self._note = note

    # -- what there is ---------------------------------------------------------------------------------------

    async def gather(self, job: Job) -> tuple[Gathered, Material | None]:
        """What there is to draft from, and a saved recap that still stands."""
        needs, draft_id = self._needs, job.draft.id
        reopened = job.draft.trigger == REOPEN
        if reopened and job.saved is not None and job.saved.current:
            text = kept_recap(job.saved.text, needs.settings().max_chars)
            if text:
                return await self._host_says_current(job, job.saved, text), None
        context, pulled = job.context, False
        if context is None and needs.host_context.offered():
            try:
                context, pulled = await needs.host_context.get(job.session_id), True
            except ContextUnavailable as problem:
                needs.report(f"no context for a recap: {problem}")
        if context is None:
            return Gathered(draft_id=draft_id, problem="noContext"), None
        built = await self._built(job, context)
        key = built.context_hash
        if reopened and job.kept is not None:
            host_says = job.saved.current if job.saved is not None else None
            if is_current(job.kept.context_hash, key, host_says):
                recap = self._saved(job, context, job.kept)
                return Gathered(draft_id=draft_id, key=key, pulled=pulled, saved=recap), None
        if built.empty:
            return Gathered(draft_id=draft_id, key=key, pulled=pulled, problem="empty"), None
        model = self._model(job.session_id, context.model or job.model) if built.messages else None
        writable = model is not None or self._facts(built) is not None
        gathered = Gathered(draft_id=draft_id, key=key, active=built.gate, writable=writable, pulled=pulled)
        return gathered, Material(context=context, input=built, model=model)

    async def _host_says_current(self, job: Job, saved: SavedRecap, text: str) -> Gathered:
        """The recap that the host kept, with what we know of it beside. text: its own, as it can be shown."""
        ours = job.kept if job.kept is not None and job.kept.text == saved.text else None
        key = None
        if job.context is not None:
            key = (await self._built(job, job.context)).context_hash
        elif ours is not None:
            key = ours.context_hash
        recap = self._saved(
            job,
            job.context,
            KeptRecap(
                text=text,
                model=saved.model,
                context_hash=key or "",
                created_at=self._needs.clock.now_ms() if ours is None else ours.created_at,
            ),
        )
        return Gathered(draft_id=job.draft.id, key=key, saved=recap)

    def _saved(self, job: Job, context: RecapContext | None, kept: KeptRecap) -> Recap:
        return Recap(
            recap_id=self._needs.new_id(),
            session_id=job.session_id,
            text=self._needs.redact(kept.text),
            model=kept.model,
            trigger=job.draft.trigger,
            origin="saved",
            context_hash=kept.context_hash,
            revision=None if context is None else context.revision,
            created_at=kept.created_at,
            save=False,
            usage=None,
        )

    async def _built(self, job: Job, context: RecapContext) -> RecapInput:
        needs = self._needs
        return await _beside(_chars(context), build_input, context, needs.settings(), needs.redact, job.away_since)

    def _model(self, session_id: str, active: ModelInfo | None) -> str | None:
        """The model to ask, where there is one that can be asked."""
        needs = self._needs
        pick = choose_model(needs.settings().model, active, host=needs.by_host(), default=needs.default_model())
        if pick.problem is not None:
            self._note(pick.problem)
        completer = needs.completer
        if completer is None or pick.model is None or not completer.available(session_id, pick.model):
            return None
        return pick.model

    def _facts(self, built: RecapInput) -> str | None:
        return built.facts if self._needs.settings().fallback == "facts" else None

    # -- writing ---------------------------------------------------------------------------------------------

    async def write(self, job: Job, material: Material) -> Written | Failed | Dropped:
        """The recap: a model's where there is one to ask, else the facts."""
        completer = self._needs.completer
        if material.model is None or completer is None:
            facts = self._facts(material.input)
            if facts is None:
                return Dropped(job.draft.id, "noModel")
            return self._written(job, material, Words(text=facts, origin="facts"))
        try:
            completion = await self._complete(completer, material.model, job, material.input)
        except CompleterError as problem:
            error = RecapError(code=problem.kind, message=problem.message, retryable=problem.retryable)
            return self._failed(job, material, error, problem.usage, counts=problem.kind != "budget_exceeded")
        compared = False
        if job.draft.pulled and not job.draft.while_active:
            same = await self._same_again(job, material)
            if same is False:
                return Dropped(job.draft.id, "changed")
            compared = same is True
        return await self._checked(job, material, completion, compared)

    async def _complete(self, completer: Completer, model: str, job: Job, given: RecapInput) -> Completion:
        manual = job.draft.trigger == MANUAL
        timeout_ms = self._needs.settings().timeout_ms
        return await completer.complete(
            "recap",
            given.messages,
            session_id=job.session_id,
            prompt_version=VERSION,
            max_tokens=MAX_TOKENS,
            model=model,
            reasoning="off",
            idle_timeout_ms=timeout_ms,
            total_timeout_ms=timeout_ms,
            max_calls=MAX_CALLS,
            background=not manual,
            fresh=manual,
        )

    async def _same_again(self, job: Job, material: Material) -> bool | None:
        """Whether the host gives the same input again; None where it cannot be asked.

        What is no part of the input, but of why there is a draft at all, counts as well.
        """
        try:
            now = await self._needs.host_context.get(job.session_id)
        except ContextUnavailable as problem:
            self._needs.report(f"a recap could not be compared with its session: {problem}")
            return None
        if now.revision is not None and now.revision == material.context.revision:
            return True
        built = await self._built(job, now)
        return built.context_hash == material.input.context_hash and built.gate == material.input.gate

    async def _checked(
        self, job: Job, material: Material, completion: Completion, compared: bool
    ) -> Written | Failed | Dropped:
        """What of the answer may be shown."""
        if not is_clean_stop(completion.stop_reason):
            message = f"The model's answer ended with {completion.stop_reason!r}"
            error = RecapError(code="llm_stopped", message=message, retryable=True)
            return self._failed(job, material, error, completion.usage, counts=True)
        text = await _beside(
            len(completion.text) + len(material.input.evidence.source),
            check_answer,
            completion.text,
            completion.stop_reason,
            material.input,
            self._needs.settings().max_chars,
        )
        words = Words(text=text or "", origin="generated", model=completion.model, usage=completion.usage)
        if text is None:
            facts = self._facts(material.input)
            if facts is None:
                return Dropped(job.draft.id, "notGrounded")
            words = Words(text=facts, origin="facts", usage=completion.usage)
        return self._written(job, material, words, compared)

    def _failed(self, job: Job, material: Material, error: RecapError, usage: Usage | None, *, counts: bool) -> Failed:
        text = self._facts(material.input)
        facts = None if text is None else self._recap(job, material, Words(text=text, origin="facts", usage=usage))
        return Failed(draft_id=job.draft.id, key=material.input.context_hash, error=error, facts=facts, counts=counts)

    def _written(self, job: Job, material: Material, words: Words, compared: bool = False) -> Written:
        return Written(job.draft.id, material.input.context_hash, self._recap(job, material, words), compared)

    def _recap(self, job: Job, material: Material, words: Words) -> Recap:
        return Recap(
            recap_id=self._needs.new_id(),
            session_id=job.session_id,
            text=self._needs.redact(words.text),
            model=words.model,
            trigger=job.draft.trigger,
            origin=words.origin,
            context_hash=material.input.context_hash,
            revision=material.context.revision,
            created_at=self._needs.clock.now_ms(),
            save=words.origin == "generated" and not job.draft.while_active,
            usage=words.usage,
        )


def _chars(context: RecapContext) -> int:
    """About how much there is to read; what is in blocks is taken to be much."""
    return sum(
        len(message.content) if isinstance(message.content, str) else HEAVY_CHARS for message in context.messages
    )


async def _beside(chars: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do `work` over `chars` chars: at once when that is quick, in a worker thread when it is not."""
    if chars < HEAVY_CHARS:
        return work(*args, **kwargs)
    return await to_thread.run_sync(partial(work, *args, **kwargs))
