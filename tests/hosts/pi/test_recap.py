"""A recap on the screen and in the session file, in RPC mode: the front end knows its window's focus and says so."""

import os

from tests.hosts.pi.host import Home
from tests.hosts.pi.rpc import Rpc, until
from tests.hosts.pi.script import act, is_of_agent, speech
from tests.provider.answers import Answer
from tests.provider.server import ProviderRequest, ScriptedProvider

RECAP = "You asked to have the notes read."
OLD_TIMES = (1_700_000_000_123_456_789, 1_700_000_001_987_654_321)


def with_recaps(request: ProviderRequest) -> Answer:
    return act(request) if is_of_agent(request) else speech(RECAP)


def recap_requests(provider: ScriptedProvider) -> list[ProviderRequest]:
    return [request for request in provider.requests if not is_of_agent(request)]


def away_with_a_recap(pi: Rpc) -> str:
    """The recap of a person who left before the work had ended; it comes 3 s after that."""
    pi.home.notes(1)
    pi.command("/afterturn blur")
    pi.prompt("read 1")
    return pi.widget()


def with_model(home: Home, provider: ScriptedProvider) -> None:
    home.settings = {"condense": {"enabled": False}}
    provider.otherwise = with_recaps


def test_a_recap_comes_after_a_blur_and_goes_with_the_next_input(home: Home, provider: ScriptedProvider) -> None:
    with_model(home, provider)
    with Rpc(home) as pi:
        assert RECAP in away_with_a_recap(pi)
        pi.send(type="prompt", message="go on")
        pi.widget_cleared()
        pi.settled()
    # The recap is for the person: no request of the agent ever holds it.
    assert not any(RECAP in request.content.decode() for request in provider.requests if is_of_agent(request))
    saved = [entry for entry in home.entries() if entry.get("customType") == "session-recap"]
    assert [entry["data"] for entry in saved] == [{"text": RECAP, "model": "fake/agent"}]
    assert [entry["type"] for entry in saved] == ["custom"]


def test_saving_keeps_the_times_of_the_file(home: Home, provider: ScriptedProvider) -> None:
    with_model(home, provider)
    home.notes(1)
    with Rpc(home) as pi:
        pi.command("/afterturn blur")
        pi.prompt("read 1")
        pi.status("captured")
        os.utime(home.session_file, ns=OLD_TIMES)
        pi.widget()
        until(lambda: home.kept("session-recap"), "a saved recap")
        until(lambda: home.session_file.stat().st_mtime_ns == OLD_TIMES[1], "the old time of change")
        # Reading the file for the checks above is what changes its time of access.
        assert home.session_file.stat().st_atime_ns >= OLD_TIMES[0]


def test_a_saved_recap_is_shown_again_for_nothing(home: Home, provider: ScriptedProvider) -> None:
    with_model(home, provider)
    with Rpc(home) as pi:
        away_with_a_recap(pi)
    asked = len(provider.requests)
    size = home.session_file.stat().st_size
    with Rpc(home, "-c") as pi:
        assert RECAP in pi.widget()
    assert len(provider.requests) == asked
    assert len(home.kept("session-recap")) == 1
    assert home.session_file.stat().st_size == size


def test_what_came_after_it_makes_a_saved_recap_stale(home: Home, provider: ScriptedProvider) -> None:
    with_model(home, provider)
    with Rpc(home) as pi:
        away_with_a_recap(pi)
        pi.command("/afterturn focus")
        home.notes(2)
        pi.prompt("read 2")
    asked = len(recap_requests(provider))
    with Rpc(home, "-c") as pi:
        pi.widget()
    assert len(recap_requests(provider)) == asked + 1


def test_facts_are_shown_without_a_model_and_not_saved(home: Home) -> None:
    with Rpc(home) as pi:
        assert "read 1" in away_with_a_recap(pi)
    assert home.kept("session-recap") == []


def test_nothing_is_drafted_by_itself_where_that_is_disabled(home: Home, provider: ScriptedProvider) -> None:
    with_model(home, provider)
    home.notes(1)
    with Rpc(home, "--recap-disable") as pi:
        pi.command("/afterturn blur")
        pi.prompt("read 1")
        pi.status("captured")
        assert recap_requests(provider) == []
        pi.command("/recap")
        assert RECAP in pi.widget()


def test_a_model_for_recaps_can_be_named(home: Home, provider: ScriptedProvider) -> None:
    with_model(home, provider)
    home.notes(1)
    with Rpc(home, "--recap-model", "fake/cheap") as pi:
        pi.prompt("read 1")
        pi.command("/recap")
        pi.widget()
    assert [request.body["model"] for request in recap_requests(provider)] == ["cheap"]
    (prompt,) = [request.content.decode() for request in recap_requests(provider)]
    assert "coding assistant" not in prompt
    assert "context_tree_query" not in prompt
