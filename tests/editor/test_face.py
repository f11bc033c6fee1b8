"""The face on the wire: what is loaded for whom, malformed params, lifecycle, large documents, copies on disk."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.server import Server
from tests.editor.archive import OUTPUT, SESSION

TIMED = [sys.executable, str(Path(__file__).parents[1] / "e2e" / "timed.py")]
EDITOR: dict[str, Any] = {"textDocument": {"hover": {"contentFormat": ["markdown"]}}}
SHOWS = {"experimental": {"afterturn": {"recap": {"canShow": True, "focusReporting": "supported"}}}}
URI = "file:///plan.md"
DOCUMENT = {"uri": URI}


def opened(server: Server, text: str) -> None:
    document = {"uri": URI, "languageId": "markdown", "version": 1, "text": text}
    server.notify("textDocument/didOpen", {"textDocument": document})


def at(line: int, character: int) -> dict[str, Any]:
    return {"textDocument": DOCUMENT, "position": {"line": line, "character": character}}


def loaded(server: Server) -> list[str]:
    return server.call("afterturn/status")["process"]["loadedModules"]


# -- what is loaded for whom


@pytest.mark.req("editor.mounted-for-editors")
@pytest.mark.parametrize("capabilities", [{}, {"textDocument": None}, SHOWS, {"workspace": {}, "general": {}}])
def test_a_harness_never_loads_it(home: Path, capabilities: dict[str, Any]) -> None:
    with Server(home) as server:
        result = server.initialize(capabilities=capabilities)
        assert list(result["capabilities"]) == ["experimental"]
        assert server.ask("textDocument/hover", at(0, 0))["error"]["code"] == -32601
        assert loaded(server) == []


@pytest.mark.parametrize("text_document", [{}, []])
def test_any_editor_gets_it(home: Path, text_document: Any) -> None:
    with Server(home) as server:
        result = server.initialize(capabilities={"textDocument": text_document})
        assert result["capabilities"]["hoverProvider"] is True
        assert loaded(server) == ["pygls", "lsprotocol"]


@pytest.mark.req("editor.both")
def test_an_editor_has_every_method_and_event_of_a_harness(home: Path, project: Path) -> None:
    with Server(home, command=TIMED) as server:
        harness = Server(home)
        with harness:
            ours = harness.initialize()["capabilities"]["experimental"]
        assert server.initialize(capabilities={**EDITOR, **SHOWS})["capabilities"]["experimental"] == ours
        request = {"role": "user", "content": "Fix the login redirect in auth.py"}
        step = {"role": "assistant", "content": "", "toolCalls": [{"id": "c", "name": "edit", "input": {}}]}
        result = {"role": "tool", "content": "done", "toolCallId": "c", "toolName": "edit"}
        context = {"messages": [request, step, result]}
        server.call("recap/onTurnEnd", {"sessionId": SESSION, "context": context})
        server.call("recap/onFocus", {"sessionId": SESSION, "focused": False, "source": "window"})
        server.call("test/wait", {"seconds": 100})
        assert "login redirect" in server.event("recap.ready")["text"]
        assert server.call("traces/search", {"query": "redirect", "sessionId": SESSION}) == {"hits": []}
        records = server.call("condense/resolveRef", {"sessionId": SESSION, "refs": ["t1"]})["records"]
        assert records[0]["text"] == OUTPUT


# -- lifecycle and errors


@pytest.mark.req("editor.invalid-params")
@pytest.mark.parametrize(
    ("method", "params", "path", "expected"),
    [
        ("textDocument/hover", None, "$", "textDocument"),
        ("textDocument/hover", [], "$", "textDocument"),
        ("textDocument/hover", {"textDocument": DOCUMENT}, "$", "position"),
        ("textDocument/definition", {**at(0, 0), "textDocument": {"uri": 1}}, "$.textDocument.uri", "string"),
        ("textDocument/documentLink", {"textDocument": {}}, "$.textDocument", "uri"),
        ("textDocument/documentHighlight", {**at(0, 0), "position": 3}, "$.position", "object"),
        ("textDocument/completion", {**at(0, 0), "context": {}}, "$.context", "triggerKind"),
        ("workspace/textDocumentContent", {"uri": "file:///x"}, "$.uri", "the URI of an original that is kept"),
        ("documentLink/resolve", {"range": {"start": 1}}, "$.range.start", "object"),
        ("workspace/executeCommand", {"command": "afterturn.showRef"}, "$.arguments[0]", "ref"),
        (
            "workspace/executeCommand",
            {"command": "afterturn.showRef", "arguments": [{"ref": "../t1"}]},
            "$.arguments[0].ref",
            "a ref such as t12 or b3",
        ),
        (
            "workspace/executeCommand",
            {"command": "afterturn.searchTraces", "arguments": [{"query": 3}]},
            "$.arguments[0].query",
            "string",
        ),
        (
            "workspace/executeCommand",
            {"command": "afterturn.status", "arguments": [{}, {}]},
            "$.arguments",
            "one object at most",
        ),
    ],
)
def test_malformed_params_are_told_with_their_place(
    home: Path, method: str, params: Any, path: str, expected: str
) -> None:
    with Server(home) as server:
        server.initialize(capabilities=EDITOR)
        error = server.ask(method, params)["error"]
        assert error["code"] == -32602
        assert error["data"] == {"path": path, "expected": expected}


def test_an_unknown_command_is_refused(home: Path) -> None:
    with Server(home) as server:
        server.initialize(capabilities=EDITOR)
        error = server.ask("workspace/executeCommand", {"command": "afterturn.nonsense"})["error"]
        assert (error["code"], error["data"]["path"]) == (-32602, "$.command")


def test_malformed_notifications_change_nothing(home: Path, project: Path) -> None:
    with Server(home) as server:
        server.initialize(capabilities=EDITOR, rootUri=project.as_uri())
        opened(server, "t1")
        server.notify("textDocument/didChange", {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{}]})
        server.notify("textDocument/didChange", {"textDocument": DOCUMENT, "contentChanges": [{"text": ""}]})
        server.notify("textDocument/didOpen", {"textDocument": {"uri": URI}})
        unknown = {"textDocument": {"uri": "file:///other", "version": 1}, "contentChanges": [{"text": "t1"}]}
        server.notify("textDocument/didChange", unknown)
        assert "t1" in server.call("textDocument/hover", at(0, 0))["contents"]["value"]
        server.notify("textDocument/didClose", {"textDocument": DOCUMENT})
        assert server.call("textDocument/hover", at(0, 0)) is None


def test_capabilities_of_another_shape_are_refused_and_initialize_may_follow_again(home: Path) -> None:
    with Server(home) as server:
        wrong = {"textDocument": {}, "general": {"positionEncodings": "utf-8"}}
        error = server.ask("initialize", {"capabilities": wrong})["error"]
        assert error["data"]["path"] == "$.capabilities.general.positionEncodings"
        assert server.ask("textDocument/hover", at(0, 0))["error"]["code"] == -32002
        server.initialize(capabilities=EDITOR)
        assert server.ask("initialize", {"capabilities": EDITOR})["error"]["code"] == -32600


@pytest.mark.req("editor.lifecycle")
def test_it_ends_as_for_every_client(home: Path) -> None:
    with Server(home) as server:
        server.initialize(capabilities=EDITOR)
        assert server.ask("shutdown") == {"jsonrpc": "2.0", "id": 2, "result": None}
        assert server.ask("textDocument/hover", at(0, 0))["error"]["code"] == -32600
        server.notify("exit")
        assert server.wait_exit() == 0
        assert server.inbox == []


def test_an_editor_that_refuses_what_it_is_asked_is_served_all_the_same(home: Path, project: Path) -> None:
    able = {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": True}}
    with Server(home) as server:
        server.initialize(
            capabilities={**EDITOR, "workspace": able, "window": {"workDoneProgress": True}}, rootUri=project.as_uri()
        )
        error = {"code": -32601, "message": "no"}
        for method in ("client/registerCapability", "workspace/configuration"):
            asked = server.take(lambda message, method=method: message.get("method") == method)
            server.send({"jsonrpc": "2.0", "id": asked["id"], "error": error})
        command = server.post("workspace/executeCommand", {"command": "afterturn.recap"})
        asked = server.take(lambda message: message.get("method") == "window/workDoneProgress/create")
        server.send({"jsonrpc": "2.0", "id": asked["id"], "error": error})
        assert server.answer(command)["result"]["reason"] == "noContext"


def test_a_token_of_the_editor_carries_the_progress(home: Path, project: Path) -> None:
    with Server(home) as server:
        server.initialize(capabilities=EDITOR, rootUri=project.as_uri())
        server.call("workspace/executeCommand", {"command": "afterturn.recap", "workDoneToken": "mine"})
        told = [server.event("$/progress"), server.event("$/progress")]
        assert [each["token"] for each in told] == ["mine", "mine"]
        assert [each["value"]["kind"] for each in told] == ["begin", "end"]


def test_folders_come_and_go(home: Path, project: Path) -> None:
    with Server(home) as server:
        server.initialize(capabilities=EDITOR)
        folder = {"uri": project.as_uri(), "name": "project"}
        status = {"command": "afterturn.status"}
        assert server.call("workspace/executeCommand", status)["sessionId"] is None
        server.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
        assert server.call("workspace/executeCommand", status)["sessionId"] == SESSION
        server.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [folder]}})
        assert server.call("workspace/executeCommand", status)["sessionId"] is None


@pytest.mark.parametrize("name", ["a b", "100%", "\u00e9", "a%20b", "#x"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    home, folder = tmp_path / "home", tmp_path / name
    folder.mkdir()
    with Server(home) as harness:
        harness.initialize()
        harness.call("session/open", {"sessionId": "s", "project": str(folder)})
        with Server(home) as server:
            server.initialize(
                capabilities=EDITOR,
                workspaceFolders=[{"uri": "file://[", "name": "no URI"}, {"uri": folder.as_uri(), "name": name}],
            )
            status = server.call("workspace/executeCommand", {"command": "afterturn.status"})
            assert status["sessionId"] == "s"


def test_without_a_workspace_no_session_is_meant(home: Path, project: Path) -> None:
    with Server(home) as server:
        server.initialize(capabilities=EDITOR, rootUri=None)
        opened(server, f"t1\nsession: {SESSION}\nt2")
        assert server.call("textDocument/hover", at(0, 0)) is not None
        opened(server, "t1")
        assert server.call("textDocument/hover", at(0, 0)) is None
        recap = server.call("workspace/executeCommand", {"command": "afterturn.recap"})
        assert recap == {"sessionId": None, "recap": None, "reason": "noSession"}


# -- large documents


@pytest.mark.req("editor.large-documents")
def test_ten_megabytes_stay_quick(home: Path, project: Path) -> None:
    """Each answer has its bound in `Server.call`; what is found of a large document has one in number."""
    line = "The redirect is in t1 and the tests \u00fc fail in t2, as was seen before.\n"
    count = 10 * 1024 * 1024 // len(line)
    with Server(home) as server:
        server.initialize(capabilities=EDITOR, rootUri=project.as_uri())
        opened(server, line * count)
        for number in range(100):
            where = {"line": count // 2, "character": 0}
            change = {"range": {"start": where, "end": where}, "text": "\n" if number % 2 else "x"}
            version = {"uri": URI, "version": number + 2}
            server.notify("textDocument/didChange", {"textDocument": version, "contentChanges": [change]})
            assert server.call("textDocument/hover", at(count - 2, 20)) is not None
        assert len(server.call("textDocument/documentLink", {"textDocument": DOCUMENT})) == 1000
        assert len(server.call("textDocument/documentHighlight", at(count - 2, 20))) == 1000


def test_a_line_of_ten_megabytes_too(home: Path, project: Path) -> None:
    text = "see t1 \U0001f680 " * (1024 * 1024)
    with Server(home) as server:
        server.initialize(capabilities=EDITOR, rootUri=project.as_uri())
        opened(server, text)
        column = 10 * 1024 * 1024 - 10 + 4
        found = server.call("textDocument/hover", at(0, column))
        assert found["range"] == {
            "start": {"line": 0, "character": column},
            "end": {"line": 0, "character": column + 2},
        }


# -- copies on disk


def definition(server: Server, project: Path) -> Path:
    server.initialize(capabilities=EDITOR, rootUri=project.as_uri())
    opened(server, "t1")
    return Path(server.call("textDocument/definition", at(0, 0))["uri"].removeprefix("file://"))


@pytest.mark.req("editor.copies")
def test_a_deleted_session_takes_its_copies_along(home: Path, project: Path) -> None:
    with Server(home) as editor, Server(home) as harness:
        file = definition(editor, project)
        assert file.read_text("utf-8") == OUTPUT
        harness.initialize()
        harness.call("session/delete", {"sessionId": SESSION})
        assert not file.exists()
        assert editor.call("textDocument/hover", at(0, 0)) is None


def test_ending_takes_them_along_and_leaves_those_of_others(home: Path, project: Path) -> None:
    with Server(home) as first, Server(home) as second:
        file = definition(first, project)
        assert definition(second, project) == file
        other = second.call("workspace/executeCommand", {"command": "afterturn.showRef", "arguments": [{"ref": "t2"}]})
        first.close_stdin()
        assert first.wait_exit() == 0
        assert not file.exists()
        assert Path(other["uri"].removeprefix("file://")).exists()


def test_what_a_killed_process_left_goes_a_day_later(home: Path, project: Path) -> None:
    with Server(home) as server:
        left = definition(server, project)
    assert left.exists()
    os.utime(left, (time.time() - 90_000, time.time() - 90_000))
    with Server(home) as server:
        server.initialize(capabilities=EDITOR, rootUri=project.as_uri())
        server.call("workspace/executeCommand", {"command": "afterturn.showRef", "arguments": [{"ref": "t2"}]})
        assert not left.exists()
