"""Params of LSP methods, and where exactly they do not fit (protocol.md, 'Errors')."""

from typing import Any

import pytest
from lsprotocol import types

from afterturn.editor.client import editor_client
from afterturn.editor.params import strict_converter, structured
from afterturn.misfits import InvalidInputError
from afterturn_protocol.lifecycle import ClientCapabilities

DOCUMENT = {"uri": "file:///a"}
START = {"line": 0, "character": 0}
HOVER: dict[str, Any] = {"textDocument": DOCUMENT, "position": {"line": 1, "character": 2}}
VERSIONED = {"uri": "file:///a", "version": 1}


def misfit(value: Any, type_: type[Any]) -> tuple[str, str]:
    with pytest.raises(InvalidInputError) as caught:
        structured(strict_converter(), value, type_)
    return caught.value.path, caught.value.expected


def test_what_fits_is_taken() -> None:
    converter = strict_converter()
    assert structured(converter, HOVER, types.HoverParams).position == types.Position(1, 2)
    completion = structured(converter, {**HOVER, "context": {"triggerKind": 1}}, types.CompletionParams)
    assert completion.context is not None
    assert completion.context.trigger_kind is types.CompletionTriggerKind.Invoked
    changes = [{"text": "whole"}, {"range": {"start": START, "end": START}, "text": "part"}]
    given = {"textDocument": VERSIONED, "contentChanges": changes}
    whole, part = structured(converter, given, types.DidChangeTextDocumentParams).content_changes
    assert isinstance(whole, types.TextDocumentContentChangeWholeDocument)
    assert isinstance(part, types.TextDocumentContentChangePartial)


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        ({}, "$", "textDocument"),
        ([], "$", "object"),
        ({"textDocument": DOCUMENT}, "$", "position"),
        ({**HOVER, "textDocument": []}, "$.textDocument", "object"),
        ({**HOVER, "textDocument": {"uri": 3}}, "$.textDocument.uri", "string"),
        ({**HOVER, "position": None}, "$.position", "object"),
        ({**HOVER, "position": {"line": 3}}, "$.position", "character"),
        ({**HOVER, "position": {"line": "3", "character": 0}}, "$.position.line", "integer"),
        ({**HOVER, "position": {"line": 2.0, "character": 0}}, "$.position.line", "integer"),
        ({**HOVER, "position": {"line": True, "character": 0}}, "$.position.line", "integer"),
        ({**HOVER, "position": {"line": -1, "character": 0}}, "$.position.line", "integer in [0:2147483647]"),
        ({**HOVER, "position": {"line": 0, "character": 2**31}}, "$.position.character", "integer in [0:2147483647]"),
    ],
)
def test_a_misfit_has_its_place(value: Any, path: str, expected: str) -> None:
    assert misfit(value, types.HoverParams) == (path, expected)


def test_misfits_in_lists_have_their_index() -> None:
    changes = [{"text": "a"}, {"range": {"start": START, "end": {"line": 0}}, "text": "b"}]
    given = {"textDocument": VERSIONED, "contentChanges": changes}
    assert misfit(given, types.DidChangeTextDocumentParams) == ("$.contentChanges[1].range.end", "character")
    given = {"textDocument": VERSIONED, "contentChanges": [{"text": 3}]}
    assert misfit(given, types.DidChangeTextDocumentParams) == ("$.contentChanges[0].text", "string")


def test_a_number_outside_an_enum_is_refused() -> None:
    value = {**HOVER, "context": {"triggerKind": 99}}
    assert misfit(value, types.CompletionParams) == ("$.context.triggerKind", "CompletionTriggerKind")


def test_what_is_read_of_an_editor() -> None:
    client = editor_client(ClientCapabilities(text_document={}))
    assert (client.encodings, client.markdown, client.documents) == ([], False, False)
    client = editor_client(
        ClientCapabilities(
            text_document={"hover": {"contentFormat": ["plaintext", "markdown"]}, "unknown": 3},
            workspace={"configuration": True, "textDocumentContent": {}},
            window={"workDoneProgress": True},
            general={"positionEncodings": ["utf-32", "utf-16"]},
        )
    )
    assert client.encodings == ["utf-32", "utf-16"]
    assert client.markdown
    assert client.documents
    assert client.configuration
    assert client.progress
    assert not client.registers


@pytest.mark.parametrize(
    ("capabilities", "path"),
    [
        ({"text_document": "yes"}, "$.capabilities.textDocument"),
        ({"text_document": {}, "general": {"positionEncodings": "utf-8"}}, "$.capabilities.general.positionEncodings"),
        ({"text_document": {}, "window": {"workDoneProgress": 1}}, "$.capabilities.window.workDoneProgress"),
    ],
)
def test_capabilities_of_another_shape_are_refused(capabilities: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        editor_client(ClientCapabilities(**capabilities))
    assert caught.value.path == path


def test_empty_lua_tables_count_as_objects() -> None:
    client = editor_client(ClientCapabilities(text_document=[], workspace=[], window=[], general=[]))
    assert not client.progress
    inner = {"textDocumentContent": [], "didChangeConfiguration": []}
    client = editor_client(ClientCapabilities(text_document={"hover": []}, workspace=inner))
    assert (client.markdown, client.documents, client.registers) == (False, True, False)
