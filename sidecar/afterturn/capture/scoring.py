"""Writing and weighing the reflections of an episode with a model (seed core-capture, sections 5 to 6b)."""

import logging
from collections.abc import Sequence

from msgspec import Struct

from afterturn.capture import alpha, batching, synthesis
from afterturn.capture.alpha import UnreadableReplyError
from afterturn.capture.asking import Asker, NoAnswerError, Question
from afterturn.capture.drafts import Draft
from afterturn.capture.grounds import Grounds
from afterturn.capture.material import Limits, described, prompt_json
from afterturn.capture.notes import Notes
from afterturn.capture.threads import beside, for_each
from afterturn.prompts import reflection_batch, reflection_score, reflection_synth
from afterturn_protocol.settings import CaptureSettings

_SYNTH_TOKENS = 700
_SCORE_TOKENS = 500


class Surroundings(Struct, frozen=True, kw_only=True):
    """What prompts say beside the step.

    episode_id: what a batch is about. task: JSON text or "". after: for each step of the episode what followed it, or
    "". chars: size of the episode.
    """

    episode_id: str
    task: str
    after: Sequence[str]
    chars: int


class Scorer:
    """Changes the reflections of drafts as a model says. Nothing that a model does or fails to do raises."""

    def __init__(
        self,
        asker: Asker,
        drafts: Sequence[Draft],
        around: Surroundings,
        settings: CaptureSettings,
        notes: Notes,
    ) -> None:
        """drafts: every step of the episode, for what it says as a whole."""
        self._asker = asker
        self._drafts = drafts
        self._around = around
        self._settings = settings
        self._notes = notes
        self._grounds: Grounds | None = None

    async def batch(self, drafts: Sequence[Draft]) -> bool:
        """Score these with one call; whether its reply was accepted. Nothing has changed if it was not."""
        write, score = self._settings.synth_reflections, self._settings.alpha_scoring
        reflections = [draft.reflection for draft in drafts]
        steps = [draft.step for draft in drafts]
        lines = await beside(
            self._around.chars, batching.step_lines, steps, reflections, self._settings.outcome_max_chars
        )
        question = Question(
            purpose="reflection.batch",
            version=reflection_batch.VERSION,
            about=self._around.episode_id,
            system=reflection_batch.instructions(write),
            user=reflection_batch.material(self._around.task, lines),
            max_tokens=batching.reply_tokens(reflections, write=write),
            read=lambda reply: batching.read_batch(reply, len(drafts)),
        )
        log = logging.getLogger("afterturn.capture.batch")
        try:
            answer = await self._asker.ask(question)
        except NoAnswerError as problem:
            log.info("%d steps, not accepted: %s (%s)", len(drafts), problem.code, problem.why)
            self._notes.add("batch", problem.code, len(drafts), why=problem.why)
            return False
        grounds = await self._all_grounds() if write else Grounds("")
        for draft, entry in zip(drafts, answer.value, strict=True):
            had = draft.reflection.text is not None
            draft.reflection = await beside(
                self._around.chars if write else 0,
                batching.judged,
                draft.reflection,
                entry,
                grounds,
                write=write,
                score=score,
                model=answer.model,
                version=reflection_batch.VERSION,
            )
            self._note_ungrounded(draft)
            if not had and draft.reflection.text is not None:
                log.debug("step %d: reflection written", draft.index)
        written = sum(draft.reflection.source == "synth" for draft in drafts)
        log.info("%d steps, accepted, %d reflections written, model %s", len(drafts), written, answer.model)
        return True

    async def write_missing(self, drafts: Sequence[Draft]) -> None:
        """Have reflections written for the steps that have none."""
        missing = [draft for draft in drafts if draft.reflection.text is None]
        await for_each(missing, self._write, at_once=self._settings.llm_concurrency)

    async def weigh(self, drafts: Sequence[Draft]) -> None:
        """Have the reflections weighed."""
        there = [draft for draft in drafts if draft.reflection.text is not None]
        await for_each(there, self._weigh, at_once=self._settings.llm_concurrency)

    async def _write(self, draft: Draft) -> None:
        question = Question(
            purpose="reflection.synth",
            version=reflection_synth.VERSION,
            about=draft.trace_id,
            system=reflection_synth.instructions(),
            user=reflection_synth.material(self._around.task, self._shown(draft), self._around.after[draft.index]),
            max_tokens=_SYNTH_TOKENS,
            read=_reflection_of,
            whole=True,
        )
        log = logging.getLogger("afterturn.capture.reflection")
        try:
            answer = await self._asker.ask(question)
        except NoAnswerError as problem:
            log.debug("step %d: not written: %s", draft.index, problem.code)
            self._notes.add("reflect", problem.code, step=draft.index, why=problem.why)
            return
        draft.reflection = await beside(
            self._around.chars,
            synthesis.written,
            answer.value,
            await self._all_grounds(),
            model=answer.model,
            version=reflection_synth.VERSION,
        )
        self._note_ungrounded(draft)
        log.debug("step %d: %s, model %s", draft.index, draft.reflection.reason or "written", answer.model)

    async def _weigh(self, draft: Draft) -> None:
        user = reflection_score.material(self._around.task, self._shown(draft), self._around.after[draft.index])
        question = Question(
            purpose="reflection.score",
            version=reflection_score.VERSION,
            about=draft.trace_id,
            system=reflection_score.instructions(),
            user=user,
            max_tokens=_SCORE_TOKENS,
            read=alpha.read_score,
            repair=lambda problem: reflection_score.again(user, problem),
        )
        log = logging.getLogger("afterturn.capture.alpha")
        try:
            answer = await self._asker.ask(question)
        except NoAnswerError as problem:
            log.debug("step %d: neutral: %s", draft.index, problem.code)
            self._notes.add("alpha", problem.code, step=draft.index, why=problem.why)
            return
        score = answer.value
        draft.reflection = alpha.weighed(draft.reflection, score, model=answer.model, version=reflection_score.VERSION)
        log.debug("step %d: alpha %.3f, model %s, %s", draft.index, score.alpha, answer.model, score.reason or "")

    def _shown(self, draft: Draft) -> str:
        limits = Limits(outcome=self._settings.outcome_max_chars)
        return prompt_json(described(draft.step, draft.reflection.text, limits))

    async def _all_grounds(self) -> Grounds:
        if self._grounds is None:
            steps = [draft.whole for draft in self._drafts]
            more = [draft.reflection.text for draft in self._drafts if draft.reflection.source != "synth"]
            self._grounds = await beside(self._around.chars, Grounds.of, steps, [text for text in more if text])
        return self._grounds

    def _note_ungrounded(self, draft: Draft) -> None:
        if draft.reflection.reason == "ungrounded":
            self._notes.add("reflect", "ungrounded", step=draft.index)


def _reflection_of(reply: str) -> str:
    text = synthesis.read_reflection(reply)
    if not text:
        raise UnreadableReplyError("it is empty")
    return text
