"""The recap without a model (recap.md, 'Output'): what the transcript itself says, at most 400 chars."""

import re
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from afterturn.recap.evidence import Evidence
from afterturn.recap.headline import headline, is_telling
from afterturn.recap.naming import command_name, first_line
from afterturn.recap.requests import is_genuine, own_words
from afterturn.recap.runs import RUN_KINDS, error_line, kinds_of, run_failed, summary_line
from afterturn.recap.sanitising import sanitise
from afterturn.recap.sentences import cut_sentences, is_chinese
from afterturn.recap.steps import DENIED, ERROR, NOT_RUN, OK, Step, command_of, steps_of
from afterturn.recap.truncating import Redact, safe_head
from afterturn.recap.waiting import waiting_for
from afterturn.recap.window import is_visible, text_of
from afterturn.recap.wording import CHINESE, ENGLISH, Wording
from afterturn.recap.writes import written_paths
from afterturn.text import one_line
from afterturn_protocol.base import Message

MAX_FACTS = 400
# Chars for the first request and the latest, the roomiest that fits with all the rest.
_SHARES = ((220, 160), (170, 130), (130, 110))
_REQUEST = 10_000
_ERROR = 80
_TOTAL = 70
_LOOK_BACK = 40
_MAX_FILES = 3
_MAX_STEPS = 400


class Requests(Struct, frozen=True):
    """first: the session's matter, as asked. latest: the newest request that says something of its own, or "".

    place: of the last genuine user message, -1 if there is none.
    """

    first: str
    latest: str
    place: int


def facts_text(
    messages: Sequence[Message],
    first_request: str,
    away_since_ms: int | None,
    evidence: Evidence,
    redact: Redact,
    limit: int = MAX_FACTS,
) -> str:
    """What the session is about, what changed, and what it waits for; "" for a session that says nothing.

    first_request: the earliest request, as it came. away_since_ms: when the person left, epoch ms.
    """
    limit = min(limit, MAX_FACTS)
    requests = _requests(messages, first_request, redact)
    words = CHINESE if is_chinese(headline(requests.first, 200) + headline(requests.latest, 200)) else ENGLISH
    steps = steps_of(messages, requests.place + 1, _MAX_STEPS)
    changed = _changed(messages, steps, requests.place, away_since_ms, words, redact)
    checks = _checks(steps, words, redact)
    last = next((message for message in reversed(messages) if is_visible(message)), None)
    waits = waiting_for(last, steps, words, evidence, redact, checks)
    parts: list[tuple[int, str]] = []
    for task, latest in _SHARES:
        # Each with its rank: what does not fit goes, the highest rank first; 0 never does.
        ranked = [
            (2 if requests.latest else 0, words.task(headline(requests.first, task)) if requests.first else ""),
            (0, words.now(headline(requests.latest, latest)) if requests.latest else ""),
            (3, changed),
            (1, checks),
            (4, waits.said),
            (0, waits.state),
        ]
        parts = [part for part in ranked if part[1]]
        if len(words.joined([text for _, text in parts])) <= limit:
            break
    return _fitted(parts, limit, words)


def _requests(messages: Sequence[Message], first_request: str, redact: Redact) -> Requests:
    places = [at for at, message in enumerate(messages) if is_genuine(message)]
    said = [own_words(text_of(messages[at])) for at in places[-_LOOK_BACK:]]
    # What comes again and again, numbers aside, is a program's.
    heads = [_digits().sub("", text[:200]) for text in said]
    latest = next(
        (
            text
            for text, head in zip(reversed(said), reversed(heads), strict=True)
            if heads.count(head) == 1 and is_telling(text)
        ),
        "",
    )
    first = own_words(first_request)
    if not is_telling(first):
        early = (own_words(text_of(messages[at])) for at in places[:_LOOK_BACK])
        first = next((text for text in early if is_telling(text)), first)
    if latest[:200] == first[:200]:
        latest = ""
    return Requests(
        safe_head(first, _REQUEST, redact), safe_head(latest, _REQUEST, redact), places[-1] if places else -1
    )


def _changed(
    messages: Sequence[Message], steps: Sequence[Step], asked: int, away: int | None, words: Wording, redact: Redact
) -> str:
    start = asked + 1
    left = False
    if away is not None:
        after = next((at for at in range(start, len(messages)) if (messages[at].timestamp or 0) > away), None)
        if after is not None:
            start, left = after, True
    replies = sum(1 for message in messages[start:] if message.role == "assistant" and is_visible(message))
    since = [step for step in steps if step.place >= start]
    paths = dict.fromkeys(path for step in since if step.status == OK for path in written_paths(step.call))
    # The newest first: that is where the work stands.
    names = list(dict.fromkeys(redact(sanitise(one_line(path)))[-200:].rpartition("/")[2] for path in reversed(paths)))
    names = [name[:60] for name in names if name]
    if not replies and not since:
        return ""
    return words.changed(replies, len(since), names[:_MAX_FILES], max(len(names) - _MAX_FILES, 0), left)


def _checks(steps: Sequence[Step], words: Wording, redact: Redact) -> str:
    """The newest run that failed and was not done again with success; else how the newest test run summed up."""
    total = ""
    mended: set[str] = set()
    for step in reversed(steps):
        command = command_of(step.call)
        if command is None or step.status in (DENIED, NOT_RUN):
            continue
        kinds = set(kinds_of(command)) & RUN_KINDS
        output = step.output
        if step.status == ERROR or (kinds and run_failed(output)):
            # Of what is no check only the last step counts: a search that found nothing ends so too.
            if not kinds & mended and (kinds or step is steps[-1]):
                error = first_line(error_line(output) or "", _ERROR, redact)
                return words.failed(command_name(command, redact, kinds), error)
            continue
        # What is tested was built.
        mended |= kinds | ({"build"} if "test" in kinds else set[str]())
        if "test" in kinds and not total:
            total = summary_line(output) or ""
    return words.tests(first_line(total, _TOTAL, redact)) if total else ""


def _fitted(parts: list[tuple[int, str]], limit: int, words: Wording) -> str:
    while True:
        text = words.joined([part for _, part in parts])
        if len(text) <= limit or len(parts) == 1 or not parts:
            return cut_sentences(text, limit)
        worst = max(range(len(parts)), key=lambda at: (parts[at][0], at))
        if parts[worst][0] == 0:
            return cut_sentences(text, limit)
        del parts[worst]


@cache
def _digits() -> re.Pattern[str]:
    return re.compile(r"\d+")
