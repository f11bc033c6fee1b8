"""Originals as an editor reads them: in a hover, as a document, as a file (clients.md, 'Editors')."""

from afterturn.condense.needs import beside
from afterturn.editor.places import document_uri
from afterturn.editor.ports import Needs
from afterturn.editor.showing import HEAD_CHARS, shown, whole
from afterturn_protocol.refs import MissingRef, RefRecord, ResolveRefParams

ALL_CHARS = 2**53


class OriginalReader:
    """documents: the editor asks for `afterturn:` documents. markdown: it shows Markdown.

    Every method raises StoreError where the store fails.
    """

    def __init__(self, needs: Needs, *, documents: bool, markdown: bool) -> None:
        self._needs = needs
        self._documents = documents
        self.markdown = markdown

    async def hover(self, session_id: str, ref: str) -> str | None:
        """What a hover says; None for a ref that the session never gave."""
        found = await self._record(session_id, ref, 2 * HEAD_CHARS + 1)
        if found is None:
            return None
        if isinstance(found, MissingRef):
            return f"{ref} has expired: its original is not kept any more"
        status = None
        if ref.startswith("t"):
            entry = await self._needs.catalogue().entry(session_id, int(ref[1:]))
            status = entry and entry.status
        return shown(found, status, markdown=self.markdown)

    async def uri(self, session_id: str, ref: str) -> str | None:
        """Where an editor finds the whole original: a document to ask for, or a private file; None where it is gone."""
        if self._documents:
            found = await self._record(session_id, ref, 1)
            return document_uri(session_id, ref) if isinstance(found, RefRecord) else None
        text = await self.text(session_id, ref)
        if text is None:
            return None
        path = await self._needs.opened().keep(session_id, ref, text)
        return path.as_uri()

    async def text(self, session_id: str, ref: str) -> str | None:
        """The whole original; None where it is gone."""
        found = await self._record(session_id, ref, ALL_CHARS)
        return await beside(len(found.text), whole, found.text) if isinstance(found, RefRecord) else None

    async def _record(self, session_id: str, ref: str, limit: int) -> RefRecord | MissingRef | None:
        params = ResolveRefParams(session_id=session_id, refs=[ref], limit=limit)
        found = await self._needs.originals().resolve_ref(params)
        if found.records:
            return found.records[0]
        return found.missing[0] if found.missing[0].reason == "expired" else None
