"""The session's tree and other sessions: nothing is condensed, captured or shown twice, or in the wrong place."""

import threading
from pathlib import Path

from tests.hosts.pi.host import COMPANY, Home, needle
from tests.hosts.pi.rpc import Rpc, gone, sidecars, until
from tests.hosts.pi.script import helpful, is_of_agent, text_of
from tests.hosts.pi.store import traces
from tests.hosts.pi.test_condensing import continues, read_and_condense, requests_of
from tests.hosts.pi.test_lies import Liar
from tests.hosts.pi.test_recap import away_with_a_recap, with_model
from tests.provider.answers import Answer, stalls
from tests.provider.server import ProviderRequest, ScriptedProvider


def goto(pi: Rpc, entry: str) -> None:
    pi.command(f"/goto {entry}")
    pi.ui("notify", lambda event: event["message"] == f"at {entry}")


def last_answer(home: Home) -> str:
    """The entry of the agent's last words."""
    said = [entry for entry in home.entries() if entry.get("message", {}).get("role") == "assistant"]
    return said[-1]["id"]


def leave_for(pi: Rpc, **command: str) -> None:
    """Have pi go to another session."""
    pi.send(**command)
    assert pi.take(lambda event: event.get("command") == command["type"])["success"]


def captured(home: Home, number: int) -> None:
    until(lambda: len(home.kept("afterturn-captured")) == number, f"{number} captured episodes")


def test_what_was_kept_on_another_branch_holds_on_this_one(home: Home, provider: ScriptedProvider) -> None:
    with Rpc(home, "-e", str(COMPANY)) as pi:
        read_and_condense(pi, 1)
        captured(home, 1)
        # Both entries stand below the answer, so that the branch that begins there has neither.
        goto(pi, last_answer(home))
        pi.prompt("tell me")
        captured(home, 2)
    assert [trace["userText"] for trace in traces(home)] == ["read 1", "tell me"]
    last = requests_of(provider)[-1]
    assert needle(1, 30) not in str(last)
    home.sidecar = home.project / "nowhere"
    with Rpc(home, "-c") as pi:
        pi.prompt("tell me more")
    assert continues(last, requests_of(provider)[-1])


def test_a_session_that_is_come_back_to_is_as_it_was(home: Home, provider: ScriptedProvider) -> None:
    with Rpc(home) as pi:
        read_and_condense(pi, 1)
        pi.prompt("tell me")
        last = requests_of(provider)[-1]
        first = home.session_file
        leave_for(pi, type="new_session")
        pi.prompt("something else")
        leave_for(pi, type="switch_session", sessionPath=str(first))
        pi.prompt("tell me more")
        assert continues(last, requests_of(provider)[-1])
        pi.prompt("recover t1")
        assert needle(1, 30) in str(requests_of(provider)[-1])
        until(lambda: len(sidecars(pi.process.pid)) == 1, "one sidecar")


def test_what_comes_late_is_nothing_to_the_next_session(home: Home, provider: ScriptedProvider) -> None:
    home.settings = {}
    home.notes(1)
    release = threading.Event()

    def slow(request: ProviderRequest) -> Answer:
        assert is_of_agent(request) or release.wait(60)
        return helpful(request)

    provider.otherwise = slow
    with Rpc(home) as pi:
        pi.prompt("read 1")
        until(lambda: not all(map(is_of_agent, provider.requests)), "a request of the sidecar")
        first = pi.sidecar()
        leave_for(pi, type="new_session")
        release.set()
        pi.prompt("two")
        captured(home, 1)
        until(lambda: gone(first), "end of the first sidecar")
        assert home.kept("afterturn-condensed") == []
        assert "extension_error" not in [event["type"] for event in pi.events]


def test_a_command_that_is_not_done_when_its_session_ends_says_nothing(home: Home, provider: ScriptedProvider) -> None:
    home.notes(1)
    with Rpc(home) as pi:
        with_model(home, provider)
        pi.prompt("read 1")
    provider.otherwise = lambda request: helpful(request) if is_of_agent(request) else stalls()
    with Rpc(home) as pi:
        pi.prompt("read 1")
        pi.command("/recap")
        until(lambda: not all(map(is_of_agent, provider.requests)), "a request of the sidecar")
        leave_for(pi, type="new_session")
        pi.prompt("two")
        captured(home, 1)
        assert "extension_error" not in [event["type"] for event in pi.events]


def test_a_recap_goes_with_its_session(home: Home, provider: ScriptedProvider) -> None:
    with_model(home, provider)
    with Rpc(home) as pi:
        away_with_a_recap(pi)
        leave_for(pi, type="new_session")
        pi.widget_cleared()


def test_a_clone_has_the_digests_and_captures_nothing_again(home: Home, provider: ScriptedProvider) -> None:
    with Rpc(home) as pi:
        read_and_condense(pi, 1)
        pi.prompt("tell me")
        captured(home, 2)
        last = requests_of(provider)[-1]
        leave_for(pi, type="clone")
        pi.prompt("recover t1")
        assert continues(last, requests_of(provider)[-2])
        assert needle(1, 30) in str(requests_of(provider)[-1])
        captured(home, 3)
    assert [trace["userText"] for trace in traces(home)] == ["read 1", "tell me", "recover t1"]


def test_a_fork_leaves_its_parents_work_to_the_parent(home: Home, tmp_path: Path) -> None:
    Liar(home, tmp_path, "absent")
    with Rpc(home) as pi:
        pi.prompt("one")
        pi.prompt("two")
        pi.send(type="get_fork_messages")
        messages = pi.take(lambda event: event.get("command") == "get_fork_messages")["data"]["messages"]
        leave_for(pi, type="fork", entryId=messages[-1]["entryId"])
        pi.prompt("three")
    (kept,) = home.kept("afterturn-captured")
    (last,) = [entry for entry in home.entries() if entry["id"] == kept["upTo"]]
    assert text_of(last["message"]) == "Did all of: one"


def test_a_fork_by_the_command_line_leaves_it_too(home: Home) -> None:
    sidecar = home.sidecar
    home.sidecar = home.project / "nowhere"
    with Rpc(home) as pi:
        pi.prompt("one")
    home.sidecar = sidecar
    parent = home.session_file
    with Rpc(home, "--fork", str(parent)) as pi:
        pi.prompt("two")
        pi.status("captured")
    with Rpc(home, "-c") as pi:
        pi.prompt("three")
        pi.status("captured")
    assert [trace["userText"] for trace in traces(home)] == ["two", "three"]
    with Rpc(home, "--session", str(parent)) as pi:
        pi.status("captured")
    assert [trace["userText"] for trace in traces(home)] == ["one", "two", "three"]


def test_a_fork_of_a_file_with_a_name_of_its_own_has_the_originals(home: Home, provider: ScriptedProvider) -> None:
    home.sessions.mkdir()
    file: Path = home.sessions / "of_mine.jsonl"
    with Rpc(home, "--session", str(file)) as pi:
        read_and_condense(pi, 1)
        pi.prompt("tell me")
        leave_for(pi, type="clone")
        pi.prompt("recover t1")
    assert needle(1, 30) in str(requests_of(provider)[-1])


def test_two_on_one_session_give_no_ref_twice(home: Home, provider: ScriptedProvider) -> None:
    def refs() -> list[str]:
        texts = [each["text"] for kept in home.kept("afterturn-condensed") for each in kept["replacements"]]
        return sorted(text.split("`")[1] for text in texts)

    for number in (1, 2, 3):
        home.notes(number)
    with Rpc(home) as one:
        one.prompt("read 1")
        until(lambda: refs() == ["t1"], "the first ref")
        with Rpc(home, "-c") as other:
            other.prompt("read 2")
            until(lambda: refs() == ["t1", "t2"], "the second ref")
            one.prompt("read 3")
            until(lambda: refs() == ["t1", "t2", "t3"], "the third ref")
            other.prompt("recover t3")
            assert needle(3, 30) in str(requests_of(provider)[-1])


def test_compaction_with_edits_outstanding(home: Home, provider: ScriptedProvider) -> None:
    home.write_pi_settings(compaction={"enabled": True, "keepRecentTokens": 1, "reserveTokens": 1000})
    with Rpc(home) as pi:
        read_and_condense(pi, 1, 2)
        pi.prompt("tell me")
        read_and_condense(pi, 3)
        pi.send(type="compact")
        assert pi.take(lambda event: event.get("command") == "compact")["success"]
        pi.prompt("tell me more")
        first = requests_of(provider)[-1]
        pi.prompt("recover t1")
        assert "extension_error" not in [event["type"] for event in pi.events]
    assert continues(first, requests_of(provider)[-2])
    assert needle(1, 30) in str(requests_of(provider)[-1])
