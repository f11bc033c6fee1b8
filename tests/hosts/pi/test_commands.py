"""What a person can ask for. `/afterturn stats` is looked at where models are."""

from tests.hosts.pi.host import Home
from tests.hosts.pi.rpc import Rpc, until
from tests.hosts.pi.script import RECOVERY_TOOL
from tests.hosts.pi.store import traces
from tests.provider.server import ScriptedProvider


def told(pi: Rpc, command: str) -> str:
    pi.command(command)
    return pi.ui("notify")["message"]


def status_of(pi: Rpc) -> str:
    """The status once the sidecar is there: a command gives up on one that starts more slowly than a person waits."""

    def report() -> str | None:
        status = told(pi, "/afterturn status")
        return status if ", process " in status else None

    return until(report, "status of a sidecar")


def test_off_means_off(home: Home, provider: ScriptedProvider) -> None:
    home.notes(1)
    home.notes(2)
    with Rpc(home) as pi:
        assert "on in this session" in status_of(pi)
        assert "off in this session" in told(pi, "/afterturn off")
        pi.prompt("read 1")
        assert told(pi, "/afterturn flush") == "Nothing waits to be condensed."
        assert "off in this session" in told(pi, "/afterturn status")
        assert "on in this session" in told(pi, "/afterturn on")
        pi.prompt("read 2")
        until(lambda: home.kept("afterturn-condensed"), "a condensed result")
        pi.status("captured")
    (kept,) = home.kept("afterturn-condensed")
    assert len(kept["replacements"]) == 1
    assert [trace["userText"] for trace in traces(home)] == ["read 1", "read 2"]


def test_flush_condenses_what_waits(home: Home) -> None:
    home.settings = {**home.settings, "condense": {"pruneOn": "on-demand"}}
    home.notes(1)
    with Rpc(home) as pi:
        pi.prompt("read 1")
        pi.status("captured")
        assert home.kept("afterturn-condensed") == []
        assert told(pi, "/afterturn flush") == "Condensing 1 batch."
        until(lambda: home.kept("afterturn-condensed"), "a condensed result")


def test_status_says_what_runs_and_what_does_not_fit(home: Home) -> None:
    home.settings = {**home.settings, "condense": {"minBatchChars": "many"}}
    with Rpc(home, "--recap-away-seconds", "soon") as pi:
        status = status_of(pi)
        assert f"process {pi.sidecar().pid}" in status
    assert str(home.store) in status
    assert "data may go to: nowhere" in status
    assert "setting condense.minBatchChars: " in status
    assert "setting recap.awaySeconds: " in status


def test_a_setting_that_does_not_fit_is_told_of_without_being_asked(home: Home) -> None:
    home.settings = {"models": {"provider": "nonee"}}
    with Rpc(home) as pi:
        notice = pi.ui("notify")["message"]
    assert notice.startswith("afterturn: models.provider must be one of ")


def test_a_limit_that_is_reached_is_told_of_whatever_was_told_before(home: Home) -> None:
    home.settings = {"models": {"dailyTokens": 1}, "recap": {"awaySeconds": "soon"}}
    home.notes(1)
    with Rpc(home) as pi:
        assert "recap.awaySeconds" in pi.ui("notify")["message"]
        pi.prompt("read 1")
        notice = pi.ui("notify")["message"]
    assert notice.startswith("afterturn: models.dailyTokens (1) is reached: no model is asked until ")


def test_traces_finds_work_of_an_earlier_session(home: Home) -> None:
    home.notes(1)
    with Rpc(home) as pi:
        pi.prompt("read 1")
        pi.status("captured")
    with Rpc(home) as pi:
        status_of(pi)
        assert "Did all of: read 1" in told(pi, "/traces read")
        assert told(pi, "/traces") == "Type what to look for: /traces QUERY"


def test_an_unknown_word_is_answered_with_those_there_are(home: Home) -> None:
    with Rpc(home) as pi:
        for word in ("help", "STATUS", "on off", "constructor", "toString", "__proto__", "⚡"):
            assert told(pi, f"/afterturn {word}").startswith("Type one of: status, on, off, flush, stats"), word


def test_odd_queries_find_nothing_and_say_so(home: Home) -> None:
    with Rpc(home) as pi:
        status_of(pi)
        for query in ('"', "*", "a AND", "NEAR(", "-", "'; drop table traces; --", "x" * 5000, "\u202e\x1b[2J", "..."):
            assert told(pi, f"/traces {query}") == "No trace of this project fits.", query


def test_a_recap_of_nothing_says_so(home: Home) -> None:
    with Rpc(home) as pi:
        status_of(pi)
        assert told(pi, "/recap").startswith("No recap")


def test_the_tool_explains_itself_where_there_is_no_sidecar(home: Home) -> None:
    home.sidecar = home.project / "nowhere"
    with Rpc(home) as pi:
        pi.prompt("recover t1")
        end = pi.take(lambda event: event["type"] == "tool_execution_end" and event["toolName"] == RECOVERY_TOOL)
    assert end["isError"]
    assert "afterturn is not running" in str(end["result"])
