"""What a session waits for: the end of a facts recap (recap.md, 'Output')."""

from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct

from afterturn.recap.claims import claims_in, supported
from afterturn.recap.evidence import Evidence
from afterturn.recap.naming import first_line, step_name
from afterturn.recap.sanitising import sanitise
from afterturn.recap.sentences import is_chinese, sentences
from afterturn.recap.steps import DENIED, NOT_RUN, Step, arguments
from afterturn.recap.truncating import Redact
from afterturn.recap.window import is_failed, text_of
from afterturn.recap.wording import Wording
from afterturn.replies import without_thinking
from afterturn.text import cut_words, one_line
from afterturn_protocol.base import Message

_MAX_SAID = 120
_READ = 6000
# A sentence that opens so leans on one before it, only praises, or announces.
_POINTING = tuple(
    "This |That|These |Those |It |The fix |Now |You can now|Perfect|Great|Let me|Let's|I'll|To complete|\u8fd9".split(
        "|"
    )
)
_ENDING_TOOLS = ("finish", "submit", "exit", "think", "complete", "attempt_completion")
# Claims whose proof is one step; that all is well takes more than the assistant's word.
_REPEATABLE = frozenset(("write", "commit", "push", "merge", "install"))


class Waiting(Struct, frozen=True):
    """said: what the assistant found or did, as a sentence of its own, or "". state: what it waits for, or ""."""

    said: str
    state: str


def waiting_for(
    last: Message | None, steps: Sequence[Step], words: Wording, evidence: Evidence, redact: Redact, told: str
) -> Waiting:
    """How things stand after the message `last`. told: what the recap says already, so that it is not said twice."""
    if last is None:
        return Waiting("", "")
    if is_failed(last):
        return Waiting("", words.broken_off if last.stop_reason == "aborted" else words.ended_in_error)
    if last.role == "user":
        return Waiting("", words.broken_off if "[Request interrupted" in text_of(last)[:200] else words.unanswered)
    if steps and steps[-1].status == DENIED:
        return Waiting("", words.denied(step_name(steps[-1], redact)))
    waiting = [step for step in steps if step.status == NOT_RUN and step.place == steps[-1].place]
    asked = next((text for step in waiting if (text := _asked_by_tool(step, redact))), "")
    if asked:
        return Waiting("", words.asks(asked))
    if waiting and last.role == "assistant" and not waiting[0].call.name.lower().startswith(_ENDING_TOOLS):
        return Waiting("", words.not_run(step_name(waiting[0], redact)))
    if last.role != "assistant":
        name = step_name(steps[-1], redact) if steps else ""
        return Waiting("", words.last_step(name) if name and name not in told else "")
    text = sanitise(without_thinking(redact(text_of(last)[-_READ:])))
    question = _question(text)
    if question:
        return Waiting("", words.asks(question))
    statement = _statement(text, evidence)
    return Waiting(words.says(statement) if statement else "", words.your_turn)


def _asked_by_tool(step: Step, redact: Redact) -> str:
    """The question that a call puts to the person, where its tool is one for questions."""
    name = step.call.name.lower()
    if "ask" not in name and "question" not in name:
        return ""
    named = arguments(step.call)
    several: Any = named.get("questions")
    if isinstance(several, list) and several and isinstance(several[0], dict):
        named = cast("dict[str, Any]", several[0])
    text = next((value for key in ("question", "text") if isinstance(value := named.get(key), str)), "")
    return first_line(text, _MAX_SAID, redact)


def _question(text: str) -> str:
    """The last question near the end of what the assistant said."""
    tail = _prose(text)[-4:]
    for line in reversed(tail):
        for sentence in reversed(sentences(line)):
            asks = sentence.rstrip("\"')*_` ").endswith(("?", "\uff1f"))
            if asks and len(sentence) > (3 if is_chinese(sentence) else 8):
                return cut_words(one_line(sentence.strip("*_ ")), _MAX_SAID)
    return ""


def _statement(text: str, evidence: Evidence) -> str:
    """A sentence of the assistant that may be repeated: what it found or did, never that all is well."""
    lines = [line for line in _prose(text) if line.endswith((".", "!", "\u3002", "\uff01"))]
    for line in [*lines[:2], *lines[-1:]]:
        for sentence in sentences(line)[:2]:
            bare = sentence.strip(" ;")
            if len(bare) < (10 if is_chinese(bare) else 25) or bare.endswith(":"):
                continue
            if bare.startswith(_POINTING):
                continue
            if set(claims_in(bare, strict=True)) <= _REPEATABLE and supported(bare, evidence):
                return cut_words(bare, _MAX_SAID)
    return ""


def _prose(text: str) -> list[str]:
    """The paragraphs of running text, each as one line; lists, headings, tables and code are none."""
    paragraphs: list[str] = []
    open_one: list[str] = []
    fenced = listed = False
    for raw in [*text.split("\n"), ""]:
        line = raw.strip()
        fence = line.startswith(("```", "~~~"))
        if fence:
            fenced = not fenced
        if (
            not line
            or fence
            or fenced
            or listed
            or (line[0] in "#|<>-*+\u2022" and line[:2] != "**")
            or line[0].isdigit()
        ):
            # What follows an item without a blank line belongs to it.
            listed = bool(line) and not fence and not fenced
            if open_one:
                paragraphs.append(one_line(" ".join(open_one).replace("**", "")))
                open_one = []
        else:
            open_one.append(line)
    return paragraphs
