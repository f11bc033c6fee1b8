"""Settings in the machine's terms: a bad length of time is reported, and is never taken for none."""

from typing import Any

import pytest

from afterturn.recap.policy import duration_ms, policy_of
from afterturn.settings import Layer, resolve
from afterturn_protocol.lifecycle import RecapCapability
from afterturn_protocol.settings import RecapSettings


@pytest.mark.parametrize(
    ("given", "ms", "reported"),
    [
        (90, 90_000, False),
        (30.5, 30_500, False),
        (5, 5_000, False),
        (4.9, 5_000, False),
        (0, 5_000, False),
        (-1, 90_000, True),
        ("", 90_000, True),
        ("soon", 90_000, True),
        (True, 90_000, True),
        ([], 90_000, True),
        (float("nan"), 90_000, True),
        (float("inf"), 90_000, True),
        (2**31, 90_000, True),
        (1e300, 90_000, True),
        (604_800, 604_800_000, False),
        (None, 90_000, False),
    ],
    ids=repr,
)
def test_away_seconds(given: Any, ms: int, reported: bool) -> None:
    settings, problems = resolve([Layer("a test", {"recap": {"awaySeconds": given, "explain": True}})])
    assert policy_of(settings.recap, None).away_ms == ms
    assert [problem.path for problem in problems] == (["recap.awaySeconds"] if reported else [])
    assert settings.recap.explain is True


@pytest.mark.parametrize(
    ("seconds", "ms"), [(7, 7_000), (1, 5_000), (-1, 120_000), (float("nan"), 120_000), (1e9, 120_000)], ids=repr
)
def test_whoever_makes_settings_without_checking_them_gets_no_short_timer(seconds: float, ms: int) -> None:
    assert duration_ms(seconds, 120) == ms


@pytest.mark.parametrize(
    ("setting", "reporting", "reads", "trusts"),
    [
        (True, None, True, False),
        (True, "unknown", True, False),
        (True, "supported", True, True),
        (True, "unsupported", False, False),
        (False, "supported", False, True),
    ],
    ids=str,
)
def test_focus_reporting(setting: bool, reporting: str | None, reads: bool, trusts: bool) -> None:
    capability = RecapCapability(can_show=True, focus_reporting=reporting)
    policy = policy_of(RecapSettings(focus_reporting=setting), capability)
    assert (policy.can_show, policy.reads_focus, policy.trusts_focus) == (True, reads, trusts)


def test_every_setting_has_its_effect() -> None:
    settings = RecapSettings(auto=False, away_seconds=6, idle_seconds=7, during_active=True, explain=True)
    policy = policy_of(settings, RecapCapability(can_show=False))
    assert (policy.auto, policy.can_show, policy.away_ms, policy.idle_ms) == (False, False, 6_000, 7_000)
    assert (policy.during_active, policy.explain) == (True, True)
