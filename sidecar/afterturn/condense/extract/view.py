"""What an extractive summary is made from."""

from typing import Any

import msgspec


class ToolView(msgspec.Struct, frozen=True):
    """One finished tool call, already redacted.

    `args` is any JSON value as the harness sent it; `text` the result as text, in chars; `status` is the protocol's
    "ok" | "error" | "denied" | "notRun" where the host gave one; `images` what is to be said of images in the result.
    """

    tool_name: str
    args: Any
    text: str
    is_error: bool = False
    status: str | None = None
    images: str = ""
