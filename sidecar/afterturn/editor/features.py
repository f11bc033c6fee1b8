"""What an editor can do with refs: one method for each request of LSP that is answered (clients.md, 'Editors').

Work for a request is bounded, however large the document: a hover looks at a part of a line, others at some lines.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
from lsprotocol import types
from msgspec import Struct

from afterturn.condense.needs import beside
from afterturn.editor.documents import Documents
from afterturn.editor.finding import A_REF, begun_before, find_refs, is_ref, ref_at
from afterturn.editor.lines import Lines, session_of
from afterturn.editor.meaning import Meaning
from afterturn.editor.originals import OriginalReader
from afterturn.editor.params import fitted
from afterturn.editor.places import document_of, document_uri
from afterturn.editor.ports import Catalogue, Entry, Spans
from afterturn.misfits import InvalidInputError
from afterturn.text import clean, cut, one_line

WINDOW_LINES = 20_000
WINDOW_CHARS = 1_000_000
MOST_FOUND = 1000
MOST_SESSIONS = 20
MOST_OFFERED = 100
_DETAIL_CHARS = 80


class _Target(Struct, frozen=True, rename="camel"):
    """What a link that was not followed yet leads to; its `data`."""

    session_id: str
    ref: str


class Found(Struct, frozen=True):
    """A ref in a document."""

    number: int
    line: str
    ref: str
    start: int
    end: int


class Features:
    """Answers about the open documents. documents: the editor asks for `afterturn:` documents."""

    def __init__(
        self,
        documents: Documents,
        meaning: Meaning,
        originals: OriginalReader,
        catalogue: Callable[[], Catalogue],
        *,
        opens_documents: bool,
    ) -> None:
        self._documents = documents
        self._meaning = meaning
        self._originals = originals
        self._catalogue = catalogue
        self._opens_documents = opens_documents

    # -- documents -------------------------------------------------------------------------------------------

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """`textDocument/didOpen`."""
        self._documents.open(params.text_document)

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """`textDocument/didChange`."""
        self._documents.change(params.text_document.uri, params.content_changes)

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """`textDocument/didClose`."""
        self._documents.close(params.text_document.uri)

    # -- one ref ---------------------------------------------------------------------------------------------

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """`textDocument/hover`: what the ref's call was, and how its output begins."""
        return await self._about(params, self._hover)

    async def definition(self, params: types.DefinitionParams) -> types.Location | None:
        """`textDocument/definition`: the whole original."""
        return await self._about(params, self._location)

    async def highlights(self, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        """`textDocument/documentHighlight`: the same ref of the same session, in the lines around."""
        lines = self._documents.get(params.text_document.uri)
        at = self._ref_at(lines, params.position)
        if lines is None or at is None:
            return None
        names = lines.sessions()
        session = session_of(names, at.number)
        found = await _found_in(lines, max(at.number - WINDOW_LINES // 2, 0), at.ref)
        return [
            types.DocumentHighlight(self._documents.range(each.number, each.line, each.start, each.end))
            for each in found
            if session_of(names, each.number) == session
        ]

    # -- all refs --------------------------------------------------------------------------------------------

    async def links(self, params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
        """`textDocument/documentLink`: each ref that its session knows."""
        uri = params.text_document.uri
        lines = self._documents.get(uri)
        if lines is None:
            return None
        names = lines.sessions()
        found = await _found_in(lines, 0, None)
        newest = await self._meaning.newest(uri) if found and not names else None
        known: dict[str, Spans] = {}
        links: list[types.DocumentLink] = []
        for each in found:
            session_id = session_of(names, each.number) or newest
            if session_id is None:
                break
            if session_id not in known:
                if len(known) == MOST_SESSIONS:
                    continue
                known[session_id] = await self._catalogue().spans(session_id)
            if _is_known(known[session_id], each.ref):
                links.append(self._link(each, session_id))
        return links

    async def resolve_link(self, link: types.DocumentLink) -> types.DocumentLink:
        """`documentLink/resolve`: the link was followed. Raises InvalidInputError for one that is none of ours."""
        target = fitted(link.data, _Target, "$.data")
        if not is_ref(target.ref):  # a call's id would do for the archive, and may hold "../"
            raise InvalidInputError("$.data.ref", A_REF)
        link.target = await self._originals.uri(target.session_id, target.ref)
        return link

    async def content(self, params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        """`workspace/textDocumentContent`: a whole original. Raises InvalidInputError for what is not there."""
        named = document_of(params.uri)
        text = await self._originals.text(*named) if named else None
        if text is None:
            raise InvalidInputError("$.uri", "the URI of an original that is kept")
        return types.TextDocumentContentResult(text)

    async def completion(self, params: types.CompletionParams) -> types.CompletionList | None:
        """`textDocument/completion`: the session's refs, newest first, once a `t` or `b` is typed."""
        uri = params.text_document.uri
        lines = self._documents.get(uri)
        if lines is None or lines.fenced(params.position.line):
            return None
        number, index = self._documents.place(lines, params.position)
        line = lines.line(number)
        typed = begun_before(line, index)
        session_id = typed and await self._meaning.session_at(uri, lines, number)
        if not typed or session_id is None:
            return None
        where = self._documents.range(number, line, index - len(typed), index)
        if typed[0] == "b":
            return _offered(await self._blocks(session_id, typed), where)
        entries = await self._catalogue().newest_entries(session_id, starting_with=typed[1:], limit=MOST_OFFERED + 1)
        return _offered([(f"t{entry.ref}", entry) for entry in entries], where)

    # -- parts -----------------------------------------------------------------------------------------------

    def _ref_at(self, lines: Lines | None, position: types.Position) -> Found | None:
        if lines is None or lines.fenced(position.line):
            return None
        number, index = self._documents.place(lines, position)
        line = lines.line(number)
        span = ref_at(line, index)
        return span and Found(number, line, span.ref, span.start, span.end)

    async def _about(
        self, params: types.TextDocumentPositionParams | Any, answer: Callable[[str, Found], Awaitable[Any]]
    ) -> Any:
        """What `answer` says of the ref at a position, given its session; None where there is no ref."""
        uri = params.text_document.uri
        lines = self._documents.get(uri)
        at = self._ref_at(lines, params.position)
        if lines is None or at is None:
            return None
        session_id = await self._meaning.session_at(uri, lines, at.number)
        return None if session_id is None else await answer(session_id, at)

    async def _hover(self, session_id: str, at: Found) -> types.Hover | None:
        text = await self._originals.hover(session_id, at.ref)
        if text is None:
            return None
        kind = types.MarkupKind.Markdown if self._originals.markdown else types.MarkupKind.PlainText
        where = self._documents.range(at.number, at.line, at.start, at.end)
        return types.Hover(contents=types.MarkupContent(kind, text), range=where)

    async def _location(self, session_id: str, at: Found) -> types.Location | None:
        uri = await self._originals.uri(session_id, at.ref)
        start = types.Position(0, 0)
        return None if uri is None else types.Location(uri, types.Range(start, start))

    def _link(self, found: Found, session_id: str) -> types.DocumentLink:
        where = self._documents.range(found.number, found.line, found.start, found.end)
        tooltip = f"Open the original of {found.ref}"
        if self._opens_documents:
            return types.DocumentLink(where, target=document_uri(session_id, found.ref), tooltip=tooltip)
        data = msgspec.to_builtins(_Target(session_id, found.ref))
        return types.DocumentLink(where, tooltip=tooltip, data=data)

    async def _blocks(self, session_id: str, typed: str) -> Sequence[tuple[str, Entry | None]]:
        span = (await self._catalogue().spans(session_id)).blocks
        low, high = span or (1, 0)
        names = (f"b{number}" for number in range(high, max(low, high - WINDOW_LINES) - 1, -1))
        return [(name, None) for name in names if name.startswith(typed)][: MOST_OFFERED + 1]


async def _found_in(lines: Lines, first: int, ref: str | None) -> list[Found]:
    """The refs in a window of lines outside fenced code, or only this one; at most MOST_FOUND."""
    window = lines.window(first, WINDOW_LINES, WINDOW_CHARS)
    return await beside(sum(len(line) for _, line in window), _scan, window, ref)


def _scan(window: Sequence[tuple[int, str]], ref: str | None) -> list[Found]:
    found: list[Found] = []
    for number, line in window:
        if ref is not None and ref not in line:
            continue
        for span in find_refs(line):
            if ref is None or span.ref == ref:
                found.append(Found(number, line, span.ref, span.start, span.end))
            if len(found) == MOST_FOUND:
                return found
    return found


def _is_known(spans: Spans, ref: str) -> bool:
    low, high = (spans.refs if ref[0] == "t" else spans.blocks) or (1, 0)
    return low <= int(ref[1:]) <= high


def _offered(found: Sequence[tuple[str, Entry | None]], where: types.Range) -> types.CompletionList:
    items = [
        types.CompletionItem(
            label=name,
            kind=types.CompletionItemKind.Reference,
            detail=_detail(entry) if entry is not None else "block",
            sort_text=f"{place:04}",
            text_edit=types.TextEdit(where, name),
        )
        for place, (name, entry) in enumerate(found[:MOST_OFFERED])
    ]
    return types.CompletionList(is_incomplete=len(found) > MOST_OFFERED, items=items)


def _detail(entry: Entry) -> str:
    status = entry.status or ("error" if entry.is_error else "ok")
    text = clean(f"{entry.tool_name} · {status} · {entry.args[: 2 * _DETAIL_CHARS]}")
    return cut(one_line(text), _DETAIL_CHARS)
