"""What a block is asked to stand for: batches, refs and earlier blocks (condense.md, 'Blocks')."""

from collections.abc import Sequence

from msgspec import Struct

from afterturn.condense.block_details import read_details
from afterturn.condense.fusing import tokens
from afterturn.condense.identity import block_key
from afterturn.condense.ports import FrozenBatch, Store, StoredBlock, StoredCall
from afterturn.condense.refs import block_id, parse_ref, short_id
from afterturn.condense.results import thawed
from afterturn.misfits import InvalidInputError
from afterturn_protocol.condense import FuseParams
from afterturn_protocol.refs import Ref


class Range(Struct, frozen=True, kw_only=True):
    """A range, read.

    notes: texts of summaries and blocks, oldest first. bare: calls that none of them tells of.
    refs: every tN and bN that has to survive, in order. calls: the calls among them. last_turn: of the last call.
    """

    key: bytes
    notes: list[str]
    bare: list[StoredCall]
    refs: list[str]
    calls: list[Ref]
    last_turn: int


async def read_range(store: Store, params: FuseParams) -> Range:
    """Find everything that `params` names. Raises InvalidInputError with the place of what does not exist."""
    if not params.batch_ids and not params.short_ids:
        raise InvalidInputError("$", "batchIds or shortIds")
    batches: dict[bytes, FrozenBatch] = {}
    for index, name in enumerate(params.batch_ids or ()):
        batch = await store.batches.named(params.session_id, name)
        if batch is None:
            raise InvalidInputError(f"$.batchIds[{index}]", "the id of a batch that was condensed")
        batches[batch.batch_key] = batch
    numbers, blocks = await _read_short_ids(store, params)
    for batch in await store.batches.holding(params.session_id, numbers) if numbers else ():
        batches[batch.batch_key] = batch
    found = _Found()
    for block in blocks:
        found.add_block(block)
    for batch in batches.values():
        found.add_batch(batch)
    bare_numbers = sorted(({*numbers} | found.untold) - found.told)
    bare = list(await store.archive.load(params.session_id, bare_numbers)) if bare_numbers else []
    missing = {*numbers} & {*bare_numbers} - {call.ref for call in bare}
    if missing:
        index = (params.short_ids or []).index(short_id(min(missing)))
        raise InvalidInputError(f"$.shortIds[{index}]", "a ref that resolves")
    for call in bare:
        found.add_call(call.ref, call.tool_call_id, call.result_timestamp, call.turn_index)
    return found.range(block_key(sorted(batches), [*found.block_ids(), *map(short_id, bare_numbers)]), bare)


async def _read_short_ids(store: Store, params: FuseParams) -> tuple[list[int], list[StoredBlock]]:
    numbers: list[int] = []
    blocks: list[StoredBlock] = []
    for index, ref in enumerate(params.short_ids or ()):
        query = parse_ref(ref)
        if query.short is not None:
            numbers.append(query.short)
            continue
        block = await store.blocks.numbered(params.session_id, query.block) if query.block is not None else None
        if block is None:
            raise InvalidInputError(f"$.shortIds[{index}]", "tN or bN that resolves")
        blocks.append(block)
    return numbers, blocks


class _Found:
    """Gathers a range. told: refs that a note tells of; untold: refs of batches that have no note."""

    def __init__(self) -> None:
        self.told: set[int] = set()
        self.untold: set[int] = set()
        self._notes: list[tuple[int, str]] = []
        self._calls: dict[int, tuple[Ref, int]] = {}
        self._blocks: list[StoredBlock] = []

    def add_call(self, number: int, tool_call_id: str, result_timestamp: int | None, turn_index: int) -> None:
        ref = Ref(short_id=short_id(number), tool_call_id=tool_call_id, result_timestamp=result_timestamp)
        self._calls.setdefault(number, (ref, turn_index))

    def add_block(self, block: StoredBlock) -> None:
        details = read_details(block.details)
        numbers = [int(ref.short_id[1:]) for ref in details.refs]
        for number, ref in zip(numbers, details.refs, strict=True):
            self._calls.setdefault(number, (ref, details.turn_index))
        self.told.update(numbers)
        self._blocks.append(block)
        self._notes.append((min(numbers, default=0), block.text))

    def add_batch(self, batch: FrozenBatch) -> None:
        numbers: list[int] = []
        for item in thawed(batch).items:
            if item.short_id is None or item.state == "recovered":
                continue
            number = int(item.short_id[1:])
            numbers.append(number)
            self.add_call(number, item.tool_call_id, item.result_timestamp, item.turn_index)
        if batch.summary is None:
            self.untold.update(numbers)
        else:
            self.told.update(numbers)
            self._notes.append((min(numbers, default=0), batch.summary))

    def block_ids(self) -> list[str]:
        return [block_id(number) for number in sorted({block.number for block in self._blocks})]

    def range(self, key: bytes, bare: Sequence[StoredCall]) -> Range:
        notes = [text for _, text in sorted(self._notes, key=lambda note: note[0])]
        ordered = [self._calls[number] for number in sorted(self._calls)]
        refs = [ref.short_id for ref, _ in ordered]
        written = [token for note in notes for token in tokens(note)]
        return Range(
            key=key,
            notes=notes,
            bare=list(bare),
            refs=list(dict.fromkeys([*refs, *self.block_ids(), *written])),
            calls=[ref for ref, _ in ordered],
            last_turn=ordered[-1][1] if ordered else 0,
        )
