"""Recaps over real pipes: what the client gets, and its model's calls, of which the seed allows each."""

import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.server import Server

TIMED = [sys.executable, str(Path(__file__).with_name("timed.py"))]
OPUS = {
    "provider": "anthropic",
    "id": "claude-opus-5",
    "available": [
        {"provider": "anthropic", "id": "claude-opus-5"},
        {"provider": "anthropic", "id": "claude-haiku-5-5"},
    ],
}
TEXT = "You are fixing the login redirect in auth.py."


def work(step: int = 1, **more: Any) -> dict[str, Any]:
    """A session in which something was done; unlike that of any other step."""
    return {
        "messages": [
            {"role": "system", "content": "You are an agent with tools."},
            {"role": "user", "content": "Fix the login redirect in auth.py"},
            {
                "role": "assistant",
                "content": [{"type": "thinking", "text": "Where might it be?"}],
                "toolCalls": [{"id": "c1", "name": "bash", "input": {"command": f"grep -n redirect auth.py # {step}"}}],
            },
            {"role": "tool", "content": "12: go", "toolCallId": "c1", "toolName": "bash"},
        ],
        "model": OPUS,
        **more,
    }


class Terminal:
    """A client with a screen and a model. Each call of the model has to be taken: `quiet` finds one too many."""

    def __init__(
        self,
        home: Path,
        *,
        recap: dict[str, Any] | None,
        context: bool = False,
        models: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        self.server = Server(home, command=TIMED)
        offers = {"sampling": True, "context": context, **({} if recap is None else {"recap": recap})}
        self.server.initialize(
            capabilities={"experimental": {"afterturn": offers}},
            initializationOptions={"recap": settings, "models": models or {}},
        )

    def tell(self, method: str, session: str = "s", **params: Any) -> None:
        self.server.notify(method, {"sessionId": session, **params})

    def open(self, session: str = "s", **params: Any) -> dict[str, Any]:
        given = {"reason": "resume", "hasHistory": True, "model": OPUS, **params}
        return self.server.call("session/open", {"sessionId": session, **given})

    def blur(self, session: str = "s") -> None:
        self.tell("recap/onFocus", session, focused=False, source="terminal")

    def focus(self, session: str = "s") -> None:
        self.tell("recap/onFocus", session, focused=True, source="terminal")

    def wait(self, seconds: float) -> None:
        """Time passes, and whatever follows by itself has followed."""
        self.server.call("test/wait", {"seconds": seconds})

    def asked(self) -> dict[str, Any]:
        return self.server.take(lambda message: message.get("method") == "sampling/createMessage")

    def reply(self, text: str = TEXT, tokens: int = 900) -> None:
        """Answer the model's call that waits."""
        usage = {"inputTokens": tokens, "outputTokens": 40}
        request = self.asked()
        result = {"text": text, "stopReason": "stop", "model": request["params"]["model"], "usage": usage}
        self.server.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def ready(self) -> dict[str, Any]:
        return self.server.event("recap.ready")

    def quiet(self) -> None:
        """Nothing came: neither a call nor an event."""
        self.wait(0)
        assert self.server.inbox == []


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def terminal(home: Path) -> Iterator[Terminal]:
    made = Terminal(home, recap={"canShow": True})
    with made.server:
        yield made


def test_away_long_enough_is_one_call(terminal: Terminal) -> None:
    terminal.tell("recap/onTurnEnd", context=work(revision="r1"))
    terminal.blur()
    terminal.wait(89)
    terminal.quiet()
    terminal.wait(1)
    params = terminal.asked()["params"]
    assert (params["purpose"], params["maxTokens"], params["reasoning"], params["cache"]) == (
        "recap",
        256,
        "off",
        "none",
    )
    assert params["model"] == "anthropic/claude-haiku-5-5"
    assert "system" not in params
    (message,) = params["messages"]
    assert "Fix the login redirect" in message["content"]
    assert "You are an agent with tools." not in message["content"]
    assert "Where might it be?" not in message["content"]


@pytest.mark.req("events.recap-cleared")
def test_the_recap_that_comes_of_it(terminal: Terminal) -> None:
    terminal.tell("recap/onTurnEnd", context=work(revision="r1"))
    terminal.blur()
    terminal.wait(90)
    terminal.reply()
    recap = terminal.ready()
    assert recap == {
        "recapId": recap["recapId"],
        "sessionId": "s",
        "text": TEXT,
        "model": "anthropic/claude-haiku-5-5",
        "trigger": "away",
        "origin": "generated",
        "contextHash": recap["contextHash"],
        "revision": "r1",
        "createdAt": recap["createdAt"],
        "save": True,
        "usage": {
            "model": "anthropic/claude-haiku-5-5",
            "inputTokens": 900,
            "outputTokens": 40,
            "cost": None,
            "calls": 1,
        },
    }
    terminal.focus()
    terminal.tell("recap/onInput", kind="submitted")
    assert terminal.server.event("recap.cleared") == {"sessionId": "s", "recapId": recap["recapId"], "reason": "input"}
    terminal.quiet()


def test_alt_tabs_cost_no_call(terminal: Terminal) -> None:
    terminal.tell("recap/onTurnEnd", context=work())
    for _ in range(10):
        terminal.blur()
        terminal.wait(80)
        terminal.focus()
        terminal.wait(20)
    terminal.quiet()


def test_a_turn_that_ends_while_away_is_one_call(terminal: Terminal) -> None:
    terminal.tell("recap/onTurnStart")
    terminal.blur()
    terminal.tell("recap/onTurnEnd", context=work())
    terminal.wait(3)
    terminal.reply()
    assert terminal.ready()["trigger"] == "turnEnd"
    terminal.wait(600)
    terminal.quiet()


@pytest.mark.req("recap.phase-omitted")
def test_nothing_is_drafted_while_the_agent_works(terminal: Terminal) -> None:
    terminal.tell("recap/onAgentStart")
    terminal.blur()
    terminal.wait(600)
    terminal.quiet()
    terminal.tell("recap/onTurnEnd", phase="turn")
    terminal.wait(600)
    terminal.quiet()
    terminal.tell("recap/onTurnEnd", context=work())
    terminal.wait(3)
    terminal.reply()
    assert terminal.ready()["trigger"] == "turnEnd"


def test_a_draft_ends_with_the_next_turn_and_the_client_is_told(terminal: Terminal) -> None:
    terminal.tell("recap/onTurnEnd", context=work())
    terminal.blur()
    terminal.wait(90)
    request = terminal.asked()
    terminal.tell("recap/onTurnStart")
    assert terminal.server.event("$/cancelRequest") == {"id": request["id"]}
    terminal.quiet()


@pytest.mark.req("recap.ready-after-open")
def test_a_saved_recap_that_is_current_is_no_call(terminal: Terminal) -> None:
    terminal.open(savedRecap={"text": TEXT, "model": "anthropic/claude-haiku-5-5", "current": True})
    recap = terminal.ready()
    assert (recap["text"], recap["origin"], recap["trigger"], recap["save"]) == (TEXT, "saved", "reopen", False)
    assert recap["usage"] is None
    terminal.quiet()


@pytest.mark.req("recap.ready-after-open")
def test_restoring_twenty_tabs_is_no_call(terminal: Terminal) -> None:
    for tab in range(20):
        terminal.open(f"tab {tab}", savedRecap={"text": f"{TEXT} {tab}", "current": True})
    assert {terminal.ready()["text"] for _ in range(20)} == {f"{TEXT} {tab}" for tab in range(20)}
    for tab in range(20):
        terminal.tell("recap/onTurnEnd", f"tab {tab}", context={"messages": []})
        terminal.blur(f"tab {tab}")
    terminal.wait(600)
    terminal.quiet()


@pytest.mark.parametrize(
    "opened", [{"hasInitialPrompt": True}, {"hasHistory": False}, {"reason": "reload"}, {"reason": "new"}], ids=str
)
def test_openings_that_are_no_call(terminal: Terminal, opened: dict[str, Any]) -> None:
    terminal.open(context=work(), **opened)
    terminal.wait(600)
    terminal.quiet()


def test_reopening_is_one_call_and_from_then_on_none(home: Path, terminal: Terminal) -> None:
    terminal.open(context=work())
    terminal.reply()
    first = terminal.ready()
    assert (first["trigger"], first["origin"], first["save"]) == ("reopen", "generated", True)
    assert terminal.server.call("recap/get", {"sessionId": "s"})["recap"] == first
    terminal.quiet()
    terminal.server.close_stdin()
    assert terminal.server.wait_exit() == 0
    again = Terminal(home, recap={"canShow": True})
    with again.server:
        assert again.open(context=work())["known"] is True
        saved = again.ready()
        assert (saved["text"], saved["origin"], saved["createdAt"]) == (TEXT, "saved", first["createdAt"])
        again.quiet()
        again.tell("session/changed", kind="message")
        assert again.server.call("recap/get", {"sessionId": "s"})["recap"]["origin"] == "saved"  # it is still on screen
        again.tell("session/close")
        again.open(context=work(2))
        again.reply()
        assert again.ready()["origin"] == "generated"


@pytest.mark.req("session.delete")
def test_what_is_deleted_is_not_there_again(terminal: Terminal) -> None:
    terminal.open(context=work())
    terminal.reply()
    terminal.ready()
    terminal.quiet()
    deleted = terminal.server.call("session/delete", {"sessionId": "s"})["deleted"]
    assert deleted == {"results": 0, "traces": 0, "recaps": 1}
    assert terminal.server.call("recap/get", {"sessionId": "s"}) == {"recap": None}
    terminal.open(context=work())
    terminal.wait(0)
    assert terminal.asked()["params"]["sessionId"] == "s", "nor is the completion remembered"


def test_a_deletion_ends_the_draft_under_way(terminal: Terminal) -> None:
    terminal.open(context=work())
    request = terminal.asked()
    terminal.server.call("session/delete", {"sessionId": "s"})
    assert terminal.server.event("$/cancelRequest") == {"id": request["id"]}
    terminal.quiet()


@pytest.mark.parametrize(
    ("recap", "settings"),
    [(None, {}), ({"canShow": False}, {}), ({"canShow": True}, {"auto": False})],
    ids=["declared nothing", "cannot show", "switched off"],
)
def test_r01_r02_a_client_that_wants_none_gets_none(
    home: Path, recap: dict[str, Any] | None, settings: dict[str, Any]
) -> None:
    client = Terminal(home, recap=recap, context=True, **settings)
    with client.server:
        client.open()
        for _ in range(6):
            client.tell("recap/onTurnStart")
            client.blur()
            client.wait(300)
            client.tell("recap/onTurnEnd", context=work())
            client.wait(300)
        client.quiet()
        id = client.server.post("recap/now", {"sessionId": "s"})
        client.reply()
        recap_now = client.server.answer(id)["result"]["recap"]
        assert recap_now["usage"]["calls"] == 1
        client.quiet()


@pytest.mark.req("recap.now")
def test_now_is_an_answer_and_no_event_and_never_from_memory(terminal: Terminal) -> None:
    for _ in range(2):
        id = terminal.server.post("recap/now", {"sessionId": "s", "context": work()})
        terminal.reply()
        result = terminal.server.answer(id)["result"]
        assert result["recap"]["trigger"] == "manual"
        assert "reason" not in result
    terminal.quiet()
    terminal.tell("session/changed", kind="message")
    assert terminal.server.call("recap/now", {"sessionId": "s"}) == {"recap": None, "reason": "noContext"}


def test_cancelling_now_ends_the_models_call(terminal: Terminal) -> None:
    id = terminal.server.post("recap/now", {"sessionId": "s", "context": work()})
    request = terminal.asked()
    terminal.server.notify("$/cancelRequest", {"id": id})
    assert terminal.server.answer(id)["error"]["code"] == -32800
    assert terminal.server.event("$/cancelRequest") == {"id": request["id"]}
    terminal.quiet()


@pytest.mark.req("recap.get", "recap.dismiss")
def test_get_and_dismiss(terminal: Terminal) -> None:
    assert terminal.server.call("recap/get", {"sessionId": "s"}) == {"recap": None}
    terminal.tell("recap/onTurnEnd", context=work())
    terminal.blur()
    terminal.wait(90)
    terminal.reply()
    recap = terminal.ready()
    assert terminal.server.call("recap/get", {"sessionId": "s"}) == {"recap": recap}
    assert terminal.server.call("recap/dismiss", {"sessionId": "s"}) == {}
    assert terminal.server.event("recap.cleared")["reason"] == "dismissed"
    assert terminal.server.call("recap/get", {"sessionId": "s"}) == {"recap": None}


@pytest.mark.req("recap.pushed-context", "events.recap-skipped")
def test_what_was_pushed_is_forgotten_with_the_next_change(home: Path) -> None:
    client = Terminal(home, recap={"canShow": True}, explain=True)
    with client.server:
        for forget in (("session/changed", {"kind": "compaction"}), ("recap/onTurnStart", {})):
            client.tell("recap/onTurnEnd", context=work())
            client.tell(forget[0], **forget[1])
            client.tell("recap/onTurnEnd")
            client.blur()
            client.wait(90)
            assert client.server.event("recap.skipped") == {"sessionId": "s", "trigger": "away", "reason": "noContext"}
            client.focus()
        client.quiet()


@pytest.mark.req("recap.pushed-context")
def test_the_hosts_first_request_and_summary_win(terminal: Terminal) -> None:
    summary = {"kind": "compaction", "text": "The invoices table was split."}
    context = work(firstUserRequest="Port the billing service", summary=summary)
    terminal.server.post("recap/now", {"sessionId": "s", "context": context})
    prompt = terminal.asked()["params"]["messages"][0]["content"]
    assert "Port the billing service" in prompt
    assert "The invoices table was split." in prompt


@pytest.mark.req("sampling.context")
def test_the_context_is_asked_of_a_client_that_declared_it(home: Path) -> None:
    client = Terminal(home, recap={"canShow": True}, context=True)
    with client.server:
        client.open(hasHistory=False)
        client.blur()
        client.wait(90)
        request = client.server.take(lambda message: message.get("method") == "host/getContext")
        assert request["params"] == {"sessionId": "s"}
        client.server.send({"jsonrpc": "2.0", "id": request["id"], "result": work(revision=1)})
        client.reply()
        again = client.server.take(lambda message: message.get("method") == "host/getContext")
        client.server.send({"jsonrpc": "2.0", "id": again["id"], "result": work(revision=1)})
        assert client.ready()["revision"] == 1
        for odd in ("no context at all", {"messages": [{"role": "user", "content": [{"type": "text"}]}]}):
            client.focus()
            client.blur()
            client.wait(90)
            request = client.server.take(lambda message: message.get("method") == "host/getContext")
            client.server.send({"jsonrpc": "2.0", "id": request["id"], "result": odd})
            client.quiet()


@pytest.mark.req("sampling.context")
def test_the_context_is_not_asked_of_a_client_that_did_not(terminal: Terminal) -> None:
    terminal.open()
    terminal.blur()
    terminal.wait(90)
    terminal.quiet()


@pytest.mark.req("recap.save-flag")
def test_a_draft_made_while_the_agent_runs_is_not_to_be_saved(home: Path) -> None:
    client = Terminal(home, recap={"canShow": True}, duringActive=True)
    with client.server:
        client.tell("recap/onTurnStart")
        client.tell("recap/onTurnEnd", phase="turn", context=work())
        client.blur()
        client.wait(90)
        client.reply()
        assert client.ready()["save"] is False


@pytest.mark.req("recap.save-flag")
def test_facts_are_not_to_be_saved(terminal: Terminal) -> None:
    terminal.tell("recap/onTurnEnd", context=work())
    terminal.blur()
    terminal.wait(90)
    request = terminal.asked()
    terminal.server.send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": 1, "message": "no credit"}})
    recap = terminal.ready()
    assert (recap["origin"], recap["save"], recap["model"]) == ("facts", False, None)
    assert "login redirect" in recap["text"]


@pytest.mark.req("events.recap-failed")
def test_three_failures_pause_for_ten_minutes_and_it_is_said_once(terminal: Terminal) -> None:
    for step in range(3):
        terminal.tell("recap/onTurnEnd", context=work(step))
        terminal.blur()
        terminal.wait(90)
        request = terminal.asked()
        terminal.server.send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": 1, "message": "no credit"}})
        assert terminal.ready()["origin"] == "facts"
        terminal.focus()
    failed = terminal.server.event("recap.failed")
    assert (failed["sessionId"], failed["trigger"]) == ("s", "away")
    assert failed["error"]["code"]
    terminal.tell("recap/onTurnEnd", context=work(7))
    terminal.blur()
    terminal.wait(90)
    terminal.quiet()
    terminal.focus()
    terminal.wait(600)
    terminal.tell("recap/onTurnEnd", context=work(8))
    terminal.blur()
    terminal.wait(90)
    terminal.reply()
    assert terminal.ready()["origin"] == "generated"
    terminal.quiet()


def test_a_used_up_budget_gives_facts_and_costs_no_call(home: Path) -> None:
    client = Terminal(home, recap={"canShow": True}, models={"dailyTokens": 20_000})
    with client.server:
        client.tell("recap/onTurnEnd", context=work())
        client.blur()
        client.wait(90)
        client.reply(tokens=19_990)
        assert client.ready()["origin"] == "generated"
        client.focus()
        for step in range(2, 7):
            client.tell("recap/onTurnEnd", context=work(step))
            client.blur()
            client.wait(90)
            assert client.ready()["origin"] == "facts"
            client.focus()
        assert client.server.event("usage.limit")["scope"] == "dailyTokens"
        client.quiet()


def test_switching_off_holds_at_once(terminal: Terminal) -> None:
    terminal.tell("recap/onTurnEnd", context=work())
    terminal.blur()
    terminal.wait(89)
    off = {"settings": {"afterturn": {"recap": {"auto": False}}}}
    terminal.server.notify("workspace/didChangeConfiguration", off)
    terminal.wait(600)
    terminal.quiet()
    on = {"settings": {"afterturn": {"recap": {"auto": True}}}}
    terminal.server.notify("workspace/didChangeConfiguration", on)
    terminal.focus()
    terminal.blur()
    terminal.wait(90)
    request = terminal.asked()
    terminal.server.notify("workspace/didChangeConfiguration", off)
    result = {"text": TEXT, "stopReason": "stop", "model": "anthropic/claude-haiku-5-5"}
    terminal.server.send({"jsonrpc": "2.0", "id": request["id"], "result": result})
    terminal.quiet()


@pytest.mark.parametrize("kind", ["message", "compaction", "branchSummary", "contextEdit", "navigate"])
def test_what_makes_a_saved_recap_stale(terminal: Terminal, kind: str) -> None:
    terminal.open(savedRecap={"text": TEXT, "current": True})
    shown = terminal.ready()
    terminal.tell("session/changed", kind=kind)
    if kind == "navigate":
        assert terminal.server.event("recap.cleared")["recapId"] == shown["recapId"]
    terminal.tell("recap/onTurnEnd", context=work())
    terminal.blur()
    terminal.wait(90)
    terminal.reply()
    assert terminal.ready()["origin"] == "generated"
    terminal.quiet()


@pytest.mark.parametrize("kind", ["metadata", "model"])
def test_what_leaves_a_saved_recap_as_it_is(terminal: Terminal, kind: str) -> None:
    terminal.open(context=work(), savedRecap={"text": TEXT, "current": True})
    terminal.ready()
    terminal.tell("session/changed", kind=kind)
    terminal.blur()
    terminal.wait(600)
    terminal.quiet()


@pytest.mark.req("recap.notification-or-request")
def test_what_the_host_tells_is_answered_at_once_whatever_the_model_and_the_disk_do(
    home: Path, terminal: Terminal
) -> None:
    terminal.tell("recap/onTurnEnd", context=work())
    terminal.blur()
    terminal.wait(90)
    request = terminal.asked()  # the model is thinking
    store = sqlite3.connect(next(home.rglob("*.db")), isolation_level=None)
    store.execute("BEGIN IMMEDIATE")  # and the disk is held up
    batch = {"turnIndex": 0, "timestamp": 1, "toolCalls": [{"toolCallId": "c", "toolName": "bash", "resultText": "x"}]}
    archiving = terminal.server.post("condense/summarize", {"sessionId": "s", "batch": batch})
    for method, params in {
        "recap/onFocus": {"focused": True},
        "recap/onInput": {"kind": "typed"},
        "recap/onTurnStart": {},
        "recap/onAgentStart": {},
        "recap/onTurnEnd": {"context": work(2)},
    }.items():
        assert terminal.server.call(method, {"sessionId": "s", **params}) == {}
    assert all(message.get("id") != archiving for message in terminal.server.inbox)
    store.execute("ROLLBACK")
    store.close()
    assert "result" in terminal.server.answer(archiving)
    assert terminal.server.event("$/cancelRequest") == {"id": request["id"]}, "they took effect in their turn"
    terminal.quiet()


def test_the_end_of_the_client_ends_timers_and_drafts(terminal: Terminal) -> None:
    terminal.tell("recap/onTurnEnd", context=work())
    terminal.blur()
    terminal.blur("other")
    terminal.wait(90)
    terminal.asked()
    terminal.server.close_stdin()
    assert terminal.server.wait_exit() == 0


def test_nothing_of_recaps_is_loaded_for_a_client_that_wants_none(home: Path) -> None:
    with Server(home, command=TIMED) as server:
        server.initialize()
        server.call("session/open", {"sessionId": "s"})
        server.notify("session/changed", {"sessionId": "s", "kind": "message"})
        server.call("session/close", {"sessionId": "s"})
        assert not [name for name in server.call("test/loaded") if name == "afterturn.recap.service"]
        server.call("recap/onFocus", {"sessionId": "s", "focused": True})
        loaded = server.call("test/loaded")
        assert "afterturn.recap.service" in loaded
        assert "afterturn.recap.drafting" not in loaded, "the rules wait for the first draft"


def test_a_surrogate_survives(home: Path, terminal: Terminal) -> None:
    session = "s\ud83d"
    terminal.open(session, savedRecap={"text": "Half a \ud83d pair.", "current": True})
    recap = terminal.ready()
    assert (recap["sessionId"], recap["text"]) == (session, "Half a \ud83d pair.")
