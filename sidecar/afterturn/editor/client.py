"""What afterturn reads of an editor's capabilities: this much of LSP's, and no more (LSP 3.18, 'initialize')."""

from typing import Any

from msgspec import Struct

from afterturn.editor.params import fitted
from afterturn_protocol.lifecycle import ClientCapabilities
from afterturn_protocol.shape import Shape

_Nothing = tuple[()] | None
"""As absent as null: Lua writes an empty object as `[]`."""


class _Dynamic(Shape, frozen=True, kw_only=True):
    dynamic_registration: bool | None = None


class _Workspace(Shape, frozen=True, kw_only=True):
    configuration: bool | None = None
    did_change_configuration: _Dynamic | _Nothing = None
    text_document_content: _Dynamic | _Nothing = None


class _Window(Shape, frozen=True, kw_only=True):
    work_done_progress: bool | None = None


class _General(Shape, frozen=True, kw_only=True):
    position_encodings: list[str] | None = None


class _Hover(Shape, frozen=True, kw_only=True):
    content_format: list[str] | None = None


class _TextDocument(Shape, frozen=True, kw_only=True):
    hover: _Hover | _Nothing = None


class _Capabilities(Shape, frozen=True, kw_only=True):
    text_document: _TextDocument | _Nothing = None
    workspace: _Workspace | _Nothing = None
    window: _Window | _Nothing = None
    general: _General | _Nothing = None


class EditorClient(Struct, frozen=True):
    """What an editor can do.

    encodings: position encodings that it offers, as it prefers them. markdown: it shows Markdown in a hover. documents:
    it asks for the text of `afterturn:` documents (`workspace/textDocumentContent`). configuration: it answers
    `workspace/configuration`. registers: it can be asked to tell of new settings. progress: it shows progress that the
    server begins.
    """

    encodings: list[str]
    markdown: bool
    documents: bool
    configuration: bool
    registers: bool
    progress: bool


def editor_client(capabilities: ClientCapabilities) -> EditorClient:
    """The capabilities of an editor. Raises InvalidInputError where a part of them that is read has no such shape."""
    given: dict[str, Any] = {
        "textDocument": capabilities.text_document,
        "workspace": capabilities.workspace,
        "window": capabilities.window,
        "general": capabilities.general,
    }
    read = fitted(given, _Capabilities, "$.capabilities")
    workspace = read.workspace or _Workspace()
    hover = (read.text_document and read.text_document.hover) or _Hover()
    changes = workspace.did_change_configuration
    return EditorClient(
        encodings=(read.general and read.general.position_encodings) or [],
        markdown="markdown" in (hover.content_format or ()),
        documents=workspace.text_document_content is not None,
        configuration=bool(workspace.configuration),
        registers=bool(changes and changes.dynamic_registration),
        progress=bool(read.window and read.window.work_done_progress),
    )
