"""Refs as callers write them, and options of a request (condense.md, 'resolveRef', 'Options'; prior art case 11)."""

from typing import Any

import pytest

from afterturn.condense.ports import RefQuery
from afterturn.condense.refs import label_of, parse_ref
from afterturn.misfits import InvalidInputError
from afterturn.overlay import overlaid
from afterturn_protocol.condense import CondenseOptions
from afterturn_protocol.settings import CondenseSettings


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("t12", RefQuery(raw="t12", short=12)),
        ("`t12`", RefQuery(raw="t12", short=12)),
        (" t12\n", RefQuery(raw="t12", short=12)),
        ("b3", RefQuery(raw="b3", block=3)),
        ("t0", RefQuery(raw="t0")),
        ("t012", RefQuery(raw="t012")),
        ("t\u0661", RefQuery(raw="t\u0661")),
        ("bash_23", RefQuery(raw="bash_23")),
        ("bash_23@1150", RefQuery(raw="bash_23@1150", call_id="bash_23", at=1150)),
        ("a@1@2", RefQuery(raw="a@1@2", call_id="a@1", at=2)),
        ("a@b", RefQuery(raw="a@b")),
        ("@5", RefQuery(raw="@5")),
        ("call|fc+/==", RefQuery(raw="call|fc+/==")),
        ("", RefQuery(raw="")),
    ],
)
def test_parse(ref: str, expected: RefQuery) -> None:
    assert parse_ref(ref) == expected


@pytest.mark.parametrize(("call_id", "time", "expected"), [("a", None, "a"), ("a@1", 7, "a@1@7"), ("a", -3, "a@-3")])
def test_a_label_resolves_to_its_own_call(call_id: str, time: int | None, expected: str) -> None:
    assert label_of(call_id, time) == expected
    query = parse_ref(expected)
    assert (query.raw, None) == (call_id, time) or (query.call_id, query.at) == (call_id, time)


def test_options_overlay_settings() -> None:
    settings = CondenseSettings(min_batch_chars=5, enabled=False)
    made = overlaid("condense", settings, CondenseOptions(fallback="none", protected_tools=["x"]))
    assert (made.enabled, made.min_batch_chars, made.fallback, made.protected_tools) == (False, 5, "none", ("x",))
    assert overlaid("condense", settings, None) == settings
    assert overlaid("condense", settings, CondenseOptions()) == settings


@pytest.mark.parametrize(
    ("options", "path", "expected"),
    [
        ({"fallback": "magic"}, "$.options.fallback", '"extractive" or "none"'),
        ({"prune_on": "never"}, "$.options.pruneOn", '"agent-message" or "on-demand"'),
        ({"auto_budget_threshold": 1.5}, "$.options.autoBudgetThreshold", "number <= 1.0"),
        ({"budget_turn_delta": 0.0}, "$.options.budgetTurnDelta", "number > 0.0"),
        ({"max_attempts": 0}, "$.options.maxAttempts", "integer >= 1"),
    ],
)
def test_a_bad_option_is_named(options: dict[str, Any], path: str, expected: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        overlaid("condense", CondenseSettings(), CondenseOptions(**options))
    assert (refused.value.path, refused.value.expected) == (path, expected)
