"""Content: a string, or a list of blocks (protocol.md, 'Shared shapes').

A block stays a plain dict, because block types and fields that this version does not know are kept as they came.
The Structs here document the known types for the schema, and `check_block` holds text and images to them.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct, convert

from afterturn_protocol.shape import Count, Shape

Block = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": "#/$defs/Block"})]
"""One content block, `{"type": ..., ...}`: TextBlock, ImageBlock, ThinkingBlock or any other, kept unchanged."""


class TextBlock(Shape, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """A block of text.

    text: the text itself.
    """

    text: str


class ImageBlock(Shape, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """An image, or where its data was left out, its descriptor.

    mime_type: such as image/png.
    data: the image in base64.
    bytes: size of the decoded image, in bytes.
    """

    mime_type: str
    data: str | None = None
    bytes: Count | None = None


class ThinkingBlock(Shape, frozen=True, kw_only=True, tag_field="type", tag="thinking"):
    """The model's own reasoning. Never part of a recap's input.

    text: the reasoning.
    """

    text: str


class _AnyBlock(Struct):
    type: str


_KNOWN_FIELDS = ("type", *TextBlock.__struct_encode_fields__, *ImageBlock.__struct_encode_fields__)


def check_block(block: Block) -> None:
    """Raises ValidationError for a block without a type, and for a text or an image without what belongs to it.

    A thinking block may have its text under another name: hosts send it as their model's provider does.
    """
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return
    shape = TextBlock if kind == "text" else ImageBlock if kind == "image" else _AnyBlock
    known = {name: block[name] for name in _KNOWN_FIELDS if name in block}
    try:
        convert(known, shape)
    except UnicodeEncodeError:
        # msgspec looks at a text in a number's place as UTF-8, which half of a surrogate pair cannot be.
        convert({name: _in_utf8(value) for name, value in known.items()}, shape)


def content_text(content: str | list[Block] | None) -> str:
    """The text of a content: a string as it is, text blocks joined by one line break, None as "".

    A text block whose `text` is missing or no string counts as empty; blocks of other types give nothing.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "\n".join(_block_text(block) for block in content if block.get("type") == "text")


def result_text(content: list[Block]) -> str:
    """What a tool's result says: its text, then every block that is neither text nor an image, as one line of JSON.

    All of it is there for whoever asks for the result again (condense.md, 'The rule above all'); images go beside it.
    Raises RecursionError for a block that is nested too deep.
    """
    texts = [_block_text(block) for block in content if block.get("type") == "text"]
    others = [block for block in content if block.get("type") not in ("text", "image")]
    return "\n".join(texts + [_line(block) for block in others])


def image_blocks(content: str | list[Block] | None) -> list[Block]:
    """The image blocks of a content, in order and unchanged."""
    if content is None or isinstance(content, str):
        return []
    return [block for block in content if block.get("type") == "image"]


def _line(block: Block) -> str:
    import json

    return json.dumps(block, ensure_ascii=False, separators=(",", ":"))


def _in_utf8(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


def _block_text(block: Block) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else ""
