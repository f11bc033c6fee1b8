"""Commands of an editor (`workspace/executeCommand`): each takes one object, or nothing, and returns one.

afterturn.recap {sessionId?, uri?} -> {sessionId, recap, reason?}
    A recap now; where there is nothing to draft one from, the one that is kept.
afterturn.searchTraces {query, sessionId?, project?, uri?, limit?} -> {hits, stale?}
    Without a session or project, in that of the workspace.
afterturn.showRef {ref, sessionId?, uri?, line?} -> {sessionId, ref, uri, text}
    Where the whole original is, and what a hover says of it. With a line of an open document, in that line's session.
afterturn.status {uri?} -> what `afterturn/status` answers, with {sessionId}: the workspace's newest session

Where no session is given it is the newest of the workspace's project, or of that of the document `uri`. sessionId and
what there is to show are null where there is none.
"""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import msgspec
from lsprotocol import types

from afterturn.editor.documents import Documents
from afterturn.editor.finding import A_REF, is_ref
from afterturn.editor.meaning import Meaning
from afterturn.editor.originals import OriginalReader
from afterturn.editor.params import fitted
from afterturn.editor.ports import Needs
from afterturn.editor.progress import Progress
from afterturn.misfits import InvalidInputError
from afterturn_protocol.recap import RecapNowParams
from afterturn_protocol.shape import Count, Shape
from afterturn_protocol.traces import TracesSearchParams


class RecapArguments(Shape, frozen=True, kw_only=True):
    """session_id: omitted means the newest of the workspace's project. uri: a document of that workspace."""

    session_id: str | None = None
    uri: str | None = None


class SearchArguments(Shape, frozen=True, kw_only=True):
    """query: what to look for. project: "*" is all. limit: most hits."""

    query: str
    session_id: str | None = None
    project: str | None = None
    uri: str | None = None
    limit: Count | None = None


class RefArguments(Shape, frozen=True, kw_only=True):
    """ref: such as t12. line: the line of the document `uri` that it stands in, from 0."""

    ref: str
    session_id: str | None = None
    uri: str | None = None
    line: Count | None = None


class StatusArguments(Shape, frozen=True, kw_only=True):
    """uri: a document of the workspace whose newest session is told."""

    uri: str | None = None


T = TypeVar("T")

_IN_ARGUMENT = "$.arguments[0]"

Command = Callable[[types.ExecuteCommandParams], Coroutine[Any, Any, dict[str, Any]]]


class Commands:
    """Runs them; each raises InvalidInputError for arguments it cannot work with, StoreError where the store fails."""

    def __init__(
        self, needs: Needs, documents: Documents, meaning: Meaning, originals: OriginalReader, progress: Progress
    ) -> None:
        self._needs = needs
        self._documents = documents
        self._meaning = meaning
        self._originals = originals
        self._progress = progress

    def table(self) -> dict[str, Command]:
        """Every command by its name."""
        return {
            "afterturn.recap": self.recap,
            "afterturn.searchTraces": self.search,
            "afterturn.showRef": self.show_ref,
            "afterturn.status": self.status,
        }

    async def recap(self, params: types.ExecuteCommandParams) -> dict[str, Any]:
        """`afterturn.recap`."""
        asked = _argument(params, RecapArguments)
        session_id = asked.session_id
        if session_id is None:
            session_id = await self._meaning.newest(asked.uri)
        if session_id is None:
            return {"sessionId": None, "recap": None, "reason": "noSession"}
        recaps = self._needs.recaps()
        async with self._progress.of("Recap", params.work_done_token):
            made = await recaps.now(RecapNowParams(session_id=session_id), arrived=_nothing)
            recap = made.recap or (await recaps.get(session_id)).recap
        if recap is None:
            return {"sessionId": session_id, "recap": None, "reason": made.reason}
        return {"sessionId": session_id, "recap": msgspec.to_builtins(recap)}

    async def search(self, params: types.ExecuteCommandParams) -> dict[str, Any]:
        """`afterturn.searchTraces`."""
        asked = _argument(params, SearchArguments)
        session_id = asked.session_id
        if session_id is None and asked.project is None:
            session_id = await self._meaning.newest(asked.uri)
        async with self._progress.of("Searching traces", params.work_done_token):
            wanted = TracesSearchParams(
                query=asked.query, project=asked.project, session_id=session_id, limit=asked.limit
            )
            try:
                found = await self._needs.traces().search(wanted)
            except InvalidInputError as problem:
                raise InvalidInputError(_IN_ARGUMENT + problem.path[1:], problem.expected) from None
        return msgspec.to_builtins(found)

    async def show_ref(self, params: types.ExecuteCommandParams) -> dict[str, Any]:
        """`afterturn.showRef`."""
        asked = _argument(params, RefArguments)
        ref = asked.ref.strip().strip("`")
        if not is_ref(ref):
            raise InvalidInputError(f"{_IN_ARGUMENT}.ref", A_REF)
        session_id = asked.session_id
        if session_id is None:
            session_id = await self._session_at(asked.uri, asked.line)
        uri = text = None
        if session_id is not None:
            uri = await self._originals.uri(session_id, ref)
            text = await self._originals.hover(session_id, ref)
        return {"sessionId": session_id, "ref": ref, "uri": uri, "text": text}

    async def _session_at(self, uri: str | None, line: int | None) -> str | None:
        lines = None if uri is None or line is None else self._documents.get(uri)
        if uri is None or line is None or lines is None:
            return await self._meaning.newest(uri)
        return await self._meaning.session_at(uri, lines, line)

    async def status(self, params: types.ExecuteCommandParams) -> dict[str, Any]:
        """`afterturn.status`."""
        asked = _argument(params, StatusArguments)
        report = await self._needs.status().report()
        return {**msgspec.to_builtins(report), "sessionId": await self._meaning.newest(asked.uri)}


def _argument(params: types.ExecuteCommandParams, type_: type[T]) -> T:
    """The command's one argument. `[]` counts as an object, and nothing as one without fields."""
    given = list(params.arguments or ())
    if len(given) > 1:
        raise InvalidInputError("$.arguments", "one object at most")
    return fitted(given[0] if given and given[0] is not None else {}, type_, _IN_ARGUMENT)


def _nothing() -> None:
    pass
