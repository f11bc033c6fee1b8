"""condense/resolveRef (condense.md, 'The rule above all' and 'resolveRef'; cases C01 and M14)."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afterturn.completion import CompleterError
from afterturn.condense.ports import Store
from afterturn_protocol.refs import MissingRef
from afterturn_protocol.settings import CondenseSettings
from tests.condense.conftest import OpenStore
from tests.condense.harness import FakeCompleter, Harness, batch, big, call
from tests.condense.memory_store import MemoryStore

pytestmark = pytest.mark.anyio


async def test_c01_a_ref_resolves_byte_for_byte_after_a_restart(open_again: OpenStore) -> None:
    """Case C01."""
    texts = [f"{number}\r\n\x00\ud83d \u6f22 {big(str(number), 3)}" for number in range(12)]
    await Harness(open_again()).summarize(batch(*[call("bash", text) for text in texts]))
    again = Harness(open_again())
    assert [await again.text(f"t{number}") for number in range(1, 13)] == texts
    found = await again.resolve("t9999", "t3", "nope", "t0")
    assert [record.ref for record in found.records] == ["t3"]
    assert found.missing == [
        MissingRef(ref="t9999", reason="unknown", known="t1..t12"),
        MissingRef(ref="nope", reason="unknown", known="t1..t12"),
        MissingRef(ref="t0", reason="unknown", known="t1..t12"),
    ]


async def test_an_unknown_session_has_no_range(store: Store) -> None:
    assert (await Harness(store).resolve("t1", session="never")).missing == [MissingRef(ref="t1", reason="unknown")]


@pytest.mark.parametrize("way", ["trivial", "duplicate", "protected", "failed", "disabled", "oversized"])
async def test_everything_is_archived_whatever_becomes_of_the_batch(store: Store, way: str) -> None:
    """Prior art A3."""
    harness = Harness(store)
    text = big("a") if way != "oversized" else "tiny"
    await harness.summarize(batch(call("bash", big("a") if way == "duplicate" else "x", tool_call_id="first")))
    if way == "disabled":
        harness.settings = CondenseSettings(enabled=False)
    if way == "failed":
        harness = Harness(store, FakeCompleter(CompleterError("provider_error", "x", retryable=True)))
    options = {
        "trivial": {"min_batch_chars": 100_000},
        "protected": {"protected_tools": ["bash"]},
        "failed": {"fallback": "none"},
    }.get(way)
    result = await harness.summarize(batch(call("bash", text, tool_call_id="second")), **(options or {}))
    assert way in (result.outcome, result.reason, result.items[0].state)
    assert result.items[0].short_id == "t2"
    assert await harness.text("t2") == text


async def test_a_reused_id_gives_every_occurrence_labelled(store: Store) -> None:
    """Prior art cases 5 and 8."""
    harness = Harness(store)
    for time, word in ((7, "a"), (9, "b"), (None, "c"), (11, "a")):
        await harness.summarize(batch(call("bash", big(word), tool_call_id="bash_23", result_timestamp=time)))
    found = (await harness.resolve("bash_23")).records
    assert [(record.short_id, record.label) for record in found] == [
        ("t1", "bash_23@7"),
        ("t2", "bash_23@9"),
        ("t3", "bash_23"),
        ("t4", "bash_23@11"),
    ]
    assert [record.text for record in found] == [big("a"), big("b"), big("c"), big("a")]
    (one,) = (await harness.resolve("bash_23@9")).records
    assert one.short_id == "t2"
    (one,) = (await harness.resolve("t3")).records
    assert one.label == "bash_23"


async def test_a_record_says_what_the_call_was(store: Store) -> None:
    harness = Harness(store)
    await harness.summarize(
        batch(call("bash", big("a"), tool_call_id="x", args={"command": ["ls", 1, None]}, status="error"), turn=6)
    )
    (record,) = (await harness.resolve("`t1`")).records
    assert (record.ref, record.tool_name, record.args, record.is_error, record.turn_index) == (
        "`t1`",
        "bash",
        {"command": ["ls", 1, None]},
        True,
        6,
    )


async def test_pages_and_grep(store: Store) -> None:
    harness = Harness(store)
    await harness.summarize(batch(call("bash", big("a", 2000)), call("bash", "x" * 60_000, tool_call_id="long")))
    (record,) = (await harness.resolve("t1")).records
    assert (record.total_chars, record.offset) == (len(big("a", 2000)), 0)
    assert 51_000 < len(record.text) <= 51_200
    assert record.text.endswith("\n")
    (rest,) = (await harness.resolve("t1", offset=record.next_offset, limit=100_000)).records
    assert (record.text + rest.text, rest.next_offset) == (big("a", 2000), None)
    (long,) = (await harness.resolve("t2")).records
    assert (len(long.text), long.next_offset) == (51_200, 51_200)
    (found,) = (await harness.resolve("t1", grep="line 1234 ")).records
    assert found.text.split("\n")[2] == "1235:a line 1234 of some output that nobody reads twice"
    assert (len(found.text.split("\n")), found.total_chars, found.next_offset) == (5, len(found.text), None)
    (nothing,) = (await harness.resolve("t1", grep="nowhere")).records
    assert (nothing.text, nothing.total_chars, nothing.next_offset) == ("", 0, None)


async def test_it_works_switched_off(store: Store) -> None:
    harness = Harness(store, settings=CondenseSettings(enabled=False))
    await harness.summarize(batch(call("bash", big("a"))))
    assert await harness.text("t1") == big("a")


async def test_m14_what_is_deleted_is_expired_and_its_numbers_are_not_given_again(open_again: OpenStore) -> None:
    """Case M14, and 'never given to another result'."""
    store = open_again()
    harness = Harness(store)
    one = batch(call("bash", big("a")), call("bash", big("b")), batch_id="a")
    await harness.summarize(one)
    await harness.fuse(["a"])
    assert await store.sessions.delete("s", now_ms=harness.clock.now_ms()) == 2
    assert await store.sessions.delete("s", now_ms=harness.clock.now_ms()) == 0
    again = Harness(open_again())
    found = await again.resolve("t1", "b1", "t3")
    assert [(each.ref, each.reason, each.known) for each in found.missing] == [
        ("t1", "expired", None),
        ("b1", "expired", None),
        ("t3", "unknown", None),
    ]
    assert (await again.plan()).summaries == []
    result = await again.summarize(one)
    assert [item.short_id for item in result.items] == ["t3", "t4"]
    (missing,) = (await again.resolve("t1")).missing
    assert (missing.reason, missing.known) == ("expired", "t3..t4")


async def test_a_fork_counts_on_and_resolves_its_parent(open_again: OpenStore) -> None:
    store = open_again()
    harness = Harness(store)
    now = harness.clock.now_ms()
    before = batch(call("bash", big("a")), batch_id="a")
    first = await harness.summarize(before)
    await store.sessions.open("child", project=None, parent_session_id="s", now_ms=now)
    await harness.summarize(batch(call("bash", big("parent's later"))))
    child = Harness(open_again())
    assert await child.text("t1", session="child") == big("a")
    assert (await child.resolve("t2", session="child")).missing == [
        MissingRef(ref="t2", reason="unknown", known="t1..t1")
    ]
    mine = await child.summarize(batch(call("bash", big("child's"))), session="child")
    assert mine.items[0].short_id == "t2"
    assert await child.text("t2", session="child") == big("child's")
    assert await child.text("t2") == big("parent's later")
    again = await child.summarize(before, session="child")
    assert again == first
    assert (await child.plan("child")).summaries[0].batch_id == "a"


async def test_a_fork_whose_parent_was_deleted_names_no_ref_that_is_gone(open_again: OpenStore) -> None:
    """A summary that the fork was given for its parent's result is made anew, under a ref that resolves."""
    store = open_again()
    harness = Harness(store)
    now = harness.clock.now_ms()
    await harness.summarize(batch(call("bash", big("parent's"), tool_call_id="1")), session="parent")
    await store.sessions.open("child", project=None, parent_session_id="parent", now_ms=now)
    both = batch(call("bash", big("parent's"), tool_call_id="1"), call("bash", big("own"), tool_call_id="2"))
    first = await harness.summarize(both, session="child")
    assert [item.short_id for item in first.items] == ["t1", "t2"]
    await store.sessions.delete("parent", now_ms=now)
    assert (await harness.plan("child")).summaries == []
    again = await Harness(open_again()).summarize(both, session="child")
    assert [item.short_id for item in again.items] == ["t3", "t2"]
    assert again.items[1].replacement == first.items[1].replacement
    assert "t1" not in (again.summary_text or "") + (again.items[0].replacement or "")
    assert await harness.text("t3", session="child") == big("parent's")


CALLS = st.tuples(st.sampled_from("abc"), st.sampled_from([None, 1, 2]), st.sampled_from("xyz"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["s", "u"]),
            st.lists(
                st.tuples(st.sampled_from("abc"), st.sampled_from([None, 1, 2]), st.sampled_from("xyz")), max_size=4
            ),
        ),
        max_size=8,
    )
)
def test_every_ref_ever_given_resolves_to_its_own_result(
    anyio_backend: str, steps: list[tuple[str, list[tuple[str, int | None, str]]]]
) -> None:
    """Whatever is sent in whatever order, repeats included: a ref is given to one result, which it gives back."""
    import asyncio

    async def run() -> None:
        harness = Harness(MemoryStore())
        owners: dict[tuple[str, str], tuple[str, int | None, str]] = {}
        for session, calls in steps:
            sent = batch(
                *[call("bash", big(word, 5), tool_call_id=name, result_timestamp=t) for name, t, word in calls]
            )
            result = await harness.summarize(sent, session=session)
            assert [item.index for item in result.items] == list(range(len(calls)))
            for item, (name, time, word) in zip(result.items, calls, strict=True):
                assert item.short_id is not None
                assert owners.setdefault((session, item.short_id), (name, time, word)) == (name, time, word)
        for (session, ref), (_, _, word) in owners.items():
            assert await harness.text(ref, session=session) == big(word, 5)
        for session in ("s", "u"):
            numbers = sorted(int(ref[1:]) for owner, ref in owners if owner == session)
            assert numbers == list(range(1, len(numbers) + 1))

    asyncio.run(run())
