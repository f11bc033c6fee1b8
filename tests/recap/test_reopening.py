"""Sessions that are opened again: saved recaps, and when they still stand (recap.md, 'Saved and current')."""

from typing import Any

import pytest

from afterturn_protocol.session import SavedRecap
from tests.recap.conftest import Make
from tests.recap.harness import Recaps, saved, settle, work

pytestmark = pytest.mark.anyio


async def test_a_saved_recap_that_is_current_is_shown_for_nothing(make: Make) -> None:
    it = make(contexts={"s": work()})
    it.open(saved_recap=saved())
    await settle()
    (recap,) = it.recaps()
    assert (it.calls, it.heard) == (0, "ready(reopen,saved)")
    assert (recap.text, recap.save, recap.usage) == ("You are fixing the login redirect.", False, None)
    assert recap.model == "anthropic/claude-haiku-5-5"


async def test_twenty_restored_tabs_cost_no_call(make: Make) -> None:
    it = make(contexts={f"tab{number}": work(number) for number in range(20)})
    for number in range(20):
        it.open(f"tab{number}", saved_recap=saved(f"You are fixing redirect {number}."))
    await settle()
    assert it.calls == 0
    assert [recap.text for recap in it.recaps()] == [f"You are fixing redirect {number}." for number in range(20)]
    for number in range(20):
        await it.away(f"tab{number}")
    assert it.calls == 0, "the first absence after a free reopening is free too"


async def test_our_own_store_makes_reopening_free_as_well(make: Make) -> None:
    store = Recaps()
    first = make(store=store)
    first.turn_end(context=work())
    await first.away()
    await settle()
    assert store.kept["s"].text == first.recaps()[0].text
    second = make(store=store)
    second.open(context=work())
    await settle()
    (recap,) = second.recaps()
    assert (second.calls, recap.origin, recap.text) == (0, "saved", first.recaps()[0].text)
    assert recap.created_at == first.recaps()[0].created_at
    await second.away()
    assert second.calls == 0
    third = make(store=store)
    third.open(context=work(2))
    await settle()
    assert (third.calls, third.heard) == (1, "ready(reopen,generated)")
    assert third.recaps()[0].save is True


async def test_the_hosts_word_counts_more_than_the_hash(make: Make) -> None:
    store = Recaps()
    first = make(store=store)
    first.turn_end(context=work())
    await first.away()
    await settle()
    second = make(store=store)
    second.open(context=work(), saved_recap=saved(current=False))
    await settle()
    assert (second.calls, second.heard) == (1, "ready(reopen,generated)")


@pytest.mark.parametrize(
    "opened",
    [{"has_initial_prompt": True}, {"has_history": False}, {"reason": "reload"}, {"reason": "new"}],
    ids=str,
)
async def test_openings_at_which_nothing_is_drafted(make: Make, opened: dict[str, Any]) -> None:
    it = make()
    it.open(context=work(), saved_recap=saved(), **opened)
    await it.clock.wait(600)
    assert (it.calls, it.events) == (0, [])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("You are fixing\n the\tlogin\x1b[31m red\u202eirect.", "You are fixing the login redirect."),
        ("\x1b]0;title\x07You are\x00 here.", "You are here."),
        ("Half \ud83d.", "Half \ud83d."),
        ("One sentence is here. " * 40, ("One sentence is here. " * 18).strip()),
        ("One part is here; " * 40, ("One part is here; " * 22).strip()[:-1] + "."),
        ("x" * 900, "x" * 399 + "…"),
    ],
    ids=["colours", "controls", "half a character", "long", "long without a stop", "one long word"],
)
async def test_a_saved_recap_is_shown_as_any_other(make: Make, text: str, shown: str) -> None:
    it = make()
    it.open(saved_recap=saved(text))
    await settle()
    (recap,) = it.recaps()
    assert (recap.text, recap.origin, it.calls) == (shown, "saved", 0)


@pytest.mark.parametrize(
    "given", [None, saved("  \n"), saved("\x1b[31m \u202e")], ids=["none", "blank", "nothing to see"]
)
async def test_reopening_without_a_saved_recap_drafts_one(make: Make, given: SavedRecap | None) -> None:
    it = make()
    it.open(context=work(), saved_recap=given)
    await settle()
    assert (it.calls, it.heard) == (1, "ready(reopen,generated)")


@pytest.mark.parametrize("kind", ["message", "compaction", "branchSummary", "contextEdit"])
async def test_what_makes_a_saved_recap_stale(make: Make, kind: str) -> None:
    it = make()
    it.open(saved_recap=saved())
    await settle()
    it.change(kind)
    it.turn_end(context=work())
    await it.away()
    assert it.calls == 1


@pytest.mark.parametrize("kind", ["metadata", "model"])
async def test_what_leaves_a_saved_recap_as_it_is(make: Make, kind: str) -> None:
    it = make()
    it.open(context=work(), saved_recap=saved())
    await settle()
    it.change(kind)
    await it.away()
    assert (it.calls, it.heard) == (0, "ready(reopen,saved)")


async def test_a_store_that_fails_costs_only_the_saved_recap(make: Make) -> None:
    it = make()
    it.store.broken = True
    it.open(context=work())
    await settle()
    assert it.heard == "ready(reopen,generated)"
    it.submit()
    assert await it.get() is None
