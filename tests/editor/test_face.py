"""The face on the wire: what is loaded for whom, malformed params, lifecycle, large documents, copies on disk."""

import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.server import Server
from tests.editor.archive import OUTPUT, SESSION, call

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


def link(data: Any) -> dict[str, Any]:
    start = {"line": 0, "character": 0}
    return {"range": {"start": start, "end": start}, "data": data}


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
        (
            "workspace/executeCommand",
            {"command": "afterturn.searchTraces", "arguments": [{"query": "x", "limit": 0}]},
            "$.arguments[0].limit",
            "integer >= 1",
        ),
        (
            "workspace/executeCommand",
            {"command": "afterturn.searchTraces", "arguments": [{"query": " "}]},
            "$.arguments[0].query",
            "text to look for",
        ),
        ("workspace/executeCommand", {"command": "afterturn.status", "arguments": [0]}, "$.arguments[0]", "object"),
        ("workspace/executeCommand", {"command": "afterturn.status", "arguments": [""]}, "$.arguments[0]", "object"),
        (
            "workspace/executeCommand",
            {"command": "afterturn.status", "arguments": ["\ud83d"]},
            "$.arguments[0]",
            "object",
        ),
        (
            "workspace/executeCommand",
            {"command": "afterturn.recap", "workDoneToken": True},
            "$.workDoneToken",
            "integer | string",
        ),
        ("textDocument/hover", {**at(0, 0), "workDoneToken": {}}, "$.workDoneToken", "integer | string"),
        ("documentLink/resolve", link(None), "$.data", "object"),
        ("documentLink/resolve", link("\ud83d"), "$.data", "object"),
        ("documentLink/resolve", link({"sessionId": SESSION}), "$.data", "ref"),
        ("documentLink/resolve", link({"sessionId": SESSION, "ref": "T1"}), "$.data.ref", "a ref such as t12 or b3"),
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


PARAMS: dict[str, dict[str, Any]] = {
    "textDocument/hover": {**at(0, 1), "workDoneToken": "a"},
    "textDocument/definition": {**at(0, 1), "partialResultToken": 1},
    "textDocument/documentHighlight": at(0, 1),
    "textDocument/documentLink": {"textDocument": DOCUMENT},
    "documentLink/resolve": {**link({"sessionId": SESSION, "ref": "t1"}), "target": "x", "tooltip": "y"},
    "textDocument/completion": {**at(0, 1), "context": {"triggerKind": 2, "triggerCharacter": "t"}},
    "workspace/textDocumentContent": {"uri": f"afterturn://original/t1.txt?{SESSION}"},
    "workspace/executeCommand": {
        "command": "afterturn.showRef",
        "arguments": [{"ref": "t1", "sessionId": SESSION, "uri": URI, "line": 0}],
        "workDoneToken": "a",
    },
    "textDocument/didOpen": {"textDocument": {"uri": URI, "languageId": "markdown", "version": 1, "text": "t1"}},
    "textDocument/didChange": {
        "textDocument": {"uri": URI, "version": 2},
        "contentChanges": [{"range": link(None)["range"], "text": "t"}, {"text": "t1"}],
    },
    "textDocument/didClose": {"textDocument": DOCUMENT},
    "workspace/didChangeWorkspaceFolders": {
        "event": {"added": [{"uri": "file:///w", "name": "w"}], "removed": [{"uri": "file:///v", "name": "v"}]}
    },
}
BATCH = {"turnIndex": 5, "timestamp": 2}
WRONG = [None, True, 1.5, -1, 2**31, 2**70, "", "x\0y", "\ud83d", [], [1], [[]], {}, {"a": 1}, {"\ud83d": 1}]


def spoilt(value: Any) -> Iterator[Any]:
    """`value` with each of its parts, and all of it, in turn replaced by what is wrong there, or missing."""
    yield from WRONG
    if isinstance(value, dict):
        for name, part in value.items():
            yield {other: kept for other, kept in value.items() if other != name}
            yield from ({**value, name: wrong} for wrong in spoilt(part))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from ([*value[:index], wrong, *value[index + 1 :]] for wrong in spoilt(part))


@pytest.mark.parametrize("method", PARAMS)
def test_whatever_is_wrong_has_one_answer_that_says_so(home: Path, project: Path, method: str) -> None:
    with Server(home) as server:
        server.initialize(capabilities=EDITOR, rootUri=project.as_uri())
        answers = [server.ask(method, params) for params in spoilt(PARAMS[method])]
        assert {answer["error"]["code"] for answer in answers if "error" in answer} == {-32602}
        assert server.call("afterturn/status")["version"]
        assert server.inbox == []


def test_a_link_leads_to_no_file_but_that_of_a_ref(home: Path, project: Path) -> None:
    """The archive knows calls by their ids, too, and a model or a host may call one anything."""
    with Server(home) as server:
        server.initialize(capabilities=EDITOR, rootUri=project.as_uri())
        outside = call(13, toolCallId="../../../../outside")
        server.call("condense/summarize", {"sessionId": SESSION, "batch": {**BATCH, "toolCalls": [outside]}})
        records = server.call("condense/resolveRef", {"sessionId": SESSION, "refs": ["../../../../outside"]})["records"]
        assert records[0]["shortId"] == "t13"
        error = server.ask("documentLink/resolve", link({"sessionId": SESSION, "ref": "../../../../outside"}))["error"]
        assert error["data"]["path"] == "$.data.ref"
        assert list(home.rglob("*.txt")) == []


def test_half_a_character_comes_whole_and_a_large_number_as_it_is(home: Path, project: Path) -> None:
    """Of what harnesses send both are JSON, and only half a character is none for an editor such as Neovim."""
    with Server(home) as server:
        server.initialize(capabilities=EDITOR, rootUri=project.as_uri())
        odd = call(13, "cut \ud83d", toolName="b\ud83d", args={"\ud83d": "x\ude80", "n": 10**30})
        server.call("condense/summarize", {"sessionId": SESSION, "batch": {**BATCH, "toolCalls": [odd]}})
        turns = [{"role": role, "content": "A login \ud83d", "ts": 1} for role in ("user", "assistant")]
        episode = {"id": "e1", "sessionId": SESSION, "startedAt": 1, "turns": turns}
        server.call("capture/episodeFinalized", {"episode": episode})
        server.event("capture.done")
        opened(server, "t13 t")
        server.raw.clear()
        hover = server.call("textDocument/hover", at(0, 0))["contents"]["value"]
        assert "`b\ufffd`" in hover
        assert '{"\ufffd": "x\ufffd", "n": 1' + 30 * "0" + "}" in hover
        assert "cut \ufffd" in hover
        items = server.call("textDocument/completion", at(0, 5))["items"]
        assert items[0]["detail"].startswith("b\ufffd · ok · ")
        search = {"command": "afterturn.searchTraces", "arguments": [{"query": "login"}]}
        (hit,) = server.call("workspace/executeCommand", search)["hits"]
        assert (hit["trace"]["userText"], hit["trace"]["agentText"]) == ("A login \ufffd", "A login \ufffd")
        assert server.call("traces/list", {"sessionId": SESSION})["traces"][0]["userText"] == "A login \ufffd"
        assert re.search(rb"(?<!\\)\\ud", server.raw) is None


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


@pytest.mark.parametrize("answer", [None, 5, "\ud83d", {}, {"recap": {}}, {"x": "\ud83d"}, [], [None]], ids=ascii)
def test_settings_that_are_none_change_nothing(home: Path, project: Path, answer: Any) -> None:
    with Server(home) as server:
        server.initialize(capabilities={**EDITOR, "workspace": {"configuration": True}}, rootUri=project.as_uri())
        asked = server.take(lambda message: message.get("method") == "workspace/configuration")
        server.send({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
        assert server.call("afterturn/status")["settingsProblems"] == []
        assert " ERROR " not in server.stderr


def test_an_editor_that_never_answers_is_served_and_left_at_once(home: Path, project: Path) -> None:
    able = {"workspace": {"configuration": True}, "window": {"workDoneProgress": True}}
    with Server(home) as server:
        server.initialize(capabilities={**EDITOR, **able}, rootUri=project.as_uri())
        server.event("workspace/configuration")
        command = server.post("workspace/executeCommand", {"command": "afterturn.recap"})
        server.event("window/workDoneProgress/create")
        server.notify("$/cancelRequest", {"id": command})
        assert server.answer(command)["error"]["code"] == -32800
        opened(server, "t1")
        assert server.call("textDocument/hover", at(0, 0)) is not None
        server.call("shutdown")
        server.notify("exit")
        assert server.wait_exit() == 0


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


def test_what_was_deleted_is_said_to_have_expired_and_leads_nowhere(home: Path, project: Path) -> None:
    with Server(home) as editor, Server(home) as harness:
        editor.initialize(capabilities=EDITOR, rootUri=project.as_uri())
        opened(editor, f"session: {SESSION}\nt1")
        harness.initialize()
        harness.call("session/delete", {"sessionId": SESSION})
        assert "t1 has expired" in editor.call("textDocument/hover", at(1, 0))["contents"]["value"]
        assert editor.call("textDocument/definition", at(1, 0)) is None
        assert editor.call("textDocument/documentLink", {"textDocument": DOCUMENT}) == []
        content = editor.ask("workspace/textDocumentContent", {"uri": f"afterturn://original/t1.txt?{SESSION}"})
        assert content["error"]["data"]["path"] == "$.uri"


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
