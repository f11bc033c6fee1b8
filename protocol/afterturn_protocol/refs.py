"""Refs: the short names that bring originals back (protocol.md, 'condense'; seed per-bullet-summary-refs)."""

from typing import Any

from afterturn_protocol.shape import Count, Int, Shape


class Ref(Shape, frozen=True, kw_only=True):
    """A summarised call and its ref.

    short_id: such as t12.
    tool_call_id: the call.
    result_timestamp: as it was given, epoch ms.
    """

    short_id: str
    tool_call_id: str
    result_timestamp: Int | None = None


class ResolveRefParams(Shape, frozen=True, kw_only=True):
    """Params of `condense/resolveRef`.

    session_id: the session whose refs they are; a fork resolves its parent's too.
    refs: each `tN`, `bN`, a tool call id, or `id@resultTimestamp`.
    offset: where to start in each record, in chars; omitted means 0.
    limit: how much of each record, in chars; omitted means 51,200.
    grep: a literal, case-sensitive substring; with it `offset` and `limit` count in what it found.
    image_data: give the data of images too, not only their descriptors; omitted means no.
    """

    session_id: str
    refs: list[str]
    offset: Count | None = None
    limit: Count | None = None
    grep: str | None = None
    image_data: bool | None = None


class ImageDescriptor(Shape, frozen=True, kw_only=True):
    """An image of an original.

    mime_type: such as image/png.
    bytes: size of the decoded image, in bytes.
    data: the image in base64.
    """

    mime_type: str
    bytes: Count | None = None
    data: str | None = None


class RefRecord(Shape, frozen=True, kw_only=True):
    """One original, or a page of it. For a block, its id stands in `shortId`, `toolCallId` and `label`.

    ref: as it was asked for.
    short_id: the ref, such as t12 or b1.
    tool_call_id: the call.
    label: the tool call id, with @resultTimestamp where there is one.
    tool_name: the tool; "block" for a block.
    args: the arguments as they came; null where there were none.
    is_error: whether the tool failed.
    turn_index: the turn of the call; for a block that of its last call.
    result_timestamp: as it was given, epoch ms.
    text: the original, byte for byte, or the page that was asked for. Text blocks are joined by a line break.
    offset: where `text` starts, in chars.
    total_chars: size of the whole original, or with `grep` of all it found, in chars.
    next_offset: where the next page starts; null at the end.
    images: the images of the original.
    lossy: the original was not kept, and `text` is its redacted form.
    """

    ref: str
    short_id: str
    tool_call_id: str
    label: str
    tool_name: str
    args: Any
    is_error: bool
    turn_index: Int
    result_timestamp: Int | None = None
    text: str
    offset: Count
    total_chars: Count
    next_offset: Count | None
    images: list[ImageDescriptor] | None = None
    lossy: bool | None = None


class MissingRef(Shape, frozen=True, kw_only=True):
    """A ref that does not resolve.

    ref: as it was asked for.
    reason: "unknown" or "expired".
    known: the refs that exist, such as t1..t12.
    """

    ref: str
    reason: str
    known: str | None = None


class ResolveRefResult(Shape, frozen=True, kw_only=True):
    """Result of `condense/resolveRef`.

    records: what was found; a tool call id that occurred more than once gives every occurrence, in order.
    missing: what was not found; it does not spoil the rest.
    """

    records: list[RefRecord]
    missing: list[MissingRef]
