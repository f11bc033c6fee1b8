"""Settings: layers over layers, key by key; a bad key costs only itself."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.settings import Layer, file_layers, resolve
from afterturn_protocol.settings import Settings


def merged(*trees: Any) -> tuple[Settings, list[str]]:
    settings, problems = resolve([Layer(f"layer {number}", tree) for number, tree in enumerate(trees)])
    return settings, [problem.path for problem in problems]


def test_without_layers_everything_is_default() -> None:
    assert merged() == (Settings(), [])
    assert merged(None, {}, [], {"condense": None}, {"condense": {}}, {"recap": []}) == (Settings(), [])


@pytest.mark.req("settings.key-by-key")
@pytest.mark.parametrize(
    ("trees", "key", "value"),
    [
        ([{"condense": {"minBatchChars": 5}}], "condense.min_batch_chars", 5),
        ([{"condense": {"minBatchChars": 5}}, {"condense": {"minBatchChars": 6}}], "condense.min_batch_chars", 6),
        ([{"condense": {"minBatchChars": 5}}, {"condense": {"enabled": False}}], "condense.min_batch_chars", 5),
        ([{"condense": {"minBatchChars": 5}}, {"condense": {"minBatchChars": None}}], "condense.min_batch_chars", 1000),
        ([{"models": {"model": "a/b"}}, {"models": {"model": None}}], "models.model", None),
        ([{"condense": {"autoBudgetThreshold": 1}}], "condense.auto_budget_threshold", 1),
        ([{"condense": {"protectedTools": ["a", "b*"]}}], "condense.protected_tools", ("a", "b*")),
        ([{"store": {"retentionDays": 7}, "recap": {"auto": False}}], "recap.auto", False),
    ],
)
def test_layers_merge_deeply(trees: list[Any], key: str, value: Any) -> None:
    settings, problems = merged(*trees)
    assert problems == []
    section, _, name = key.partition(".")
    assert getattr(getattr(settings, section), name) == value


@pytest.mark.req("lifecycle.bad-settings")
@pytest.mark.parametrize(
    ("tree", "path"),
    [
        ({"condense": {"minBatchChars": "many"}}, "condense.minBatchChars"),
        ({"condense": {"minBatchChars": -1}}, "condense.minBatchChars"),
        ({"condense": {"minBatchChars": 1.5}}, "condense.minBatchChars"),
        ({"condense": {"minBatchChars": "\ud83d"}}, "condense.minBatchChars"),
        ({"condense": {"enabled": "false"}}, "condense.enabled"),
        ({"condense": {"fallback": "magic"}}, "condense.fallback"),
        ({"condense": {"protectedTools": "todowrite"}}, "condense.protectedTools"),
        ({"condense": {"autoBudgetThreshold": 1.5}}, "condense.autoBudgetThreshold"),
        ({"condense": {"min_batch_chars": 5}}, "condense.min_batch_chars"),
        ({"condense": 5}, "condense"),
        ({"condens": {"enabled": False}}, "condens"),
        ("text", "$"),
        ([1], "$"),
        ({"redaction": {"extraPatterns": 1}}, "redaction.extraPatterns"),
        ({"redaction": {"extraPatterns": [1]}}, "redaction.extraPatterns[0]"),
        ({"redaction": {"extraPatterns": ["("]}}, "redaction.extraPatterns[0]"),
        ({"store": {"path": "a\0b"}}, "store.path"),
        ({"store": {"path": "a\ud83db"}}, "store.path"),
        ({"condense": {"maxAttempts": 0}}, "condense.maxAttempts"),
        ({"models": {"headers": {"a": 1}}}, "models.headers"),
    ],
)
def test_a_bad_key_falls_to_its_default_and_is_named(tree: Any, path: str) -> None:
    assert merged(tree) == (Settings(), [path])
    if isinstance(tree, dict):
        settings, problems = merged({**tree, "capture": {"batchThreshold": 3}})
        assert (settings.capture.batch_threshold, problems) == (3, [path])


def test_one_bad_pattern_does_not_switch_off_the_others() -> None:
    settings, problems = merged({"redaction": {"extraPatterns": ["a+", "(", 5, "b"]}})
    assert settings.redaction.extra_patterns == ("a+", "b")
    assert problems == ["redaction.extraPatterns[1]", "redaction.extraPatterns[2]"]


def test_a_bad_key_does_not_bring_a_lower_layers_value_back() -> None:
    settings, problems = merged({"condense": {"minBatchChars": 5}}, {"condense": {"minBatchChars": "x"}})
    assert (settings.condense.min_batch_chars, problems) == (1000, ["condense.minBatchChars"])


def test_a_problem_says_where_it_comes_from_and_repeats_no_text() -> None:
    _, problems = resolve([Layer("settings.toml", {"models": {"apiKeyEnv": 5, "model": ["sk-secret"]}})])
    assert [problem.problem for problem in problems] == [
        "models.apiKeyEnv must be string | null, not 5; the default is used (from settings.toml)",
        "models.model must be string | null, not this list; the default is used (from settings.toml)",
    ]
    _, problems = resolve([Layer("it", {"condense": {"maxAttempts": 0}})])
    assert problems[0].problem == "condense.maxAttempts must be integer >= 1, not 0; the default is used (from it)"


@pytest.mark.parametrize("encoding", ["utf-8", pytest.param("utf-8-sig", id="with the mark of Windows editors")])
def test_file_and_environment(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "settings.toml").write_text('[condense]\nminBatchChars = 7\n[recap]\nmodel = "x/é"\n', encoding)
    environment = {"AFTERTURN_HOME": str(tmp_path), "AFTERTURN_SETTINGS": '{"condense": {"minBatchChars": 8}}'}
    layers, problems = file_layers(environment)
    settings, more = resolve(layers)
    assert (settings.condense.min_batch_chars, settings.recap.model, problems + more) == (8, "x/é", [])


@pytest.mark.parametrize(
    ("toml", "json", "count"),
    [
        (b"this is = not [toml", "", 1),
        (b"\xff\xfe", "", 1),
        (b"", "{not json", 1),
        (b"", "[" * 100_000, 1),
        (b"a = ", "nope", 2),
        (b"a = " + b"[" * 100_000, "", 1),
    ],
)
def test_sources_that_cannot_be_read_are_reported(tmp_path: Path, toml: bytes, json: str, count: int) -> None:
    (tmp_path / "settings.toml").write_bytes(toml)
    layers, problems = file_layers({"AFTERTURN_HOME": str(tmp_path), "AFTERTURN_SETTINGS": json})
    assert len(problems) == count
    assert resolve(layers)[0] == Settings()


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*args: Any, **options: Any) -> str:
        raise RuntimeError("no home")

    monkeypatch.setattr("platformdirs.user_config_dir", nobody)
    layers, problems = file_layers({})
    assert (layers, [problem.path for problem in problems]) == ([], ["$"])
    assert "AFTERTURN_HOME" in problems[0].problem


def test_a_settings_file_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").mkdir()
    _, problems = file_layers({"AFTERTURN_HOME": str(tmp_path)})
    assert len(problems) == 1


TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2000) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["condense", "recap", "models", "enabled", "fallback", "headers", "x"]), inner
        )
    ),
    max_leaves=10,
)


@given(st.lists(TREES, max_size=3))
def test_any_trees_give_settings_that_hold(trees: list[Any]) -> None:
    settings, _ = merged(*trees)
    assert settings.condense.min_batch_chars >= 0
    assert settings.condense.fallback in ("extractive", "none")
