"""An episode as it comes in: what is refused, and its copy without secrets (capture.md, 'Input').

What is odd but harmless is not refused; `turns` tolerates and counts it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace

from afterturn.contents import check_content
from afterturn.misfits import InvalidInputError
from afterturn.overlay import overlaid
from afterturn_protocol.blocks import Block
from afterturn_protocol.capture import Episode, EpisodeFinalizedParams, Turn, TurnMeta
from afterturn_protocol.settings import CaptureSettings
from afterturn_protocol.traces import ToolCallDTO

Redactor = Callable[[str], tuple[str, Mapping[str, int]]]
"""A text with its secrets replaced, and how many of each type there were. Pure, linear, safe in any thread."""

MOST_LEVELS = 64
TOO_DEEP = "[nested too deeply]"
CLOSED_BY = ("finalized", "abandoned")


def checked(params: EpisodeFinalizedParams, settings: CaptureSettings) -> CaptureSettings:
    """The settings for this episode: `settings` with its options. Raises InvalidInputError for a bad value anywhere."""
    _not_blank("$.episode.id", params.episode.id)
    _not_blank("$.episode.sessionId", params.episode.session_id)
    if params.idempotency_key is not None:
        _not_blank("$.idempotencyKey", params.idempotency_key)
    if params.closed_by is not None and params.closed_by not in CLOSED_BY:
        raise InvalidInputError("$.closedBy", " or ".join(f'"{word}"' for word in CLOSED_BY))
    for index, turn in enumerate(params.episode.turns):
        check_content(f"$.episode.turns[{index}].content", turn.content)
    return overlaid("capture", settings, params.options)


def _not_blank(path: str, text: str) -> None:
    if not text.strip():
        raise InvalidInputError(path, "a string that is not blank")


def redacted(episode: Episode, redact: Redactor) -> tuple[Episode, int]:
    """The episode without secrets, and how many were replaced. Ids and times stay; the data of images is left out.

    Pure and linear in the length of the texts, so beside the event loop where the episode is long.
    """
    texts = _Texts(redact)
    for turn in episode.turns:
        texts.turn(turn)
    clean = texts.are_clean()
    copy = _Copy(redact)
    turns = [
        turn if clean and texts.is_plain[at] and not isinstance(turn.content, list) else copy.turn(turn)
        for at, turn in enumerate(episode.turns)
    ]
    intent = episode.intent
    if intent is not None:
        intent = replace(intent, kind=copy.text(intent.kind), reason=copy.maybe(intent.reason))
    return replace(episode, turns=turns, intent=intent, status=copy.maybe(episode.status)), copy.count


_BETWEEN = "\n;\n"
_NAME_PARTS = ("ken", "key", "kie", "secre", "cred", "pass", "pwd", "pin", "uth")


class _Texts:
    """All texts of an episode as one, so that an episode without any secret costs one pass and not one for each text.

    is_plain: for each turn whether it is without values whose names could make a secret of them; those are looked
    through one by one.
    """

    __slots__ = ("_redact", "_texts", "is_plain")

    def __init__(self, redact: Redactor) -> None:
        self._redact = redact
        self._texts: list[str] = []
        self.is_plain: list[bool] = []

    def turn(self, turn: Turn) -> None:
        meta = turn.meta
        values: list[Any] = [turn.content]
        if meta is not None:
            values += (
                meta.name,
                meta.tool,
                meta.reflection,
                meta.agent_thinking,
                meta.input,
                meta.args,
                meta.output,
                meta.result,
                meta.error_code,
                meta.thinking_before,
                meta.assistant_text_before,
            )
            for call in meta.tool_calls or ():
                values += (
                    call.name,
                    call.input,
                    call.output,
                    call.error_code,
                    call.thinking_before,
                    call.assistant_text_before,
                )
        plain = True
        for value in values:
            if type(value) is str:
                self._texts.append(value)
            elif value is not None and plain:
                plain = self._is_plain(value)
        self.is_plain.append(plain)

    def _is_plain(self, value: Any, levels: int = MOST_LEVELS) -> bool:
        if isinstance(value, str):
            self._texts.append(value)
            return True
        if not isinstance(value, dict | list | tuple):
            return True
        if not levels:
            return False
        if isinstance(value, dict):
            for name, item in cast("dict[str, Any]", value).items():
                self._texts.append(name)
                lower = name.lower()
                if any(map(lower.__contains__, _NAME_PARTS)) or lower in ("name", "value"):
                    return False
                if not self._is_plain(item, levels - 1):
                    return False
            return True
        for item in cast("Sequence[Any]", value):
            # An option's value can be a secret by the option's name.
            if (isinstance(item, str) and item[:1] == "-") or not self._is_plain(item, levels - 1):
                return False
        return True

    def are_clean(self) -> bool:
        return not self._redact(_BETWEEN.join(self._texts))[1]


class _Copy:
    """Copies the parts of an episode without their secrets and counts those."""

    __slots__ = ("_redact", "count")

    def __init__(self, redact: Redactor) -> None:
        self._redact = redact
        self.count = 0

    def text(self, text: str) -> str:
        if not text:
            return text
        clean, counts = self._redact(text)
        if counts:
            self.count += sum(counts.values())
        return clean

    def maybe(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, dict | list | tuple):
            return value
        clean, count = redacted_value(value, self._redact)
        self.count += count
        return clean

    def content(self, content: str | list[Block] | None) -> str | list[Block] | None:
        if content is None or isinstance(content, str):
            return self.maybe(content)
        return [self.value(without_data(bounded(block))) for block in content]

    def turn(self, turn: Turn) -> Turn:
        meta = turn.meta
        return replace(turn, content=self.content(turn.content), meta=None if meta is None else self.meta(meta))

    def meta(self, meta: TurnMeta) -> TurnMeta:
        calls = meta.tool_calls
        return replace(
            meta,
            name=self.maybe(meta.name),
            tool=self.maybe(meta.tool),
            reflection=self.maybe(meta.reflection),
            agent_thinking=self.maybe(meta.agent_thinking),
            tool_calls=None if calls is None else [self.call(call) for call in calls],
            input=self.value(meta.input),
            args=self.value(meta.args),
            output=self.value(meta.output),
            result=self.value(meta.result),
            error_code=self.maybe(meta.error_code),
            thinking_before=self.maybe(meta.thinking_before),
            assistant_text_before=self.maybe(meta.assistant_text_before),
        )

    def call(self, call: ToolCallDTO) -> ToolCallDTO:
        return replace(
            call,
            name=self.text(call.name),
            input=self.value(call.input),
            output=self.value(call.output),
            error_code=self.maybe(call.error_code),
            thinking_before=self.maybe(call.thinking_before),
            assistant_text_before=self.maybe(call.assistant_text_before),
        )


def redacted_value(value: Any, redact: Redactor) -> tuple[Any, int]:
    """A JSON value without secrets, where the key of a value is its name, and how many were replaced.

    What is nested more than MOST_LEVELS deep is left out, so that everything later can go down into a value.
    """
    from afterturn.redact.structure import redact_structure

    def plain(text: str) -> tuple[str, dict[str, int]]:
        clean, counts = redact(text)
        return clean, dict(counts)

    clean, counts = redact_structure(bounded(value), plain)
    return clean, sum(counts.values())


def bounded(value: Any, levels: int = MOST_LEVELS) -> Any:
    """A JSON value with at most `levels` lists and objects inside each other."""
    if not isinstance(value, dict | list | tuple):
        return value
    if not levels:
        return TOO_DEEP
    if isinstance(value, dict):
        return {name: bounded(item, levels - 1) for name, item in cast("dict[str, Any]", value).items()}
    return [bounded(item, levels - 1) for item in cast("Sequence[Any]", value)]


def without_data(block: Block) -> Block:
    """A block without the data of an image, here or in blocks below it."""
    if block.get("type") == "image":
        return {name: value for name, value in block.items() if name not in ("data", "source")}
    inner = block.get("content")
    if not isinstance(inner, list):
        return block
    parts = cast("list[Any]", inner)
    kept: list[Any] = [without_data(cast("Block", part)) if isinstance(part, dict) else part for part in parts]
    return {**block, "content": kept}
