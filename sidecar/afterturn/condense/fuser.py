"""Fusing batch summaries into blocks (condense.md, 'Blocks')."""

from msgspec import Struct

from afterturn.completion import Completer, CompleterError, PromptMessage
from afterturn.condense.block_details import BlockDetails, read_details, written_details
from afterturn.condense.bullets import parse_bullets
from afterturn.condense.calls import redacted_args
from afterturn.condense.claims import claimed
from afterturn.condense.fusing import CallFact, bare_block, joined, only_known, with_survivors
from afterturn.condense.locks import KeyedLocks
from afterturn.condense.needs import Needs, beside
from afterturn.condense.ports import StoredBlock
from afterturn.condense.ranges import Range, read_range
from afterturn.condense.refs import block_id, short_id
from afterturn.condense.reply import UnusableReplyError, usable_reply
from afterturn.condense.serialise import CHARS_PER_TOKEN, MAX_PROMPT_TOKENS, reply_tokens, sendable
from afterturn.condense.untrusted import is_untrusted
from afterturn.grounding import Source, is_grounded
from afterturn.marks import unforgeable_mark
from afterturn.misfits import InvalidInputError
from afterturn.prompts import condense_fuse
from afterturn_protocol.base import Usage
from afterturn_protocol.condense import FuseParams, FuseResult


class _Body(Struct, frozen=True):
    text: str
    source: str
    usage: Usage | None


class Fuser:
    """Makes blocks, each once."""

    def __init__(self, needs: Needs) -> None:
        self._needs = needs
        self._locks = KeyedLocks()

    async def fuse(self, params: FuseParams) -> FuseResult:
        """The block for a range of batches or refs. The same range again gives the same block at no cost.

        Raises InvalidInputError for a range that is empty or names what does not exist, StoreError.
        """
        store, session_id = self._needs.store, params.session_id
        epoch = await store.sessions.epoch(session_id)
        wanted = await read_range(store, params)
        async with self._locks.hold((session_id, wanted.key)):
            block = await store.blocks.find(session_id, wanted.key)
            if block is not None:
                return _result(block, None)
            completer = self._completer(session_id, wanted)
            if completer is None:
                return await self._made(session_id, epoch, wanted, None)
            lasts_ms = self._needs.settings().total_timeout_ms
            async with claimed(self._needs, session_id, wanted.key, lasts_ms=lasts_ms):
                block = await store.blocks.find(session_id, wanted.key)
                if block is not None:
                    return _result(block, None)
                return await self._made(session_id, epoch, wanted, completer)

    def _completer(self, session_id: str, wanted: Range) -> Completer | None:
        """The model to merge the notes; None where there is none, or nothing for it to do."""
        settings, completer = self._needs.settings(), self._needs.completer
        too_long = len(joined(wanted.notes)) > MAX_PROMPT_TOKENS * CHARS_PER_TOKEN
        if completer is None or too_long or len(wanted.notes) < 2 or not settings.enabled:
            return None
        return completer if completer.available(session_id, settings.model) else None

    async def _made(self, session_id: str, epoch: int, wanted: Range, completer: Completer | None) -> FuseResult:
        needs = self._needs
        body = await self._body(session_id, wanted, completer)
        block = await needs.store.blocks.add(
            session_id,
            epoch,
            wanted.key,
            text=with_survivors(body.text, wanted.refs, needs.settings().recovery_tool_name),
            details=written_details(BlockDetails(wanted.calls, wanted.last_turn)),
            source=body.source,
            now_ms=needs.clock.now_ms(),
        )
        if block is None:
            raise InvalidInputError("$.sessionId", "a session that is not being deleted")
        return _result(block, body.usage)

    async def _body(self, session_id: str, wanted: Range, completer: Completer | None) -> _Body:
        bare = await self._bare(wanted)
        if not wanted.notes:
            return _Body(bare, "extractive", None)
        fused = await self._fused(session_id, wanted, completer)
        return _Body(f"{fused.text}\n\n{bare}", fused.source, fused.usage) if bare else fused

    async def _bare(self, wanted: Range) -> str:
        if not wanted.bare:
            return ""
        hide = self._needs.hide
        chars = sum(len(call.args) for call in wanted.bare)

        def made() -> str:
            return bare_block(
                [
                    CallFact(
                        short_id(call.ref),
                        hide(call.tool_name),
                        redacted_args(call.args, hide),
                        call.turn_index,
                        call.result_timestamp,
                    )
                    for call in wanted.bare
                ]
            )

        return await beside(chars, made)

    async def _fused(self, session_id: str, wanted: Range, completer: Completer | None) -> _Body:
        """The notes merged by a model, or joined where there is none, where it fails, or where it saves nothing."""
        plain = joined(wanted.notes)
        if completer is None:
            return _Body(plain, "extractive", None)
        try:
            return await self._asked(completer, session_id, wanted, plain)
        except CompleterError as problem:
            return _Body(plain, "extractive", problem.usage)

    async def _asked(self, completer: Completer, session_id: str, wanted: Range, plain: str) -> _Body:
        settings = self._needs.settings()
        notes = [sendable(note) for note in wanted.notes]
        mark = unforgeable_mark(notes)
        completion = await completer.complete(
            "condense.fuse",
            [
                PromptMessage("system", condense_fuse.instructions(mark)),
                PromptMessage("user", condense_fuse.material(mark, notes)),
            ],
            session_id=session_id,
            prompt_version=condense_fuse.VERSION,
            max_tokens=reply_tokens(len(wanted.calls), 1),
            model=settings.model,
            reasoning=settings.reasoning,
            idle_timeout_ms=settings.idle_timeout_ms,
            total_timeout_ms=settings.total_timeout_ms,
            max_calls=settings.max_attempts,
            background=False,
        )
        try:
            reply = usable_reply(completion.text, completion.stop_reason)
        except UnusableReplyError:
            return _Body(plain, "extractive", completion.usage)
        text = await beside(len(reply), checked_fusion, reply, wanted.refs, "\n".join(wanted.notes))
        if not text or len(text) > len(plain):
            return _Body(plain, "extractive", completion.usage)
        return _Body(text, "model", completion.usage)


def checked_fusion(reply: str, refs: list[str], notes: str) -> str:
    """What of a merged text is supported by the notes and safe to pass on, without refs that they do not have."""
    source = Source(notes)
    kept = [
        bullet.text
        for bullet in parse_bullets(only_known(reply, refs, notes), [])
        if not is_untrusted(bullet.text) and is_grounded(bullet.text, source)
    ]
    return "\n".join(kept)


def _result(block: StoredBlock, usage: Usage | None) -> FuseResult:
    return FuseResult(
        block_id=block_id(block.number),
        summary_text=block.text,
        refs=read_details(block.details).refs,
        source=block.source,
        usage=usage,
    )
