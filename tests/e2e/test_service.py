"""status, settings and store trouble as a client meets them, over real pipes."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.server import Server


@pytest.mark.req("status.shape")
@pytest.mark.req("status.destinations")
@pytest.mark.req("status.loaded-modules")
def test_status(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize()
        status = server.call("afterturn/status", {})
        names = "version protocolVersion process providers destinations store queue usage settingsProblems"
        assert set(status) == set(names.split())
        assert status["store"]["backend"] == "sqlite"
        assert status["store"]["path"].startswith(str(tmp_path))
        assert status["store"]["bytes"] is None, "nothing was stored, so there is no file"
        server.call("session/open", {"sessionId": "s"})
        assert server.call("afterturn/status")["store"]["bytes"] > 0


@pytest.mark.req("status.destinations")
def test_a_host_that_samples_is_a_destination(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize(capabilities={"experimental": {"afterturn": {"sampling": True}}})
        assert server.call("afterturn/status")["destinations"] == ["host: sampling/createMessage"]
        server.notify("workspace/didChangeConfiguration", {"settings": {"afterturn": {"models": {"provider": "none"}}}})
        assert server.call("afterturn/status")["destinations"] == []


@pytest.mark.req("lifecycle.bad-settings")
@pytest.mark.req("status.settings-problems")
@pytest.mark.req("lifecycle.configuration")
def test_a_bad_setting_is_reported_once_and_in_status(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("[condense]\nminBatchChars = 'x'\n")
    with Server(tmp_path, env={"AFTERTURN_SETTINGS": json.dumps({"recap": {"auto": 3}})}) as server:
        server.initialize(initializationOptions={"store": {"retentionDays": 0}})
        told = [server.event("window/logMessage") for _ in range(3)]
        assert {entry["type"] for entry in told} == {2}
        for path in ("condense.minBatchChars", "recap.auto", "store.retentionDays"):
            assert any(path in entry["message"] for entry in told)
        problems = server.call("afterturn/status")["settingsProblems"]
        assert [problem["path"] for problem in problems] == [
            "condense.minBatchChars",
            "recap.auto",
            "store.retentionDays",
        ]
        server.notify("workspace/didChangeConfiguration", {"settings": {"afterturn": {"condense": {"fallback": "x"}}}})
        assert "condense.fallback" in server.event("window/logMessage")["message"]
        assert len(server.call("afterturn/status")["settingsProblems"]) == 4
        assert server.inbox == []


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"store": {"url": "postgres://u:pw@h/db"}}, "store.url"),
        ({"store": {"path": "a\0b"}}, None),
        ({"store": {"path": "a\ud83d"}}, None),
    ],
)
def test_a_store_setting_that_cannot_be_used_leaves_status_and_the_rest(
    tmp_path: Path, settings: dict[str, Any], problem: str | None
) -> None:
    with Server(tmp_path) as server:
        server.initialize(initializationOptions=settings)
        store = server.call("afterturn/status")["store"]
        if problem is None:
            assert server.call("session/open", {"sessionId": "s"})["known"] is False
        else:
            assert problem in store["problem"]
            assert "pw@" not in store["problem"]
            assert server.ask("session/open", {"sessionId": "s"})["error"]["data"]["kind"] == "store_unavailable"


def test_a_store_path_that_changes_under_way_is_reported(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize()
        server.call("session/open", {"sessionId": "s"})
        server.notify("workspace/didChangeConfiguration", {"settings": {"afterturn": {"store": {"path": "other.db"}}}})
        assert "store.path" in server.event("window/logMessage")["message"]
        status = server.call("afterturn/status")
        assert [each["path"] for each in status["settingsProblems"]] == ["store.path"]
        assert not status["store"]["path"].endswith("other.db")


def test_the_protocol_is_silent_about_odd_configuration(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize(initializationOptions=None)
        for settings in (None, [], {}, {"afterturn": None}, {"other": 1}, {"afterturn": []}):
            server.notify("workspace/didChangeConfiguration", {"settings": settings})
        assert server.call("afterturn/status")["settingsProblems"] == []
        assert server.inbox == []


@pytest.mark.req("errors.store-unavailable")
@pytest.mark.req("invariant.nothing-leaks-in-errors")
def test_without_a_store_the_rest_goes_on(tmp_path: Path) -> None:
    """A damaged file: one clear error, and what needs no store works."""
    home = tmp_path / "home"
    with Server(home) as server:
        server.initialize()
        server.call("session/open", {"sessionId": "s"})
        path = Path(server.call("afterturn/status")["store"]["path"])
        server.close_stdin()
        assert server.wait_exit() == 0
    path.write_bytes(b"this was a database once" * 1000)
    for side in ("-wal", "-shm"):
        Path(f"{path}{side}").unlink(missing_ok=True)
    with Server(home) as server:
        server.initialize()
        error = server.ask("session/open", {"sessionId": "s"})["error"]
        assert error["code"] == -32803
        assert (error["data"]["kind"], error["data"]["retryable"]) == ("store_unavailable", False)
        assert error["message"] == f"The store {path.name} is damaged or is not a database"
        status = server.call("afterturn/status")
        assert status["store"]["problem"] == f"The store {path} is damaged or is not a database"
        assert (
            server.ask("condense/resolveRef", {"sessionId": "s", "refs": ["t1"]})["error"]["data"]["kind"]
            == "store_unavailable"
        )
        assert "Traceback" not in server.stderr
        server.close_stdin()
        assert server.wait_exit() == 0
    assert path.read_bytes().startswith(b"this was a database once")


def test_every_file_is_private(tmp_path: Path) -> None:
    """Case S08, with the most careless umask there is."""
    import os

    home = tmp_path / "home"
    old = os.umask(0)
    try:
        with Server(home) as server:
            server.initialize()
            batch = {
                "turnIndex": 0,
                "timestamp": 1,
                "toolCalls": [{"toolCallId": "c", "toolName": "t", "resultText": "x" * 9000}],
            }
            server.call("condense/summarize", {"sessionId": "s", "batch": batch})
            modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [home, *home.rglob("*")]}
            server.close_stdin()
            server.wait_exit()
    finally:
        os.umask(old)
    assert len(modes) > 1
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


@pytest.mark.req("transport.stderr-is-for-people")
def test_logs_hold_no_bodies(tmp_path: Path) -> None:
    with Server(tmp_path, "--log-level=debug") as server:
        server.initialize()
        secret = "AKIA" + "ABCDEFGHIJKLMNOP"
        batch = {
            "turnIndex": 0,
            "timestamp": 1,
            "toolCalls": [{"toolCallId": secret, "toolName": secret, "resultText": secret * 200}],
        }
        server.call("condense/summarize", {"sessionId": secret, "batch": batch})
        server.ask("condense/summarize", {"sessionId": secret, "batch": {"toolCalls": secret}})
        server.send_bytes(b"Content-Length: 30\r\n\r\n" + secret.encode() + b"{         ")
        server.close_stdin()
        server.wait_exit()
        assert secret not in server.stderr


MISFITS = (
    ({"text": "no type"}, "", "type"),
    ({"type": 7, "text": "x"}, ".type", "string"),
    ({"type": "text"}, "", "text"),
    ({"type": "text", "text": None}, ".text", "string"),
    ({"type": "image", "data": "AAAA"}, "", "mimeType"),
    ({"type": "image", "mimeType": 7}, ".mimeType", "string"),
    ({"type": "image", "mimeType": "image/png", "data": 5}, ".data", "string | null"),
    ({"type": "image", "mimeType": "image/png", "bytes": -1}, ".bytes", "integer >= 0"),
)


@pytest.mark.req("errors.invalid-params-path")
@pytest.mark.parametrize(
    ("method", "place"),
    [
        ("condense/summarize", "$.batch.toolCalls[1].content"),
        ("condense/onTurnEnd", "$.batch.toolCalls[1].content"),
        ("capture/episodeFinalized", "$.episode.turns[1].content"),
        ("session/open", "$.context.messages[1].content"),
        ("recap/onTurnEnd", "$.context.messages[1].content"),
        ("recap/now", "$.context.messages[1].content"),
    ],
)
def test_a_block_that_is_none_is_refused_by_place(tmp_path: Path, method: str, place: str) -> None:
    def params(block: object) -> dict[str, object]:
        content = [{"type": "text", "text": "x"}, block]
        turns = [{"role": "user", "content": "Go"}, {"role": "assistant", "content": content}]
        if method.startswith("capture/"):
            return {"episode": {"id": "e", "sessionId": "s", "turns": turns}}
        if not method.startswith("condense/"):
            return {"sessionId": "s", "context": {"messages": turns}}
        calls = [{"toolCallId": id, "toolName": "t", "content": content} for id in ("c", "d")]
        calls[0]["content"] = []
        return {"sessionId": "s", "batch": {"turnIndex": 0, "timestamp": 1, "toolCalls": calls}, "final": True}

    with Server(tmp_path) as server:
        server.initialize()
        for block, inner, expected in MISFITS:
            error = server.ask(method, params(block))["error"]
            assert (error["code"], error["data"]) == (-32602, {"path": f"{place}[1]{inner}", "expected": expected})
        known = server.call(method, params({"type": "Text"})).get("known", False)
        assert known is False, "a session that was refused was opened all the same"


def test_an_odd_image_does_not_spoil_its_original(tmp_path: Path) -> None:
    content = [{"type": "text", "text": "x"}, {"type": "image", "mimeType": "", "data": "=="}]
    batch = {"turnIndex": 0, "timestamp": 1, "toolCalls": [{"toolCallId": "c", "toolName": "t", "content": content}]}
    with Server(tmp_path) as server:
        server.initialize()
        server.call("condense/summarize", {"sessionId": "s", "batch": batch})
        (record,) = server.call("condense/resolveRef", {"sessionId": "s", "refs": ["t1"]})["records"]
        assert (record["text"], record["images"]) == ("x", [{"mimeType": "", "bytes": 0}])


def test_the_data_of_images_comes_on_request(tmp_path: Path) -> None:
    images = [{"type": "image", "mimeType": "image/png", "data": data} for data in ("aGVsbG8=", "AAAA")]
    left_out = {"type": "image", "mimeType": "image/gif", "bytes": 7}
    content = [images[0], {"type": "text", "text": "x\nyes"}, left_out, images[1]]
    calls = [
        {"toolCallId": "c", "toolName": "t", "content": content},
        {"toolCallId": "d", "toolName": "t", "resultText": "plain"},
    ]
    batch = {"turnIndex": 0, "timestamp": 1, "toolCalls": calls}
    with Server(tmp_path) as server:
        server.initialize()
        server.call("condense/summarize", {"sessionId": "s", "batch": batch})
        asked = {"sessionId": "s", "refs": ["t1", "t2"]}
        bare = [
            {"mimeType": "image/png", "bytes": 5},
            {"mimeType": "image/gif", "bytes": 7},
            {"mimeType": "image/png", "bytes": 3},
        ]
        whole = [{**bare[0], "data": "aGVsbG8="}, bare[1], {**bare[2], "data": "AAAA"}]
        for extra, expected in (({}, bare), ({"imageData": True}, whole), ({"imageData": True, "grep": "yes"}, whole)):
            first, second = server.call("condense/resolveRef", {**asked, **extra})["records"]
            assert first["images"] == expected
            assert second.get("images") is None


def test_requests_sent_as_notifications_change_nothing(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize()
        server.notify("initialize", {"trace": "verbose", "capabilities": {}})
        server.notify("shutdown")
        assert server.call("afterturn/status")["protocolVersion"] == 1
        assert server.inbox == []
