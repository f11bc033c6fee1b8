"""Failures that users of comparable systems reported, and that no other test here bears the name of.

C01 is in test_resolve, C02 to C05 and C09 in test_model_failures, C08 in test_summarize, M14 in test_resolve, S01 in
test_model_failures.
"""

import stat
from pathlib import Path

import anyio
import pytest

from afterturn.condense.ports import Store
from afterturn.store import StorePlace, open_store
from afterturn_protocol.settings import CondenseSettings
from tests.condense.conftest import OpenStore
from tests.condense.harness import PATIENCE_SECONDS, FakeCompleter, Harness, batch, big, bullets, call

pytestmark = pytest.mark.anyio


async def test_c12_every_call_is_accounted_for_once(store: Store) -> None:
    """Case C12: three parallel calls, one without a result."""
    result = await Harness(store).summarize(
        batch(call("read", big("a")), call("bash", None, tool_call_id="waits"), call("grep", big("b")))
    )
    assert [(item.index, item.state) for item in result.items] == [
        (0, "condensed"),
        (1, "incomplete"),
        (2, "condensed"),
    ]


async def test_c14_off_means_off(store: Store) -> None:
    """Case C14: no provider call on any path, and every answer says so."""
    completer = FakeCompleter(bullets("1:bash"))
    harness = Harness(store, completer, settings=CondenseSettings(enabled=False, auto_budget_threshold=0.1))
    for number in range(10):
        one = batch(call("bash", big(f"w{number}")), call("bash", big("same"), tool_call_id=str(number)), turn=number)
        result = await harness.summarize(one)
        assert (result.outcome, result.source, result.refs) == ("disabled", "none", [])
        assert [item.replacement for item in result.items] == [None, None]
        turn = await harness.turn_end(one, final=True, usage=(190_000, 200_000))
        assert (turn.will_condense, [item.replacement for item in turn.items]) == (False, [None, None])
    assert await harness.flush() == 0
    assert (await harness.fuse(short_ids=["t1", "t2"])).source == "extractive"
    assert (await harness.plan()).replacements == []
    assert await harness.settle() == []
    assert completer.prompts == []


async def test_c14_protected_tools_pass_through(store: Store) -> None:
    harness = Harness(store, settings=CondenseSettings(min_batch_chars=0, protected_tools=("mcp__memory*",)))
    result = await harness.summarize(batch(call("mcp__memory__get", big("a")), call("bash", big("b"))))
    assert [item.state for item in result.items] == ["protected", "condensed"]
    assert [item.replacement is not None for item in result.items] == [False, True]


async def test_switching_on_condenses_what_was_refused_while_off(store: Store) -> None:
    one = batch(call("bash", big("a")))
    await Harness(store, settings=CondenseSettings(enabled=False)).summarize(one)
    assert (await Harness(store).summarize(one)).outcome == "summarized"


async def test_m10_several_processes_share_a_session(open_again: OpenStore) -> None:
    """Case M10: no lost write, no ref given twice, each resolves to its own."""
    harnesses = [Harness(open_again()) for _ in range(4)]
    texts: dict[str, str] = {}

    async def work(harness: Harness, name: str) -> None:
        for number in range(10):
            text = big(f"{name} {number}", 30)
            result = await harness.summarize(batch(call("bash", text, tool_call_id=f"{name}-{number}")))
            ref = result.items[0].short_id
            assert ref is not None
            assert texts.setdefault(ref, text) == text

    with anyio.fail_after(PATIENCE_SECONDS * 3):
        async with anyio.create_task_group() as group:
            for number, harness in enumerate(harnesses):
                group.start_soon(work, harness, f"p{number}")
    assert sorted(texts, key=lambda ref: int(ref[1:])) == [f"t{number}" for number in range(1, 41)]
    reader = Harness(open_again())
    for ref, text in texts.items():
        assert await reader.text(ref) == text


async def test_s08_nothing_is_readable_by_others(tmp_path: Path) -> None:
    """Case S08, whatever the umask."""
    import os

    before = os.umask(0)
    try:
        home = tmp_path / "home"
        store = open_store(StorePlace(file=home / "afterturn.db", own_folder=True))
        await Harness(store).summarize(batch(call("bash", big("a"))))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (home, *home.rglob("*"))}
        await store.close()
    finally:
        os.umask(before)
    assert modes.pop("home") == 0o700
    assert modes
    assert set(modes.values()) == {0o600}
