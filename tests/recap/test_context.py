"""Context that is pushed, and context that is asked for (recap.md, 'Drafting')."""

import pytest
from msgspec import structs

from afterturn.misfits import InvalidInputError
from afterturn_protocol.base import Message
from afterturn_protocol.context import ContextSummary, RecapContext
from afterturn_protocol.settings import RecapSettings
from tests.recap.conftest import Make
from tests.recap.harness import OPUS, ran, said, settle, user, work

pytestmark = pytest.mark.anyio


async def test_the_context_is_asked_of_a_host_that_offers_it_and_compared_at_the_end(make: Make) -> None:
    it = make(contexts={"s": work()})
    it.model.gate.clear()
    await it.away()
    it.change()
    it.host.contexts = {"s": work(2)}
    it.model.gate.set()
    await settle()
    assert (it.calls, it.host.asked, it.events) == (1, 2, [])
    it.focus()
    await it.away()
    assert (it.calls, it.heard) == (2, "ready(away,generated)")


async def test_a_host_that_forgets_to_tell_of_a_change_is_compared_too(make: Make) -> None:
    it = make(contexts={"s": work()})
    it.model.gate.clear()
    await it.away()
    it.host.contexts = {"s": work(2)}
    it.model.gate.set()
    await settle()
    assert it.events == []


async def test_an_edit_outside_the_window_after_which_nothing_had_happened(make: Make) -> None:
    notes = [Message(role="user", content=f"note {at}", kind="custom") for at in range(30)]
    call = ran("c1", "ls", "auth.py")
    omitted = [structs.replace(each, omitted=True) for each in call]
    it = make(contexts={"s": RecapContext(messages=[user("Fix auth.py"), *call, *notes], model=OPUS)})
    it.model.gate.clear()
    await it.away()
    it.host.contexts = {"s": RecapContext(messages=[user("Fix auth.py"), *omitted, *notes], model=OPUS)}
    it.model.gate.set()
    await settle()
    assert (it.calls, it.events) == (1, [])


async def test_an_equal_revision_is_unchanged(make: Make) -> None:
    it = make(contexts={"s": work(revision=3)})
    it.model.gate.clear()
    await it.away()
    it.host.contexts = {"s": work(2, revision=3)}
    it.model.gate.set()
    await settle()
    assert it.heard == "ready(away,generated)"


async def test_a_host_that_cannot_be_asked_again_is_believed_unless_something_changed(make: Make) -> None:
    for change, heard in ((False, "ready(away,generated)"), (True, "")):
        it = make(contexts={"s": work()})
        it.model.gate.clear()
        await it.away()
        it.host.broken = True
        if change:
            it.change()
        it.model.gate.set()
        await settle()
        assert it.heard == heard


async def test_a_turn_that_starts_while_the_context_is_asked_for_costs_no_call(make: Make) -> None:
    it = make(contexts={"s": work()})
    it.host.gate.clear()
    await it.away()
    it.turn_start()
    it.host.gate.set()
    await settle()
    assert (it.host.asked, it.calls) == (1, 0)


async def test_what_was_pushed_holds_until_something_changes(make: Make) -> None:
    it = make(settings=RecapSettings(explain=True))
    it.turn_end(context=work(revision=4))
    it.change(revision=4)  # of what was pushed
    await it.away()
    assert it.calls == 1
    it.focus()
    it.change(revision=5)
    await it.away()
    assert it.heard == "ready(away,generated) skipped(away,noContext)"


async def test_what_was_pushed_is_preferred_to_asking(make: Make) -> None:
    it = make(contexts={"s": work(2)})
    it.turn_end(context=work())
    await it.away()
    assert (it.host.asked, it.calls) == (0, 1)
    it.focus()
    it.turn_start()
    it.turn_end()
    await it.away()
    assert (it.host.asked, it.calls) == (2, 2)


async def test_the_hosts_first_request_and_summary_win(make: Make) -> None:
    it = make()
    context = RecapContext(
        messages=[*ran("c1", "ls", "auth.py"), said("Looking at auth.py.")],
        first_user_request="Port the billing service",
        summary=ContextSummary(kind="compaction", text="The invoices table was split."),
        model=OPUS,
    )
    await it.now(context=context)
    prompt = it.model.asked[0]["messages"][0].content
    assert "Port the billing service" in prompt
    assert "The invoices table was split." in prompt


async def test_a_change_ends_a_draft_of_pushed_context(make: Make) -> None:
    it = make()
    it.model.gate.clear()
    it.turn_end(context=work())
    await it.away()
    it.change()
    await settle()
    it.model.gate.set()
    await settle()
    assert (it.model.finished, it.events) == (0, [])


async def test_another_branch_is_another_session_to_recap(make: Make) -> None:
    it = make(contexts={"s": work()})
    await it.away()
    it.focus()
    it.change("navigate")
    assert it.heard == "ready(away,generated) cleared(navigate)"
    await it.away()
    assert it.calls == 2, "what was drafted for the other branch says nothing of this one"


async def test_a_draft_of_another_branch_never_lands(make: Make) -> None:
    it = make(contexts={"s": work()})
    it.model.gate.clear()
    await it.away()
    it.change("navigate")
    it.model.gate.set()
    await settle()
    assert (it.model.finished, it.events) == (0, [])


async def test_a_draft_that_is_over_before_it_began_asks_for_nothing(make: Make) -> None:
    it = make(contexts={"s": work()})
    it.open()
    it.turn_start()
    await settle()
    assert (it.host.asked, it.calls) == (0, 0)


MISFITS = {
    "no type": ({"text": "x"}, "", "type"),
    "a type that is none": ({"type": 7}, ".type", "string"),
    "text without text": ({"type": "text"}, "", "text"),
    "text that is none": ({"type": "text", "text": 7}, ".text", "string"),
    "an image without its type": ({"type": "image", "data": "AAAA"}, "", "mimeType"),
}


@pytest.mark.parametrize(("block", "inner", "expected"), MISFITS.values(), ids=MISFITS)
@pytest.mark.parametrize("tell", ["open", "turn_end", "now"])
async def test_a_block_that_is_none_is_refused_and_nothing_is_taken_in(
    make: Make, tell: str, block: dict[str, object], inner: str, expected: str
) -> None:
    it = make()
    it.turn_end(context=work(revision=7))
    it.blur()
    odd = Message(role="assistant", content=[{"type": "text", "text": "x"}, block])
    context = RecapContext(messages=[user("Fix auth.py"), odd], revision=8)
    with pytest.raises(InvalidInputError) as refused:
        await it.now(context=context) if tell == "now" else getattr(it, tell)(context=context)
    assert (refused.value.path, refused.value.expected) == (f"$.context.messages[1].content[1]{inner}", expected)
    assert (it.calls, it.events) == (0, [])
    await it.clock.wait(90)
    (recap,) = it.recaps()
    assert (recap.revision, recap.trigger) == (7, "away")


@pytest.mark.parametrize("tell", ["open", "turn_end"])
async def test_a_session_that_is_refused_is_not_there(make: Make, tell: str) -> None:
    it = make()
    with pytest.raises(InvalidInputError):
        getattr(it, tell)(context=RecapContext(messages=[user("a"), Message(role="user", content=[{"type": "text"}])]))
    it.blur()
    await it.clock.wait(1000)
    assert (it.calls, it.events) == (0, [])
