"""The end of a turn: store it, offer what is offered at once, decide whether to condense (condense.md, 'When to
condense' and 'Big results').
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from afterturn.condense.arriving import read_arrivals
from afterturn.condense.background import Background
from afterturn.condense.budget import fraction_used, next_baseline, trigger
from afterturn.condense.calls import OPEN, PROTECTED, Arrivals
from afterturn.condense.condenser import recovered_ids
from afterturn.condense.identity import batch_key, made_batch_id
from afterturn.condense.needs import Needs, beside
from afterturn.condense.ports import Intake, PendingTurn, Taken, TurnEntry
from afterturn.condense.refs import short_id
from afterturn.condense.replacements import shorter, spill_replacement
from afterturn.condense.serialise import capped_prose, capped_request
from afterturn.condense.standing import Standing, items, left, pointers, stand
from afterturn.condense.turns import (
    TurnState,
    ended_well,
    next_state,
    read_state,
    waiting_calls,
    written_loose,
    written_state,
)
from afterturn_protocol.condense import Batch, CondenseItem, CondenseTurnEndParams, CondenseTurnEndResult
from afterturn_protocol.settings import CondenseSettings

_PREVIEW_MARGIN = 16_384


class _Turn(Struct, frozen=True):
    """A turn as it arrived. request, prose: redacted and cut."""

    arrivals: Arrivals
    request: str | None
    prose: str | None


class TurnEnds:
    """Takes in finished turns."""

    def __init__(self, needs: Needs, background: Background) -> None:
        self._needs = needs
        self._background = background

    async def on_turn_end(
        self,
        params: CondenseTurnEndParams,
        *,
        arrived: Callable[[], None],
        after_reply: Callable[[Callable[[], None]], None],
    ) -> CondenseTurnEndResult:
        """Store a turn and say what became of its calls; what starts now starts after the answer.

        Raises InvalidInputError, StoreError.
        """
        needs, session_id = self._needs, params.session_id
        settings = needs.settings()
        store = needs.store
        turn = await self._read(params.batch, settings)
        before = read_state(await store.turns.state(session_id))
        usage = params.usage
        tokens, window = (usage.tokens, usage.window) if usage else (None, None)
        after = next_state(
            before,
            user_text=params.batch.user_text if params.batch else None,
            safe_text=turn.request,
            final=params.final,
            baseline=next_baseline(fraction_used(tokens, window), before.baseline),
        )
        taken = await self._take_in(params, turn, after, settings)
        standings = stand(turn.arrivals.calls, taken.placed, settings.dedup_by_content_hash)
        given = await self._offered(session_id, taken, standings, settings)
        fired = None
        if settings.enabled:
            fired = _final_trigger(params, settings) or trigger(
                tokens, window, before.baseline, settings.auto_budget_threshold, settings.budget_turn_delta
            )
        if fired is not None:
            await store.turns.mark_due(session_id)
        pending = await store.turns.pending(session_id)
        started = self._background.reserve(session_id, pending, settings) if fired is not None else []
        arrived()
        after_reply(lambda: self._background.start(session_id, taken.epoch, started))
        return CondenseTurnEndResult(
            items=await self._items(session_id, standings, given),
            pending_calls=waiting_calls(pending),
            will_condense=bool(started),
            trigger=fired if started else None,
        )

    async def flush(
        self,
        session_id: str,
        *,
        arrived: Callable[[], None],
        after_reply: Callable[[Callable[[], None]], None],
    ) -> int:
        """Condense all that waits, after the answer; how many batches that is."""
        settings = self._needs.settings()
        if not settings.enabled:
            arrived()
            return 0
        store = self._needs.store
        await store.turns.mark_due(session_id)
        return await self.resume(session_id, arrived=arrived, after_reply=after_reply)

    async def resume(
        self,
        session_id: str,
        *,
        arrived: Callable[[], None],
        after_reply: Callable[[Callable[[], None]], None],
    ) -> int:
        """Take up what was due when an earlier process ended; how many batches that is."""
        settings = self._needs.settings()
        started: list[list[PendingTurn]] = []
        if settings.enabled:
            store = self._needs.store
            started = self._background.reserve(session_id, await store.turns.pending(session_id), settings)
            if started:
                epoch = await store.sessions.epoch(session_id)
                after_reply(lambda: self._background.start(session_id, epoch, started))
        arrived()
        return len(started)

    async def _read(self, batch: Batch | None, settings: CondenseSettings) -> _Turn:
        if batch is None:
            return _Turn(Arrivals([], []), None, None)
        arrivals = await read_arrivals(self._needs, batch, settings)
        chars = len(batch.user_text or "") + len(batch.assistant_text or "")
        request, prose = await beside(chars, _safe_texts, batch, self._needs.hide)
        return _Turn(arrivals, request, prose)

    async def _take_in(
        self, params: CondenseTurnEndParams, turn: _Turn, state: TurnState, settings: CondenseSettings
    ) -> Taken:
        batch, calls = params.batch, turn.arrivals.calls
        entry: TurnEntry | None = None
        if batch is not None and settings.enabled and any(call.kind == OPEN for call in calls):
            entry = TurnEntry(
                batch_id=batch.batch_id or made_batch_id(batch_key(call.identity for call in calls)),
                turn_index=batch.turn_index,
                timestamp=batch.timestamp,
                assistant_text=turn.prose,
                user_text=turn.request or state.text,
                group=state.group,
                positions=[call.index for call in calls if call.archived],
                loose=written_loose(calls, [call.index for call in calls if call.kind == PROTECTED]),
            )
        intake = Intake(calls=turn.arrivals.new, turn=entry, turn_state=written_state(state))
        return await self._needs.store.archive.take_in(params.session_id, intake, now_ms=self._needs.clock.now_ms())

    async def _offered(
        self, session_id: str, taken: Taken, standings: Sequence[Standing], settings: CondenseSettings
    ) -> Mapping[int, str]:
        """The replacements that stand now: earlier ones, pointers of duplicates, heads of big results."""
        if not settings.enabled:
            return {}
        given = {place.ref: place.replacement for place in taken.placed if place.replacement is not None}
        big = [row for row in left(standings) if len(row.call.text) >= settings.spill_threshold]
        offers = pointers(standings, settings.recovery_tool_name)
        if big:
            chars = len(big) * (_PREVIEW_MARGIN + settings.spill_preview_bytes)
            offers |= await beside(chars, _spills, big, settings, self._needs.hide)
        new = {ref: text for ref, text in offers.items() if ref not in given}
        if not new:
            return given
        return given | dict(await self._needs.store.batches.offer(session_id, taken.epoch, new))

    async def _items(
        self, session_id: str, standings: Sequence[Standing], given: Mapping[int, str]
    ) -> list[CondenseItem]:
        recovered = await recovered_ids(self._needs, session_id, standings)
        return items(standings, given, recovered, summarized=False)


def _safe_texts(batch: Batch, hide: Callable[[str], str]) -> tuple[str | None, str | None]:
    """The user's request and the assistant's prose, redacted and cut."""
    request = capped_request(hide(batch.user_text)) if batch.user_text else None
    prose = capped_prose(hide(batch.assistant_text)) if batch.assistant_text else None
    return request, prose


def _final_trigger(params: CondenseTurnEndParams, settings: CondenseSettings) -> str | None:
    final = params.final and settings.prune_on == "agent-message" and ended_well(params.stop_reason)
    return "agent-message" if final else None


def _spills(rows: Sequence[Standing], settings: CondenseSettings, hide: Callable[[str], str]) -> dict[int, str]:
    """Heads of big results, by ref. More than the head is redacted, so that no secret is cut in two before."""
    found: dict[int, str] = {}
    for row in rows:
        if row.placed is None:
            continue
        head = hide(row.call.text[: settings.spill_preview_bytes + _PREVIEW_MARGIN])
        chars = len(row.call.text)
        made = spill_replacement(
            head, chars, short_id(row.placed.ref), settings.spill_preview_bytes, settings.recovery_tool_name
        )
        text = shorter(made, chars)
        if text is not None:
            found[row.placed.ref] = text
    return found
