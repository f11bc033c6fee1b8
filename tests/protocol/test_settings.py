"""Every settings key with its default, as condense.md, recap.md, capture.md, models.md and store.md list them."""

import json
from typing import Any

import msgspec
import pytest

from afterturn_protocol.capture import CaptureOptions
from afterturn_protocol.condense import CondenseOptions
from afterturn_protocol.settings import CHOICES, CaptureSettings, CondenseSettings, Settings

PAGES: dict[str, dict[str, Any]] = {
    "condense": {
        "enabled": True,
        "model": None,
        "fallback": "extractive",
        "pruneOn": "agent-message",
        "batchingMode": "turn",
        "minBatchChars": 1000,
        "dedupByContentHash": True,
        "protectedTools": [],
        "protectedPaths": ["**/skills/**/*.md"],
        "spillThreshold": 65536,
        "spillPreviewBytes": 2048,
        "autoBudgetThreshold": None,
        "budgetTurnDelta": None,
        "maxAttempts": 3,
        "concurrency": 2,
        "reasoning": "off",
        "recoveryToolName": "context_tree_query",
        "idleTimeoutMs": 20000,
        "totalTimeoutMs": 45000,
        "backgroundTimeoutMs": 180000,
    },
    "recap": {
        "auto": True,
        "awaySeconds": 90,
        "idleSeconds": 120,
        "focusReporting": True,
        "duringActive": False,
        "model": None,
        "fallback": "facts",
        "maxChars": 400,
        "maxPromptChars": 48000,
        "timeoutMs": 30000,
        "explain": False,
    },
    "capture": {
        "enabled": True,
        "model": None,
        "captureAbandoned": True,
        "granularity": "turn",
        "maxTextChars": 4000,
        "maxToolOutputChars": 2000,
        "embedTraces": True,
        "alphaScoring": True,
        "synthReflections": False,
        "llmConcurrency": 4,
        "batchMode": "auto",
        "batchThreshold": 12,
        "reflectionContextMode": "task",
        "longEpisodeReflectMode": "per_step_parallel",
        "downstreamStepCount": 3,
        "taskContextMaxChars": 800,
        "downstreamContextMaxChars": 1200,
        "downstreamPerStepMaxChars": 400,
        "outcomeMaxChars": 600,
        "maxLlmCallsPerEpisode": 128,
        "leaseSeconds": 30,
        "maxQueuedJobs": 1000,
        "resultDetail": "full",
    },
    "models": {
        "provider": "auto",
        "model": None,
        "apiBase": None,
        "apiKeyEnv": None,
        "headers": {},
        "fallbackModel": None,
        "concurrency": 2,
        "dailyTokens": 2000000,
        "dailyCostUsd": None,
        "sessionTokens": None,
        "workerIdleSeconds": 120,
    },
    "embeddings": {"provider": "local", "model": None, "apiBase": None, "apiKeyEnv": None},
    "store": {"url": None, "path": None, "raw": True, "retentionDays": 30, "outboxDays": 7},
    "redaction": {"enabled": True, "extraPatterns": []},
}

KEYS = [(section, key) for section, keys in PAGES.items() for key in keys]


def sent(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


DEFAULTS = sent(Settings())


def test_there_are_no_other_keys() -> None:
    assert [(section, key) for section, keys in DEFAULTS.items() for key in keys] == KEYS


@pytest.mark.parametrize(("section", "key"), KEYS, ids=".".join)
@pytest.mark.req("settings.defaults")
def test_default(section: str, key: str) -> None:
    assert DEFAULTS[section][key] == PAGES[section][key]


def test_an_empty_tree_means_the_defaults() -> None:
    assert msgspec.json.decode(b"{}", type=Settings) == Settings()


@pytest.mark.parametrize("path", CHOICES)
def test_a_choice_names_a_key_and_offers_its_default(path: str) -> None:
    section, key = path.split(".")
    assert PAGES[section][key] in CHOICES[path]


def test_a_request_may_set_every_condense_option_but_enabled() -> None:
    assert set(CondenseOptions.__struct_fields__) == set(CondenseSettings.__struct_fields__) - {"enabled"}


def test_a_request_may_set_what_concerns_one_episode() -> None:
    of_the_process = {"enabled", "lease_seconds", "max_queued_jobs"}
    assert set(CaptureOptions.__struct_fields__) == set(CaptureSettings.__struct_fields__) - of_the_process
