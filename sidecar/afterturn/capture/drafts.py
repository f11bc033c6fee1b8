"""From a snapshot to drafts: all that is made of an episode without asking anybody (seed core-capture, section 2)."""

import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from afterturn.capture.ids import content_key, trace_id
from afterturn.capture.judging import given
from afterturn.capture.normalising import normalised
from afterturn.capture.notes import Notes
from afterturn.capture.reading import Redactor
from afterturn.capture.reflections import extracted
from afterturn.capture.signatures import error_texts, signatures_of, telltales
from afterturn.capture.steps import Step, steps_of
from afterturn.capture.tags import tags_of
from afterturn.capture.turns import read_turns
from afterturn.clock import Clock
from afterturn_protocol.blocks import content_text
from afterturn_protocol.capture import Episode
from afterturn_protocol.settings import CaptureSettings
from afterturn_protocol.traces import Reflection

SMALL_CHARS = 160_000
"""An episode of so many chars is made ready, or drafted, at once: in 2 to 4 ms, to which a thread adds a third."""

TURN_CHARS = 300

STAGES = ("extract", "normalize", "reflect", "alpha", "embed", "persist")


class Draft:
    """A step on its way to a trace. step: cut to its limits; whole: as it was before."""

    __slots__ = ("content", "index", "reflection", "signatures", "step", "tags", "trace_id", "whole")

    def __init__(
        self, index: int, step: Step, whole: Step, trace_id: str, content: bytes, reflection: Reflection
    ) -> None:
        self.index = index
        self.step = step
        self.whole = whole
        self.trace_id = trace_id
        self.content = content
        self.reflection = reflection
        self.tags: list[str] = []
        self.signatures: list[str] = []


class Drafted(Struct, frozen=True, kw_only=True):
    """The drafts of an episode, for one run, which changes them.

    notes: what went less well so far. seconds: what each stage took. started: epoch ms.
    """

    drafts: list[Draft]
    notes: Notes
    seconds: dict[str, float]
    started: int


class Stopwatch:
    """Measures stages; one may be entered again. at_stage: called as each begins."""

    __slots__ = ("_at_stage", "_clock", "seconds")

    def __init__(self, clock: Clock, at_stage: Callable[[str], None], seconds: dict[str, float]) -> None:
        self._clock = clock
        self._at_stage = at_stage
        self.seconds = seconds

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Tell that a stage begins, and measure it."""
        self._at_stage(name)
        with self.measured(name):
            yield

    @contextmanager
    def measured(self, name: str) -> Generator[None]:
        """Measure more of a stage."""
        before = self._clock.monotonic()
        try:
            yield
        finally:
            self.seconds[name] += self._clock.monotonic() - before


def drafted(
    episode: Episode, settings: CaptureSettings, redact: Redactor, clock: Clock, at_stage: Callable[[str], None]
) -> Drafted:
    """The drafts of an episode. Takes 20 ms for a megabyte: for a worker thread, where `at_stage` is called too."""
    started = clock.now_ms()
    watch = Stopwatch(clock, at_stage, dict.fromkeys(STAGES, 0.0))
    notes = Notes()
    with watch.stage("extract"):
        turns = read_turns(episode, redact, notes)
        steps = steps_of(turns, episode.meta, settings.granularity, notes)
    with watch.stage("normalize"):
        pairs = normalised(steps, settings, notes)
    with watch.stage("reflect"):
        drafts = _drafts(episode, pairs)
    return Drafted(drafts=drafts, notes=notes, seconds=watch.seconds, started=started)


def _drafts(episode: Episode, pairs: Sequence[tuple[Step, Step]]) -> list[Draft]:
    """Steps with the reflections that they bring."""
    drafts: list[Draft] = []
    among = telltales(text for step, _ in pairs for text in error_texts(step.calls, step.agent_text))
    for index, (step, whole) in enumerate(pairs):
        found = None if step.given is not None else extracted(whole.agent_text)
        content = content_key(step.user_text, step.agent_text, step.thinking, step.calls)
        made = trace_id(episode.session_id, episode.id, step)
        draft = Draft(index, step, whole, made, content, given(step, found))
        draft.tags = tags_of(step.calls, (step.user_text, step.agent_text))
        draft.signatures = signatures_of(step.calls, step.agent_text, among)
        drafts.append(draft)
    sources = [draft.reflection.source for draft in drafts]
    logging.getLogger("afterturn.capture.reflection").debug(
        "%d steps: %d given, %d extracted", len(drafts), sources.count("adapter"), sources.count("extracted")
    )
    return drafts


def size(episode: Episode) -> int:
    """About how many chars an episode holds, counted quickly; each turn costs as much as `TURN_CHARS` more."""
    size = TURN_CHARS * len(episode.turns)
    for turn in episode.turns:
        content, meta = turn.content, turn.meta
        if content:
            size += len(content) if isinstance(content, str) else len(content_text(content))
        if meta is not None:
            size += 1000 * len(meta.tool_calls or ())
            for text in (meta.output, meta.result, meta.agent_thinking):
                if isinstance(text, str):
                    size += len(text)
    return size
