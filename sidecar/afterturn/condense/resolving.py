"""Bringing originals back (condense.md, 'resolveRef'; case C01)."""

import json
from collections.abc import Mapping, Sequence

from msgspec import convert
from msgspec.structs import replace

from afterturn.clock import Clock
from afterturn.condense.block_details import read_details
from afterturn.condense.needs import beside
from afterturn.condense.paging import grep, page
from afterturn.condense.ports import Archive, Found, StoredBlock, StoredCall
from afterturn.condense.refs import block_id, label_of, parse_ref, short_id
from afterturn_protocol.blocks import image_blocks
from afterturn_protocol.refs import ImageDescriptor, MissingRef, RefRecord, ResolveRefParams, ResolveRefResult

DEFAULT_LIMIT = 51_200


class Originals:
    """What refs stand for. Works with condensing switched off, too."""

    def __init__(self, archive: Archive, clock: Clock) -> None:
        self._archive = archive
        self._clock = clock

    async def resolve_ref(self, params: ResolveRefParams) -> ResolveRefResult:
        """`condense/resolveRef`: every original that was asked for, byte for byte, and what was not found; one never
        spoils the other. Raises StoreError.
        """
        queries = [parse_ref(ref) for ref in params.refs]
        found = await self._archive.resolve(params.session_id, queries, now_ms=self._clock.now_ms())
        pictured = [call.ref for each in found for call in each.calls if call.images is not None]
        contents: Mapping[int, str] = {}
        if params.image_data and pictured:
            contents = await self._archive.contents(params.session_id, pictured)
        if params.grep is None and not contents:
            return _result(params, found, contents)
        chars = sum(len(call.text) for each in found for call in each.calls) + sum(map(len, contents.values()))
        return await beside(chars, _result, params, found, contents)


def _result(params: ResolveRefParams, found: Sequence[Found], contents: Mapping[int, str]) -> ResolveRefResult:
    records: list[RefRecord] = []
    missing: list[MissingRef] = []
    for ref, each in zip(params.refs, found, strict=True):
        if each.block is not None:
            records.append(_block_record(params, ref, each.block))
        elif each.calls:
            records += [_record(params, ref, call, contents.get(call.ref)) for call in each.calls]
        else:
            missing.append(_missing(ref, each))
    return ResolveRefResult(records=records, missing=missing)


def _record(params: ResolveRefParams, ref: str, call: StoredCall, content: str | None) -> RefRecord:
    piece = page(_searched(params, call.text), params.offset or 0, _limit(params))
    return RefRecord(
        ref=ref,
        short_id=short_id(call.ref),
        tool_call_id=call.tool_call_id,
        label=label_of(call.tool_call_id, call.result_timestamp),
        tool_name=call.tool_name,
        args=json.loads(call.args),
        is_error=call.is_error,
        turn_index=call.turn_index,
        result_timestamp=call.result_timestamp,
        text=piece.text,
        offset=piece.offset,
        total_chars=piece.total_chars,
        next_offset=piece.next_offset,
        images=_images(call.images, content),
        lossy=True if call.lossy else None,
    )


def _images(descriptors: str | None, content: str | None) -> list[ImageDescriptor] | None:
    """The descriptors, with the data where the blocks as they came are given."""
    if descriptors is None:
        return None
    images = convert(json.loads(descriptors), list[ImageDescriptor])
    if content is None:
        return images
    blocks = image_blocks(json.loads(content))
    return [
        replace(image, data=data) if isinstance(data := block.get("data"), str) else image
        for image, block in zip(images, blocks, strict=True)
    ]


def _block_record(params: ResolveRefParams, ref: str, block: StoredBlock) -> RefRecord:
    name = block_id(block.number)
    details = read_details(block.details)
    piece = page(_searched(params, block.text), params.offset or 0, _limit(params))
    return RefRecord(
        ref=ref,
        short_id=name,
        tool_call_id=name,
        label=name,
        tool_name="block",
        args={"refs": [each.short_id for each in details.refs]},
        is_error=False,
        turn_index=details.turn_index,
        text=piece.text,
        offset=piece.offset,
        total_chars=piece.total_chars,
        next_offset=piece.next_offset,
    )


def _missing(ref: str, found: Found) -> MissingRef:
    known = None
    if found.known is not None:
        kind = "b" if parse_ref(ref).block is not None else "t"
        known = f"{kind}{found.known[0]}..{kind}{found.known[1]}"
    return MissingRef(ref=ref, reason="expired" if found.expired else "unknown", known=known)


def _searched(params: ResolveRefParams, text: str) -> str:
    return text if params.grep is None else grep(text, params.grep)


def _limit(params: ResolveRefParams) -> int:
    return DEFAULT_LIMIT if params.limit is None else params.limit
