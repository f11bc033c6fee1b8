"""The settings of a replay: the user's, but for what a replay decides."""

from typing import Any

import pytest

from afterturn.replay.server import elsewhere, has_model, replay_settings
from afterturn.settings import Layer, resolve
from afterturn_protocol.settings import Settings


def settings(**tree: dict[str, Any]) -> Settings:
    found, problems = resolve([Layer("test", tree)])
    assert problems == []
    return found


MINE = settings(
    condense={"enabled": False, "minBatchChars": 7, "protectedTools": ["x"]},
    capture={"enabled": False, "resultDetail": "ids"},
    models={"model": "openai/x"},
    embeddings={"provider": "litellm", "model": "openai/e"},
    store={"path": "/mine.db", "raw": False},
)


@pytest.mark.parametrize("model", [False, True])
@pytest.mark.parametrize("raw", [False, True])
def test_they_are_good_settings(model: bool, raw: bool) -> None:
    found, problems = resolve([Layer("replay", replay_settings(MINE, model=model, raw=raw, vectors=True))])
    assert problems == []
    assert (found.condense.min_batch_chars, found.condense.protected_tools) == (7, ("x",))
    assert (found.condense.enabled, found.capture.enabled, found.capture.result_detail) == (True, True, "full")
    assert found.store.raw is raw
    assert found.models.provider == ("auto" if model else "none")
    assert found.embeddings.provider == ("litellm" if model else "none")


def test_vectors_only_where_they_are_kept() -> None:
    assert replay_settings(Settings(), model=False, raw=True, vectors=False)["capture"]["embedTraces"] is False
    assert replay_settings(Settings(), model=False, raw=True, vectors=True)["capture"]["embedTraces"] is True


def test_elsewhere() -> None:
    mine = replay_settings(MINE, model=False, raw=True, vectors=False)
    assert elsewhere(mine, "/tmp/other.db")["store"]["path"] == "/tmp/other.db"
    assert mine["store"]["path"] == "/mine.db"


@pytest.mark.parametrize(
    ("tree", "there"),
    [
        ({}, False),
        ({"models": {"model": "openai/x"}}, True),
        ({"recap": {"model": "openai/x"}}, True),
        ({"models": {"model": "openai/x", "provider": "none"}}, False),
    ],
    ids=["none", "for all", "for one", "switched off"],
)
def test_whether_there_is_a_model(tree: dict[str, Any], there: bool) -> None:
    assert has_model(settings(**tree)) is there
