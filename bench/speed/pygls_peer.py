"""A stock pygls server that answers the bench's requests in the shapes afterturn answers them in."""

from typing import Any

from pygls.lsp.server import LanguageServer

server = LanguageServer("peer", "1")
texts: dict[str, str] = {}


@server.feature("session/open")
def session_open(params: Any) -> dict[str, Any]:
    return {"sessionId": params.sessionId, "known": True}


@server.feature("condense/summarize")
def summarize(params: Any) -> dict[str, Any]:
    texts["t1"] = params.batch.toolCalls[0].resultText
    return {}


@server.feature("condense/resolveRef")
def resolve_ref(params: Any) -> dict[str, Any]:
    return {"records": [{"ref": ref, "text": texts[ref]} for ref in params.refs if ref in texts], "missing": []}


if __name__ == "__main__":
    server.start_io()
