"""The material of a prompt: a session's context cut into units, the oldest of which go first (recap.md, 'Input').

Work is bounded: beside one pass over the messages that looks at no text, only what can be in the prompt is read.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from msgspec import Struct

from afterturn.recap.requests import is_genuine, own_words
from afterturn.recap.sanitising import sanitise
from afterturn.recap.steps import OK, Step, steps_of
from afterturn.recap.truncating import Redact, json_head, safe_ends, safe_head
from afterturn.recap.window import has_content, is_failed, is_result, text_of
from afterturn.replies import without_thinking
from afterturn.text import one_line
from afterturn_protocol.base import Message

MAX_REQUEST = 8000
MAX_SUMMARY = 8000
MAX_SAID = 4000
MAX_RESULT = 4000
MAX_ARGS = 1000
MAX_STEPS = 200
_MAX_NAME = 100
_MAX_THINKING = 100_000
# An entry's head, and the blank line after it.
_ENTRY = 40


class Unit(Struct, frozen=True):
    """A part of the material that stays or goes as a whole.

    kind: what its head says, such as "user" or "step denied". text: sanitised, redacted and cut. prospect: whether
    its words can speak of what comes next.
    """

    kind: str
    text: str
    prospect: bool

    @property
    def size(self) -> int:
        """In chars, its head included."""
        return len(self.kind) + len(self.text) + _ENTRY


def units_of(
    messages: Sequence[Message], shown: Sequence[Message], first: str, summary: str, room: int, redact: Redact
) -> list[Unit]:
    """What goes into the prompt, oldest first, in about `room` chars.

    messages: all there are. shown: their window. first: the earliest request, summary: of earlier talk, both as they
    came, or "". The first request, the latest and the summary never go; they are cut to a fifth of the room each.
    """
    share = max(room // 5 - _ENTRY, 1)
    latest = next((message for message in reversed(messages) if is_genuine(message)), None)
    first, asked = first.strip(), min(MAX_REQUEST, share)
    place = next((at for at, each in enumerate(shown) if first and _says(each, first)), None)
    framing: list[Unit] = []
    if first and place is None:
        framing.append(Unit("first request", safe_ends(_own(first), asked, redact), True))
    if summary.strip():
        framing.append(Unit("summary of earlier talk", safe_ends(summary, min(MAX_SUMMARY, share), redact), True))
    if latest is not None and not any(message is latest for message in shown) and not _says(latest, first):
        framing.append(Unit("latest request", safe_ends(_own(text_of(latest)), asked, redact), True))
    pinned = {at for at, message in enumerate(shown) if message is latest or at == place}
    fixed = {at: _message(shown[at], True, asked, redact) for at in pinned}
    room -= sum(unit.size for unit in (*framing, *fixed.values()))
    return [*framing, *_talk(shown, fixed, share, redact, room)]


def content_hash(units: Sequence[Unit]) -> str:
    """SHA-256 in hex of all that a model would see of the session."""
    state = sha256()
    for unit in units:
        for part in (unit.kind, unit.text):
            data = part.encode("utf-8", "surrogatepass")
            state.update(b"%d:" % len(data))
            state.update(data)
    return state.hexdigest()


def _talk(shown: Sequence[Message], fixed: dict[int, Unit], share: int, redact: Redact, room: int) -> list[Unit]:
    """The window's units; those in `fixed`, by place, whatever the room, of the others the newest that fit in it."""
    steps: dict[int, list[Step]] = {}
    for step in steps_of(shown, most=MAX_STEPS):
        steps.setdefault(step.place, []).append(step)
    newest = _prospects(shown)
    kept: list[Unit] = []
    full = False
    for at in range(len(shown) - 1, -1, -1):
        if at in fixed:
            kept.append(fixed[at])
            continue
        if full or is_result(shown[at]):
            continue
        for unit in _newest_first(shown[at], steps.get(at, []), at in newest, share, redact):
            room -= unit.size
            full = room < 0
            if full:
                break
            kept.append(unit)
    kept.reverse()
    return kept


def _newest_first(
    message: Message, steps: Sequence[Step], prospect: bool, share: int, redact: Redact
) -> Iterator[Unit]:
    """A message's units, each made only when it is asked for."""
    for step in reversed(steps):
        yield _step(step, share, redact)
    if has_content(message) or is_failed(message):
        yield _message(message, prospect, min(MAX_REQUEST if message.role == "user" else MAX_SAID, share), redact)


def _message(message: Message, prospect: bool, limit: int, redact: Redact) -> Unit:
    kind = one_line(sanitise(message.role[:_MAX_NAME])) if message.kind in (None, "message") else "note"
    if is_failed(message):
        kind += " (broken off)" if message.stop_reason == "aborted" else " (failed)"
    text = text_of(message)
    if message.role == "assistant" and len(text) <= _MAX_THINKING:
        text = without_thinking(text)
    elif message.role == "user":
        text = _own(text)
    return Unit(kind, safe_ends(text, limit, redact).strip(), prospect)


def _step(step: Step, share: int, redact: Redact) -> Unit:
    name = one_line(safe_head(step.call.name, _MAX_NAME, redact))
    args = one_line(safe_head(json_head(step.call.input, 3 * MAX_ARGS), min(MAX_ARGS, share), redact))
    output = "" if step.result is None else safe_ends(text_of(step.result), min(MAX_RESULT, share), redact).strip()
    text = f"{name} {args}\n{output}".rstrip()
    return Unit(f"step {step.status}", text, step.status != OK or "todo" in name.lower())


def _own(text: str) -> str:
    """A request without its harness's blocks, which can be longer than itself."""
    return own_words(text) or text


def _says(message: Message, text: str) -> bool:
    return message.role == "user" and text_of(message).strip() == text


def _prospects(shown: Sequence[Message]) -> set[int]:
    """The places whose words can speak of what comes next: the last two of the assistant, the last two of the user."""
    found: set[int] = set()
    for role in ("assistant", "user"):
        places = [at for at, message in enumerate(shown) if message.role == role and has_content(message)]
        found.update(places[-2:])
    return found
