"""Content: a string, or a list of blocks (protocol.md, 'Shared shapes').

A block stays a plain dict, because block types and fields that this version does not know are kept as they came.
The Structs here document the known types for the schema; they are not used to decode.
"""

from typing import Annotated, Any

from msgspec import Meta

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


def content_text(content: str | list[Block] | None) -> str:
    """The text of a content: a string as it is, text blocks joined by one line break, None as "".

    A text block whose `text` is missing or no string counts as empty; blocks of other types give nothing.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "\n".join(_block_text(block) for block in content if block.get("type") == "text")


def image_blocks(content: str | list[Block] | None) -> list[Block]:
    """The image blocks of a content, in order and unchanged."""
    if content is None or isinstance(content, str):
        return []
    return [block for block in content if block.get("type") == "image"]


def _block_text(block: Block) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else ""
