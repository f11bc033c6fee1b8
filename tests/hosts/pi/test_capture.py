"""Finished work ends up in the store as traces."""

import json
from pathlib import Path

import pytest

from tests.hosts.pi.host import Home
from tests.hosts.pi.rpc import Rpc, until
from tests.hosts.pi.script import act, unhurried
from tests.hosts.pi.store import traces
from tests.hosts.pi.test_lies import Liar
from tests.provider.answers import Answer, fails
from tests.provider.server import ProviderRequest, ScriptedProvider


def shape(home: Home) -> list[tuple[str, list[str], str]]:
    """Of each trace: the request, the names of the calls, and the answer."""
    return [
        (trace["userText"], [call["name"] for call in trace["toolCalls"]], trace["agentText"]) for trace in traces(home)
    ]


def test_each_request_becomes_a_step_of_an_episode(home: Home) -> None:
    home.notes(1)
    home.notes(2)
    with Rpc(home) as pi:
        pi.prompt("read 1 2")
        pi.status("captured")
        pi.prompt("thanks")
    assert shape(home) == [
        ("read 1 2", ["read", "read"], "Did all of: read 1 2"),
        ("thanks", [], "Did all of: thanks"),
    ]
    users = [entry["id"] for entry in home.entries() if entry.get("message", {}).get("role") == "user"]
    session = home.entries()[0]["id"]
    assert [kept["episodeId"] for kept in home.kept("afterturn-captured")] == [f"{session}:{user}" for user in users]
    first = traces(home)[0]["toolCalls"][0]
    assert first["input"] == {"path": "notes-1.txt"}
    assert "note 1-0 is" in first["output"]


def test_a_restart_goes_on_where_the_last_capture_ended(home: Home) -> None:
    for wish in ("one", "two"):
        with Rpc(home, "-c") as pi:
            pi.prompt(wish)
            pi.status("captured")
    assert [user for user, _, _ in shape(home)] == ["one", "two"]


def test_what_could_not_be_handed_over_is_when_the_session_is_opened_again(home: Home) -> None:
    sidecar = home.sidecar
    home.sidecar = home.project / "nowhere"
    with Rpc(home) as pi:
        pi.prompt("one")
    assert home.kept("afterturn-captured") == []
    home.sidecar = sidecar
    with Rpc(home, "-c") as pi:
        pi.status("captured")
    assert [user for user, _, _ in shape(home)] == ["one"]


def test_what_went_unanswered_is_handed_over_as_it_was_and_not_as_a_part_of_more(home: Home, tmp_path: Path) -> None:
    sidecar = home.sidecar
    liar = Liar(home, tmp_path, "absent")
    for wish in ("one", "two"):
        with Rpc(home, "-c") as pi:
            until(lambda: "capture/drain" in liar.heard[-5:], "a sidecar that has started")
            pi.prompt(wish)
    assert len(home.kept("afterturn-sent")) == 1
    home.sidecar = sidecar
    with Rpc(home, "-c"):
        until(lambda: len(home.kept("afterturn-captured")) == 2, "both episodes")
    users = [entry["id"] for entry in home.entries() if entry.get("message", {}).get("role") == "user"]
    assert [kept["episodeId"].partition(":")[2] for kept in home.kept("afterturn-captured")] == users
    assert [user for user, _, _ in shape(home)] == ["one", "two"]


def test_work_that_is_refused_costs_no_later_work_and_is_told_of(home: Home) -> None:
    with Rpc(home) as pi:
        pi.prompt("one")
        pi.status("captured")
    last = home.entries()[-1]
    message = {"role": "user", "content": "never", "timestamp": "never"}
    with home.session_file.open("a") as file:
        file.write(json.dumps({**last, "type": "message", "id": "feedbeef", "message": message}) + "\n")
    with Rpc(home, "-c") as pi:
        assert "was not captured: " in pi.ui("notify")["message"]
        for wish in ("two", "three"):
            pi.prompt(wish)
    assert [user for user, _, _ in shape(home)] == ["one", "two", "three"]


def test_an_episode_that_was_sent_twice_is_there_once(home: Home) -> None:
    with Rpc(home) as pi:
        pi.prompt("one")
        pi.status("captured")
    # As if pi had ended before it knew that the episode was taken.
    lines = home.session_file.read_text().splitlines(keepends=True)
    home.session_file.write_text("".join(line for line in lines if "afterturn-captured" not in line))
    with Rpc(home, "-c") as pi:
        pi.status("captured")
        pi.prompt("two")
        until(lambda: len(home.kept("afterturn-captured")) == 2, "the second episode")
    assert [user for user, _, _ in shape(home)] == ["one", "two"]


def test_print_mode_hands_its_work_over_before_it_ends(home: Home, provider: ScriptedProvider) -> None:
    provider.otherwise = unhurried(home)
    home.notes(1)
    done = home.run(*home.command("-p", "read 1"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "Did all of: read 1\n", "")
    # A sidecar that takes longer than a moment to write it down is not waited for, and does so all the same.
    until(lambda: shape(home), "a trace")
    assert shape(home) == [("read 1", ["read"], "Did all of: read 1")]


@pytest.mark.parametrize("failures", [1, 2])
def test_attempts_that_a_flaky_provider_failed_are_left_out(
    home: Home, provider: ScriptedProvider, failures: int
) -> None:
    home.notes(1)
    left = {"before the call": failures, "after it": failures}

    def flaky(request: ProviderRequest) -> Answer:
        where = "after it" if any(each["role"] == "tool" for each in request.body["messages"]) else "before the call"
        left[where] -= 1
        return fails(503, error="overloaded") if left[where] >= 0 else act(request)

    provider.otherwise = flaky
    with Rpc(home) as pi:
        pi.send(type="prompt", message="read 1")
        pi.take(lambda event: event["type"] == "message_end" and "Did all of" in str(event["message"].get("content")))
        pi.status("captured")
    assert sum(entry.get("message", {}).get("stopReason") == "error" for entry in home.entries()) == 2 * failures
    assert shape(home) == [("read 1", ["read"], "Did all of: read 1")]
    assert len(home.kept("afterturn-captured")) == 1
