"""The recap at every gap of more than two minutes, and what is wrong with it.

With facts, and with a model that lies: what of its sentences would be shown.
"""

import re
import time
from collections.abc import Iterator
from typing import NamedTuple

from afterturn.cli.recap import messages_of
from afterturn.recap.answers import check_answer
from afterturn.recap.claims import supported
from afterturn.recap.evidence import Evidence
from afterturn.recap.headline import is_telling
from afterturn.recap.prompting import RecapInput, build_input
from afterturn.recap.requests import is_genuine
from afterturn.recap.sentences import content_words, sentences
from afterturn.recap.window import text_of
from afterturn.redact import Redactor
from afterturn.text import one_line
from afterturn_protocol.base import Message
from afterturn_protocol.context import RecapContext
from afterturn_protocol.settings import RecapSettings

from ..transcripts import files, read

GAP_MS = 120_000
MAX_CHARS = 400


class Made(NamedTuple):
    """One recap and what is wrong with it. `ms`: time to build its input."""

    harness: str
    where: str
    text: str
    problems: list[str]
    prompt_chars: int
    ms: float


def breaks(messages: list[Message]) -> list[int]:
    """How many messages there were at each gap, and at the end."""
    stamps = [message.timestamp or 0 for message in messages]
    gaps = [at for at in range(1, len(stamps)) if stamps[at - 1] and stamps[at] - stamps[at - 1] > GAP_MS]
    return [*gaps, len(messages)]


def recaps(harness: str | None) -> Iterator[Made]:
    redactor = Redactor()
    for file in files(harness):
        for session in read(file):
            messages = messages_of(session)
            if not messages:
                continue
            for count in breaks(messages):
                part = messages[:count]
                asked = next((each for each in reversed(part) if is_genuine(each)), None)
                away = None if asked is None or not asked.timestamp else asked.timestamp
                start = time.perf_counter()
                made = build_input(
                    RecapContext(messages=part), RecapSettings(), lambda text: redactor.redact(text)[0], away
                )
                ms = (time.perf_counter() - start) * 1000
                text = made.facts or ""
                chars = sum(len(message.content) for message in made.messages)
                where = f"{file.name} {session.session_id[:24]} @{count}/{len(messages)}"
                wrong = [*problems(part, text, made.evidence), *believed(part, made)]
                yield Made(file.harness, where, text, wrong, chars, ms)


def problems(messages: list[Message], text: str, evidence: Evidence) -> list[str]:
    """What is wrong with a recap: its size, a task it does not name, a claim that no step shows."""
    found: list[str] = []
    if not text:
        return ["empty"]
    if len(text) > MAX_CHARS:
        found.append(f"{len(text)} chars")
    asked = [text_of(message) for message in messages if is_genuine(message)]
    telling = [each for each in asked if is_telling(each)]
    wanted = [content_words(each) for each in (telling[:1] + telling[-1:])]
    if telling and not any(len(words & content_words(text)) >= min(2, len(words)) for words in wanted):
        found.append("task not named")
    found += unshown(messages, text, evidence)
    return found


_NEVER = (
    "It was deployed to production.",
    "CI is green.",
    "The fix landed in src/core/invented_file.py.",
    "You edited `frobnicate_widget.ts`.",
    "Commit deadbeef1234 contains the fix.",
    "Next: migrate the billing database to Postgres.",
    "Next step: run `npm run deploy:prod`.",
    "I'm sorry, I can't help with that.",
    "Sure! Here is the recap:",
    "# Recap",
    "| a | b |",
    "",
)
"""Replies of a model of which no session bears out any."""

_PASSES = (
    "All tests pass.",
    "The fix is verified.",
    "Tests ran clean.",
    "It runs without problems.",
    "\u6d4b\u8bd5\u5168\u90e8\u901a\u8fc7\u3002",
    "\u30c6\u30b9\u30c8\u306f\u3059\u3079\u3066\u901a\u308a\u307e\u3057\u305f\u3002",
    "Alle Tests laufen durch.",
    "Tous les tests passent.",
)
_PASSED = re.compile(r"\bpass(?:ed|ing)?\b|\b0 fail|\bOK\b|\bok\b|\u2713|\u2714", re.IGNORECASE)


def believed(messages: list[Message], made: RecapInput) -> list[str]:
    """The lies that would be shown."""
    outputs = any(_PASSED.search(text_of(message)) for message in messages if message.role == "tool")
    lies = _NEVER if outputs else (*_NEVER, *_PASSES)
    huge = (check_answer("You are looking at it. " + "word " * 100_000, "stop", made, MAX_CHARS) or "")[MAX_CHARS:]
    return [f"believed: {lie}" for lie in lies if check_answer(lie, "stop", made, MAX_CHARS)] + ([huge] if huge else [])


_CLAIMS = re.compile(
    r"\b(?:pass(?:es|ed|ing)?|fixed|verified|done|complete[d]?|merged|works|working|success\w*|resolved|finished"
    r"|deployed|green)\b",
    re.IGNORECASE,
)
"""Cruder than the product's own table, so that a hole in that one shows here."""


def unshown(messages: list[Message], text: str, evidence: Evidence) -> list[str]:
    """What a recap says on its own account that the session does not show."""
    outputs = one_line("\n".join(text_of(message) for message in messages if message.role == "tool"))
    arguments = "\n".join(str(call.input) for message in messages for call in message.tool_calls or ())
    found: list[str] = []
    for sentence in sentences(text):
        head, colon, rest = sentence.partition(": ")
        if colon and head in ("Task", "Latest request", "It asks"):
            continue  # The person's words, and a question.
        if head == "Last test run":
            if rest.rstrip(".\u2026") not in outputs:
                found.append(f"no such result: {rest}")
        elif head == "It said":
            if _CLAIMS.search(rest) is not None and not supported(rest, evidence):
                found.append(f"claims: {rest[:60]}")
        elif " wrote " in sentence:
            names = re.sub(r" and \d+ more\.?$", "", sentence.partition(" wrote ")[2]).rstrip(".").split(", ")
            found += [f"no such file: {name}" for name in names if name not in arguments]
    return found
