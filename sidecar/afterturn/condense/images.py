"""Images in results: a descriptor of each, and what is said of them. Never their data (condense.md, 'resolveRef')."""

import json
from typing import Any

from afterturn.condense.identity import json_text
from afterturn_protocol.blocks import Block, image_blocks

_MOST_TYPES = 3
_MOST_TYPE_CHARS = 40


def image_descriptors(content: list[Block] | None) -> str | None:
    """The descriptors of a result's images, in order, as JSON text; None without images."""
    images = image_blocks(content)
    if not images:
        return None
    return json_text([_descriptor(image) for image in images])


def told_images(descriptors: str | None) -> str:
    """How many images there are, of which types, and their bytes together where all are known; "" without images."""
    if descriptors is None:
        return ""
    images: list[dict[str, Any]] = json.loads(descriptors)
    types = list(dict.fromkeys(each["mimeType"] for each in images if _is_type(each["mimeType"])))[:_MOST_TYPES]
    sizes: list[int] = [each["bytes"] for each in images if "bytes" in each]
    facts = [*types, f"{sum(sizes):,} bytes"] if len(sizes) == len(images) else types
    count = f"{len(images)} image{'s' * (len(images) != 1)}"
    return f"{count} ({', '.join(facts)})" if facts else count


def _descriptor(image: Block) -> dict[str, Any]:
    data, size = image.get("data"), image.get("bytes")
    found: dict[str, Any] = {"mimeType": image["mimeType"]}
    if data is not None:
        found["bytes"] = max(0, len(data) * 3 // 4 - data[-2:].count("="))
    elif size is not None:
        found["bytes"] = size
    return found


def _is_type(text: str) -> bool:
    """Whether a host's word for a type is one: it may be any text, and what is said of an image is read by a model."""
    if not 0 < len(text) <= _MOST_TYPE_CHARS:
        return False
    return text.isascii() and all(char.isalnum() or char in "/.+-" for char in text)
