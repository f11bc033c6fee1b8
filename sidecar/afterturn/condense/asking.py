"""Asking a model for the bullets of a batch (condense.md, 'What the summariser is given', 'Checking a reply')."""

from collections.abc import Sequence

from msgspec import Struct

from afterturn.completion import Completer, CompleterError, Completion, PromptMessage
from afterturn.condense.bullets import NOTHING, parse_bullets
from afterturn.condense.checking import check_bullets
from afterturn.condense.draft import Draft, Material
from afterturn.condense.failure import ModelFailure
from afterturn.condense.needs import beside
from afterturn.condense.reply import UnusableReplyError, usable_reply
from afterturn.condense.results import warning
from afterturn.condense.serialise import PromptedCall, record, reply_tokens, split_records
from afterturn.marks import unforgeable_mark
from afterturn.prompts import condense_batch
from afterturn.usage import added
from afterturn_protocol.base import Usage
from afterturn_protocol.condense import CondenseWarning
from afterturn_protocol.settings import CondenseSettings


class Question(Struct, frozen=True, kw_only=True):
    """What is asked. request and prose are redacted and cut; attempt counts from 1."""

    session_id: str
    request: str
    prose: str
    settings: CondenseSettings
    attempt: int
    background: bool


class _Prompt(Struct, frozen=True):
    messages: list[PromptMessage]
    calls: int


async def ask(completer: Completer, question: Question, material: Material, chars: int) -> Draft:
    """Ask for a summary, in several prompts if one would be too long. Raises ModelFailure; nothing partial is used.

    chars: size of the results.
    """
    prompted = await beside(chars, material.prompted)
    prompts = _prompts(prompted, question.request, question.prose)
    settings = question.settings
    left_ms = settings.background_timeout_ms if question.background else settings.total_timeout_ms
    bodies: list[str] = []
    usage: Usage | None = None
    for prompt in prompts:
        try:
            if left_ms <= 0:
                raise CompleterError("deadline", "no time is left", retryable=True, called=bool(bodies))
            completion = await _complete(completer, question, prompt, left_ms)
            left_ms -= round(completion.spent_seconds * 1000)
            usage = added(usage, completion.usage)
            bodies.append(usable_reply(completion.text, completion.stop_reason))
        except CompleterError as problem:
            raise _failure(problem, added(usage, problem.usage), bool(bodies)) from None
        except UnusableReplyError as problem:
            raise ModelFailure("provider_error", str(problem), retryable=True, usage=usage) from None
    context = f"{question.request}\n{question.prose}"
    return await beside(chars, _checked, "\n".join(bodies), prompted, context, material, usage)


def _prompts(calls: Sequence[PromptedCall], request: str, prose: str) -> list[_Prompt]:
    records = [record(call) for call in calls]
    mark = unforgeable_mark([request, prose, *records])
    rules = condense_batch.instructions(mark)
    context = len(rules) + len(condense_batch.material(mark, request, prose, []))
    prompts: list[_Prompt] = []
    for part in split_records([condense_batch.delimited(text, mark) for text in records], context):
        material = condense_batch.material(mark, request, prose, part)
        prompts.append(_Prompt([PromptMessage("system", rules), PromptMessage("user", material)], len(part)))
    return prompts


async def _complete(completer: Completer, question: Question, prompt: _Prompt, left_ms: int) -> Completion:
    settings = question.settings
    # With a fallback the answer is final, so the completer may repeat; without one the host comes again.
    again = settings.max_attempts - question.attempt + 1 if settings.fallback == "extractive" else 1
    return await completer.complete(
        "condense.batch",
        prompt.messages,
        session_id=question.session_id,
        prompt_version=condense_batch.VERSION,
        max_tokens=reply_tokens(prompt.calls, question.attempt),
        model=settings.model,
        reasoning=settings.reasoning,
        idle_timeout_ms=settings.idle_timeout_ms,
        total_timeout_ms=left_ms,
        max_calls=max(again, 1),
        background=question.background,
        # A later attempt is made because the reply was no good: it must not come back from memory.
        fresh=question.attempt > 1,
    )


def _failure(problem: CompleterError, usage: Usage | None, called_before: bool) -> ModelFailure:
    return ModelFailure(
        "budget_exceeded" if problem.kind == "budget_exceeded" else "provider_error",
        f"the model did not answer ({problem.kind})",
        retryable=problem.retryable,
        retry_after_ms=problem.retry_after_ms,
        called=problem.called or called_before,
        usage=usage,
    )


def _checked(body: str, calls: Sequence[PromptedCall], context: str, material: Material, usage: Usage | None) -> Draft:
    bullets = parse_bullets(body, [call.tool_name for call in calls])
    checked = check_bullets(bullets, calls, context, material.lines)
    if not any(bullet.text.strip(NOTHING) for bullet in checked.bullets):
        raise ModelFailure(
            "provider_error", "nothing in the reply is supported by its input", retryable=True, usage=usage
        )
    warnings: list[CondenseWarning] = []
    if checked.replaced:
        detail = f"{checked.replaced} bullets were not supported by their call, or unsafe, and were replaced"
        warnings.append(warning("check", detail))
    if checked.dropped:
        warnings.append(warning("check", f"{checked.dropped} lines that belong to no call were left out"))
    return Draft(checked.bullets, usage, warnings)
