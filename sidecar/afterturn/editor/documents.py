"""The documents an editor has open, and places in them (LSP 3.17, 'Text Document Synchronization')."""

from collections.abc import Sequence

from lsprotocol import types

from afterturn.editor.lines import Lines
from afterturn.editor.units import column_of, index_of


class Documents:
    """Open documents by URI. encoding: how the editor counts columns."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._open: dict[str, Lines] = {}

    def open(self, document: types.TextDocumentItem) -> None:
        """`textDocument/didOpen`."""
        self._open[document.uri] = Lines(document.text)

    def close(self, uri: str) -> None:
        """`textDocument/didClose`."""
        self._open.pop(uri, None)

    def change(self, uri: str, changes: Sequence[types.TextDocumentContentChangeEvent]) -> None:
        """`textDocument/didChange`: one after the other, each in the text that the one before left."""
        for change in changes:
            lines = self._open.get(uri)
            if lines is None:
                return
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = self.place(lines, change.range.start), self.place(lines, change.range.end)
                lines.change(start, end, change.text)
            else:
                self._open[uri] = Lines(change.text)

    def get(self, uri: str) -> Lines | None:
        """A document's lines; None where it is not open."""
        return self._open.get(uri)

    def place(self, lines: Lines, position: types.Position) -> tuple[int, int]:
        """A position as a line and a char in it."""
        return position.line, index_of(lines.line(position.line), position.character, self._encoding)

    def range(self, number: int, line: str, start: int, end: int) -> types.Range:
        """A piece of a line as an editor counts it."""
        return types.Range(
            types.Position(number, column_of(line, start, self._encoding)),
            types.Position(number, column_of(line, end, self._encoding)),
        )
