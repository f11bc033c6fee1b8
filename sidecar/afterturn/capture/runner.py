"""One episode from its snapshot to its rows (seed core-capture, section 2). Nothing is stored here but paid scores."""

import logging
from collections.abc import Callable, Sequence
from functools import partial

import anyio.to_thread
from msgspec import Struct
from msgspec.structs import replace

from afterturn.capture.asking import Asker
from afterturn.capture.downstream import previews, wants_downstream
from afterturn.capture.drafts import SMALL_CHARS, Draft, Drafted, Stopwatch, drafted, size
from afterturn.capture.embedder import Embedder
from afterturn.capture.judging import is_settled
from afterturn.capture.material import task_context
from afterturn.capture.memo import ScoreMemo
from afterturn.capture.merging import better, difference, merged
from afterturn.capture.notes import EMPTY
from afterturn.capture.plan import made_plan
from afterturn.capture.reading import Redactor
from afterturn.capture.rows import TraceRow
from afterturn.capture.scoring import Scorer, Surroundings
from afterturn.capture.threads import beside
from afterturn.capture.traces import row_of
from afterturn.capture.vectors import embedded, needs_vectors
from afterturn.clock import Clock
from afterturn.completion import Completer
from afterturn_protocol.base import Usage
from afterturn_protocol.capture import CaptureResult, CaptureWarning, Episode, LlmCalls, StageTimings
from afterturn_protocol.settings import CaptureSettings

ROW_CHARS = 100
"""Making a row of a draft takes about as long as reading so many chars."""


class Needs(Struct, frozen=True, kw_only=True):
    """The outside. completer: None where no model can ever be asked. embedder: None where there is none.

    redact: for what models reply, and for calls that are unwrapped from a text; the snapshot is redacted already.
    """

    completer: Completer | None
    embedder: Embedder | None
    redact: Redactor
    clock: Clock


def _ignore(_: str) -> None:
    return None


class EpisodeWork(Struct, frozen=True, kw_only=True):
    """What is to be captured.

    episode: without its secrets (`reading.redacted`). settings: with the options of the episode. redactions: how many
    secrets were replaced in it. scores: what was paid for before. known: the stored rows of the episode, superseded
    ones too. background: passed on to the completer. at_stage: called as each stage begins, from any thread.
    """

    episode: Episode
    project: str | None
    settings: CaptureSettings
    redactions: int
    scores: ScoreMemo
    known: Sequence[TraceRow] = ()
    background: bool = True
    at_stage: Callable[[str], None] = _ignore


class Captured(Struct, frozen=True, kw_only=True):
    """What came of it.

    result: with all traces, and the stage "persist" still at 0. rows: to be stored, in step order. superseded: ids of
    stored rows that the episode does not have any more. missing: ids of rows whose vectors are to be made later.
    """

    result: CaptureResult
    rows: list[TraceRow]
    superseded: list[str]
    missing: list[str]


async def run(needs: Needs, work: EpisodeWork) -> Captured:
    """Capture an episode.

    No model and no embedder can make it fail; StoreError of `work.scores` passes. Cancelling it, or the end of the
    process, loses nothing that was paid for: run again, it goes on from what `scores` holds.
    """
    make = partial(drafted, work.episode, work.settings, needs.redact, needs.clock, work.at_stage)
    chars = size(work.episode)
    made = make() if chars <= SMALL_CHARS else await anyio.to_thread.run_sync(make)
    return await _Run(needs, work, made, chars).run(made.drafts, made.started)


def with_persist(result: CaptureResult, ms: int) -> CaptureResult:
    """The result with the time that storing took, in ms."""
    return replace(result, stage_timings=replace(result.stage_timings, persist=ms))


class _Run:
    """One run. Its parts are the stages, in order. chars: size of the episode."""

    def __init__(self, needs: Needs, work: EpisodeWork, made: Drafted, chars: int) -> None:
        self.needs = needs
        self.work = work
        self.notes = made.notes
        self.known = {row.trace.trace_id: row for row in work.known}
        self.seconds = made.seconds
        watch = Stopwatch(needs.clock, work.at_stage, made.seconds)
        self.stage, self.measured = watch.stage, watch.measured
        self.chars = chars
        self.calls = LlmCalls(reflection_synth=0, alpha_scoring=0, batched_reflection=0)
        self.usage: Usage | None = None

    async def run(self, drafts: list[Draft], started: int) -> Captured:
        changed = difference([(draft.trace_id, draft.content) for draft in drafts], self.known)
        pending = self.pending(drafts, changed.fates)
        if pending:
            await self.score(drafts, pending)
        with self.measured("normalize"):
            rows = await beside(ROW_CHARS * len(drafts), self.rows, drafts)
        with self.stage("embed"):
            rows = await self.with_vectors(rows)
        result = self.result(rows, started)
        self.log(result, len(pending), len(changed.superseded))
        missing = [row.trace.trace_id for row in rows if self.embeds and needs_vectors(row.trace)]
        return Captured(result=result, rows=rows, superseded=list(changed.superseded), missing=missing)

    @property
    def embeds(self) -> bool:
        return self.work.settings.embed_traces

    def pending(self, drafts: Sequence[Draft], fates: Sequence[str]) -> list[Draft]:
        """The steps that a model still has something to say about; the others take over what is stored."""
        settings = self.work.settings
        for draft, fate in zip(drafts, fates, strict=True):
            if fate == "same":
                draft.reflection = better(self.known[draft.trace_id].trace.reflection, draft.reflection)
        return [
            draft
            for draft, fate in zip(drafts, fates, strict=True)
            if fate == "new"
            or not is_settled(draft.reflection, write=settings.synth_reflections, score=settings.alpha_scoring)
        ]

    async def score(self, drafts: Sequence[Draft], pending: Sequence[Draft]) -> None:
        completer, settings = self.needs.completer, self.work.settings
        session_id = self.work.episode.session_id
        can_ask = completer is not None and completer.available(session_id, settings.model)
        plan = made_plan([draft.reflection.text is not None for draft in pending], settings, can_ask=can_ask)
        if completer is None or plan.mode == "none":
            return
        asker = Asker(
            completer,
            self.work.scores,
            self.needs.redact,
            session_id=session_id,
            model=settings.model,
            most_calls=settings.max_llm_calls_per_episode,
            background=self.work.background,
        )
        around = await beside(self.chars, self.surroundings, drafts)
        scorer = Scorer(asker, drafts, around, settings, self.notes)
        batched = False
        try:
            if plan.mode == "batch":
                with self.stage("alpha"):
                    batched = await scorer.batch(pending)
            if not batched and settings.synth_reflections:
                with self.stage("reflect"):
                    await scorer.write_missing(pending)
            if not batched and settings.alpha_scoring:
                with self.stage("alpha"):
                    await scorer.weigh(pending)
        finally:
            self.usage = asker.usage
        self.calls = LlmCalls(
            reflection_synth=asker.calls.get("reflection.synth", 0),
            alpha_scoring=asker.calls.get("reflection.score", 0),
            batched_reflection=int(batched),
        )

    def surroundings(self, drafts: Sequence[Draft]) -> Surroundings:
        settings = self.work.settings
        steps = [draft.step for draft in drafts]
        after = [""] * len(steps)
        if wants_downstream(settings, len(steps)):
            after = previews(steps, [draft.reflection for draft in drafts], settings)
        return Surroundings(
            episode_id=self.work.episode.id,
            task=task_context(steps, self.work.episode.intent, settings.task_context_max_chars),
            after=after,
            chars=self.chars,
        )

    def rows(self, drafts: Sequence[Draft]) -> list[TraceRow]:
        rows: list[TraceRow] = []
        for draft in drafts:
            row = row_of(draft, self.work.episode, self.work.project)
            old = self.known.get(draft.trace_id)
            rows.append(row if old is None else merged(old, row))
        return rows

    async def with_vectors(self, rows: list[TraceRow]) -> list[TraceRow]:
        embedder = self.needs.embedder
        if embedder is None or not self.embeds or not rows:
            return rows
        return await embedded(rows, embedder, self.notes)

    def result(self, rows: Sequence[TraceRow], started: int) -> CaptureResult:
        if not rows:
            self.notes.add("extract", EMPTY)
        traces = [row.trace for row in rows]
        return CaptureResult(
            episode_id=self.work.episode.id,
            session_id=self.work.episode.session_id,
            trace_ids=[trace.trace_id for trace in traces],
            traces=traces,
            started_at=started,
            completed_at=self.needs.clock.now_ms(),
            stage_timings=StageTimings(**{name: round(spent * 1000) for name, spent in self.seconds.items()}),
            llm_calls=self.calls,
            usage=self.usage,
            warnings=self.notes.warnings(),
            state="done" if rows else "doneEmpty",
            redactions=self.work.redactions,
        )

    def log(self, result: CaptureResult, pending: int, superseded: int) -> None:
        log = logging.getLogger("afterturn.capture")
        calls, spent = result.llm_calls, result.stage_timings
        log.info(
            "%s: %s, %d traces (%d to score, %d superseded), calls %d+%d+%d, ms extract %d normalize %d reflect %d "
            "alpha %d embed %d",
            result.episode_id,
            result.state,
            len(result.traces),
            pending,
            superseded,
            calls.reflection_synth,
            calls.alpha_scoring,
            calls.batched_reflection,
            spent.extract,
            spent.normalize,
            spent.reflect,
            spent.alpha,
            spent.embed,
        )
        for warning in result.warnings:
            log.info("%s: %s", result.episode_id, _line(warning))


def _line(warning: CaptureWarning) -> str:
    return f"{warning.stage} {warning.code}: {warning.message}"
