"""The sidecar's model calls go through pi: its models, its key, and nothing of the session's own prompt."""

from pathlib import Path

from tests.hosts.pi.host import Home
from tests.hosts.pi.rpc import Rpc, until
from tests.hosts.pi.script import helpful, is_of_agent, speech, text_of
from tests.provider.answers import Answer, fails
from tests.provider.server import ProviderRequest, ScriptedProvider


def sampled_requests(provider: ScriptedProvider) -> list[ProviderRequest]:
    return [request for request in provider.requests if not is_of_agent(request)]


def condensed(home: Home) -> str:
    """The text of the one replacement, once there is one."""
    kept = until(lambda: home.kept("afterturn-condensed"), "a condensed result")
    return kept[0]["replacements"][0]["text"]


def test_bullets_are_written_by_the_model_of_the_session(home: Home, provider: ScriptedProvider) -> None:
    home.settings = {}
    home.notes(1)
    with Rpc(home) as pi:
        pi.prompt("read 1")
        text = condensed(home)
        pi.command("/afterturn stats")
        stats = pi.ui("notify")["message"]
    assert "Looked at the notes." in text
    (request,) = sampled_requests(provider)
    assert request.key == "K"
    assert request.body["model"] == "agent"
    system, user = request.body["messages"]
    assert "[[1:read]]" in text_of(user)
    assert str(home.project) not in text_of(system), "pi's own prompt"
    assert request.body.get("max_completion_tokens", request.body.get("max_tokens")) > 0
    assert "condense.batch: 1, 100 tokens in, 10 out" in stats


def test_a_model_that_is_named_in_the_settings_is_taken(home: Home, provider: ScriptedProvider) -> None:
    home.settings = {"condense": {"model": "fake/cheap"}}
    home.notes(1)
    with Rpc(home) as pi:
        pi.prompt("read 1")
        condensed(home)
    assert [request.body["model"] for request in sampled_requests(provider)] == ["cheap"]


def test_a_model_of_another_provider_can_be_named_and_does_not_reason(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    # The older line: left alone, this API reasons there. The newer one says so itself, in a body that is compressed.
    home = Home(tmp_path, "old", provider.openai_base)
    home.settings = {"condense": {"enabled": False}}
    home.notes(1)
    with Rpc(home, "--recap-model", "codex/thinker") as pi:
        pi.prompt("read 1")
        pi.command("/recap")
        (request, *_) = until(lambda: sampled_requests(provider), "a request of the sidecar")
    assert request.path == "/v1/codex/responses"
    assert request.body["model"] == "thinker"
    assert request.body["reasoning"]["effort"] == "none"


def test_a_call_that_fails_leaves_the_bullets_to_the_sidecar(home: Home, provider: ScriptedProvider) -> None:
    home.settings = {}
    home.notes(1)

    def half(request: ProviderRequest) -> Answer:
        return helpful(request) if is_of_agent(request) else fails(401, error="no such key")

    provider.otherwise = half
    with Rpc(home) as pi:
        pi.prompt("read 1")
        text = condensed(home)
    assert "Looked at the notes." not in text
    assert "`t1`" in text


def test_no_model_is_asked_where_the_settings_say_so(home: Home, provider: ScriptedProvider) -> None:
    home.notes(1)
    with Rpc(home) as pi:
        pi.prompt("read 1")
        condensed(home)
        provider.otherwise = speech("fine")
        pi.prompt("read nothing more")
    assert sampled_requests(provider) == []
