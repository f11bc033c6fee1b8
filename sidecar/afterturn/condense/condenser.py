"""One batch from archived to frozen (condense.md, 'Order of work', steps 2 to 9). The calls are in the archive before
anything here begins, and a result is given out only once it is frozen.
"""

from collections.abc import Callable, Mapping, Sequence

import anyio
from msgspec import Struct
from msgspec.structs import replace

from afterturn.completion import Completer
from afterturn.condense.calls import RECOVERED, Call
from afterturn.condense.claims import claimed
from afterturn.condense.draft import Draft, Material, drafted_result
from afterturn.condense.failure import ModelFailure
from afterturn.condense.gates import empty_reason, is_trivial
from afterturn.condense.locks import KeyedLocks
from afterturn.condense.needs import Needs, beside
from afterturn.condense.ports import FrozenBatch, Placed
from afterturn.condense.refs import parse_ref, short_id
from afterturn.condense.results import frozen_text, thawed, warning
from afterturn.condense.standing import Standing, items, left, pointers, stand
from afterturn_protocol.condense import CondenseItem, CondenseResult, CondenseWarning
from afterturn_protocol.settings import CondenseSettings

COOL_DOWN_MS = 600_000
"""How long a batch that used up its attempts is left alone."""

Made = tuple[CondenseResult, Mapping[int, str]]
"""A result, and its replacements by ref."""


class Work(Struct, frozen=True, kw_only=True):
    """One batch with its calls archived.

    placed: of the archived calls, in order. request, prose: what user and assistant wrote in the turn.
    """

    session_id: str
    epoch: int
    batch_key: bytes
    batch_id: str
    calls: Sequence[Call]
    placed: Sequence[Placed]
    request: str | None
    prose: str | None
    settings: CondenseSettings
    background: bool


class _Bench(Struct, frozen=True):
    """Work, spread out. given: replacements that stand already, by ref; recovered: short ids by index."""

    work: Work
    standings: list[Standing]
    rows: list[Standing]
    given: dict[int, str]
    recovered: dict[int, str]

    @property
    def chars(self) -> int:
        """Size of what is to be summarised."""
        return sum(len(row.call.text) for row in self.rows)

    def items(self, replacements: Mapping[int, str]) -> list[CondenseItem]:
        """The items of a batch that is not summarised."""
        return items(self.standings, replacements, self.recovered, summarized=False)


class Condenser:
    """Condenses batches, each once."""

    def __init__(self, needs: Needs) -> None:
        self._needs = needs
        self._locks = KeyedLocks()

    async def condense(self, work: Work) -> CondenseResult:
        """The result of a batch, frozen unless it failed, is disabled or holds nothing.

        Safe to cancel at any point: what is archived stays, and nothing else is half done. Raises StoreError.
        """
        standings = stand(work.calls, work.placed, work.settings.dedup_by_content_hash)
        bench = _Bench(
            work=work,
            standings=standings,
            rows=left(standings),
            given=pointers(standings, work.settings.recovery_tool_name) | _earlier(standings),
            recovered=await recovered_ids(self._needs, work.session_id, standings),
        )
        if not work.settings.enabled:
            return _unsummarized(bench, "disabled", None, {})
        if not bench.rows:
            reason = empty_reason(each.state for each in standings)
        elif is_trivial(bench.chars, work.settings.min_batch_chars):
            reason = "trivial"
        else:
            return await self._alone(bench)
        result = _unsummarized(bench, "skipped", reason, bench.given)
        if not work.placed:
            return result
        return await self._frozen(bench, lambda given: (_unsummarized(bench, "skipped", reason, given), given))

    async def _alone(self, bench: _Bench) -> CondenseResult:
        """Summarise, unless the same batch was being summarised just now, here or in another process."""
        work = bench.work
        completer = self._needs.completer
        if completer is not None and not completer.available(work.session_id, work.settings.model):
            completer = None
        async with self._locks.hold((work.session_id, work.batch_key)) as waited:
            if waited:
                frozen = await self._needs.store.batches.find(work.session_id, work.batch_key)
                if frozen is not None:
                    return thawed(frozen)
            if completer is None:
                return await self._summarized(bench, None)
            lasts_ms = work.settings.background_timeout_ms if work.background else work.settings.total_timeout_ms
            async with claimed(self._needs, work.session_id, work.batch_key, lasts_ms=lasts_ms):
                frozen = await self._needs.store.batches.find(work.session_id, work.batch_key)
                return thawed(frozen) if frozen is not None else await self._summarized(bench, completer)

    async def _summarized(self, bench: _Bench, completer: Completer | None) -> CondenseResult:
        work, settings = bench.work, bench.work.settings
        material = Material([row.call for row in bench.rows], self._needs.redact)
        draft = Draft(None, None, ())
        if completer is not None:
            try:
                draft = await self._asked(bench, completer, material)
            except ModelFailure as failure:
                warnings = [warning("model", failure.detail)]
                if settings.fallback == "none":
                    return _failed(bench, failure, [*material.warnings(), *warnings])
                draft = Draft(None, failure.usage, warnings)

        def make(given: Mapping[int, str]) -> Made:
            return drafted_result(work.batch_id, bench.standings, draft, material, given, bench.recovered, settings)

        return await self._frozen(bench, make)

    async def _asked(self, bench: _Bench, completer: Completer, material: Material) -> Draft:
        """Ask within the attempts that are left. Raises ModelFailure."""
        # What prompts and checks need is loaded only where there is a model.
        from afterturn.condense.asking import Question, ask

        work = bench.work
        batches = self._needs.store.batches
        number, wait_ms = await batches.take_attempt(
            work.session_id,
            work.batch_key,
            limit=work.settings.max_attempts,
            cool_down_ms=COOL_DOWN_MS,
            now_ms=self._needs.clock.now_ms(),
        )
        if number == 0:
            detail = f"all {work.settings.max_attempts} attempts at this batch failed"
            raise ModelFailure("attempts_exhausted", detail, retryable=True, retry_after_ms=wait_ms, called=False)
        made = False
        try:
            size = len(work.request or "") + len(work.prose or "")
            request, prose = await beside(size, material.context, work.request, work.prose)
            question = Question(
                session_id=work.session_id,
                request=request,
                prose=prose,
                settings=work.settings,
                attempt=number,
                background=work.background,
            )
            draft = await ask(completer, question, material, bench.chars)
            made = True
            return draft
        except ModelFailure as failure:
            made = failure.called
            raise
        finally:
            if not made:
                with anyio.CancelScope(shield=True):
                    await batches.return_attempt(work.session_id, work.batch_key)

    async def _frozen(self, bench: _Bench, make: Callable[[Mapping[int, str]], Made]) -> CondenseResult:
        """Freeze what `make` makes of the replacements that stand already; another's result wins if it was first."""
        work = bench.work
        given = dict(bench.given)
        settled = [place.ref for place in work.placed]
        while True:
            result, replacements = await beside(bench.chars, make, given)
            batch = FrozenBatch(
                batch_key=work.batch_key,
                batch_id=work.batch_id,
                result=frozen_text(result),
                summary=result.summary_text,
                refs=[row.placed.ref for row in bench.rows if row.placed] if result.summary_text is not None else [],
            )
            freeze = await self._needs.store.batches.freeze(work.session_id, work.epoch, batch, replacements, settled)
            if freeze.gone:
                detail = "the session was deleted meanwhile"
                return _failed(bench, ModelFailure("session_deleted", detail, retryable=False, usage=result.usage), ())
            if freeze.conflicts:
                given |= freeze.conflicts
                continue
            if freeze.batch is None or freeze.batch.result == batch.result:
                return result
            return replace(thawed(freeze.batch), usage=result.usage)


async def recovered_ids(needs: Needs, session_id: str, standings: Sequence[Standing]) -> dict[int, str]:
    """For each recovered call that asked for exactly one original, that one's short id, by the call's index."""
    single = [each.call for each in standings if each.state == RECOVERED and len(each.call.recovered) == 1]
    if not single:
        return {}
    queries = [parse_ref(call.recovered[0]) for call in single]
    found = await needs.store.archive.resolve(session_id, queries, now_ms=needs.clock.now_ms())
    return {
        call.index: short_id(each.calls[0].ref)
        for call, each in zip(single, found, strict=True)
        if len(each.calls) == 1
    }


def _earlier(standings: Sequence[Standing]) -> dict[int, str]:
    return {
        each.placed.ref: each.placed.replacement
        for each in standings
        if each.placed is not None and each.placed.replacement is not None
    }


def _unsummarized(bench: _Bench, outcome: str, reason: str | None, given: Mapping[int, str]) -> CondenseResult:
    return CondenseResult(
        outcome=outcome,
        reason=reason,
        batch_id=bench.work.batch_id,
        refs=[],
        items=bench.items(given),
        source="none",
        raw_chars=bench.chars,
        summary_chars=0,
        usage=None,
        warnings=[],
    )


def _failed(bench: _Bench, failure: ModelFailure, warnings: Sequence[CondenseWarning]) -> CondenseResult:
    """Nothing new is replaced; what was replaced before stays so."""
    return replace(
        _unsummarized(bench, "failed", failure.reason, _earlier(bench.standings)),
        retryable=failure.retryable,
        retry_after_ms=failure.retry_after_ms,
        usage=failure.usage,
        warnings=list(warnings),
    )
