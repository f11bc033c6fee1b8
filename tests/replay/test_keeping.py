"""What `afterturn replay` keeps, and whom it asks."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.provider.answers import fails, says
from tests.provider.server import ScriptedProvider
from tests.replay.sessions import found, left_behind, replay, two_requests


def traces(home: Path) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-I", "-m", "afterturn", "traces", "list", "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "AFTERTURN_HOME": str(home / "home")},
    )
    return json.loads(done.stdout)


def test_import_keeps_the_traces_once(tmp_path: Path) -> None:
    session = two_requests()
    file = session.write(tmp_path / "s.jsonl")
    assert found(tmp_path, file, "--import")[0]["newTraces"] == 2
    first = traces(tmp_path)
    assert {trace["project"] for trace in first} == {"/home/someone/project"}
    assert all(trace["vectors"].get("summary") for trace in first)
    assert found(tmp_path, file, "--import")[0]["newTraces"] == 0
    assert traces(tmp_path) == first
    session.user("One more thing").says("Yes?").write(file)
    assert found(tmp_path, file, "--import")[0]["newTraces"] == 1
    assert len(traces(tmp_path)) == 3
    assert "lexer line 7:" not in "".join(
        path.read_bytes().decode("latin-1") for path in (tmp_path / "home").rglob("*.db")
    ), "the originals are not kept"


def configured(provider: ScriptedProvider) -> str:
    models = {"model": "openai/some-model", "apiBase": provider.openai_base, "apiKeyEnv": "REPLAY_TEST_KEY"}
    return json.dumps({"models": models, "embeddings": {"provider": "litellm", "model": "openai/embed"}})


def test_without_being_told_no_model_is_asked(tmp_path: Path) -> None:
    with ScriptedProvider() as provider:
        file = two_requests().write(tmp_path / "s.jsonl")
        (report,) = found(tmp_path, file, "--import", AFTERTURN_SETTINGS=configured(provider), REPLAY_TEST_KEY="k")
        assert provider.requests == []
    assert (report["usage"], report["warnings"]) == (None, [])
    assert {recap["origin"] for recap in report["recaps"]} == {"facts"}


def test_the_configured_model_is_asked_when_told(tmp_path: Path) -> None:
    with ScriptedProvider() as provider:
        provider.otherwise = says("- [[1:read]] read src/parser.py", usage=(10, 5))
        file = two_requests().write(tmp_path / "s.jsonl")
        (report,) = found(tmp_path, file, "--model", AFTERTURN_SETTINGS=configured(provider), REPLAY_TEST_KEY="k")
        asked = [request for request in provider.requests if "messages" in request.body]
        assert {request.key for request in asked} == {"k"}
    assert report["usage"]["calls"] == len(asked) > 0
    assert report["usage"]["models"] == ["openai/some-model"]
    assert left_behind(tmp_path) == ["s.jsonl"]


def test_a_model_that_does_not_answer(tmp_path: Path) -> None:
    """The prompts may well have left the machine, so it is not said that nothing did."""
    with ScriptedProvider() as provider:
        provider.otherwise = fails(401)
        file = two_requests().write(tmp_path / "s.jsonl")
        page = tmp_path / "o.html"
        given = {"AFTERTURN_SETTINGS": configured(provider), "REPLAY_TEST_KEY": "k"}
        said = replay(tmp_path, file, "--model", "--html", page, **given).stdout
        assert provider.requests != []
    for text in (said, page.read_text("utf-8")):
        assert "No model answered." in text
        assert "left the machine" not in text


def test_a_model_that_is_not_configured(tmp_path: Path) -> None:
    done = replay(tmp_path, two_requests().write(tmp_path / "s.jsonl"), "--model")
    assert (done.returncode, done.stdout) == (1, "")
    assert "models.model" in done.stderr
