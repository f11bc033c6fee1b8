"""What is in the context, with and without replacements."""

from typing import Any

from afterturn.replay.figures import ToolFigures
from afterturn.replay.ledger import Ledger
from afterturn.replay.stream import Call, Turn


def turn(*calls: tuple[str, int], asked: str = "") -> Turn:
    return Turn("s", user_text=asked, calls=[Call(name, "bash", "", "x" * size) for name, size in calls])


def item(
    name: str, index: int, replacement: int | None = None, state: str = "condensed", ref: str | None = None
) -> dict[str, Any]:
    ref = ref or f"t{ord(name[0])}"
    found: dict[str, Any] = {"toolCallId": name, "turnIndex": index, "state": state, "shortId": ref}
    return found if replacement is None else {**found, "replacement": "r" * replacement}


def ledger() -> tuple[Ledger, dict[str, ToolFigures]]:
    tools: dict[str, ToolFigures] = {}
    return Ledger(tools), tools


def test_a_replacement_counts_from_when_it_is_ready() -> None:
    book, tools = ledger()
    one = turn(("a", 100), ("b", 50), asked="do it")
    book.count(one)
    book.add(one, 0, [item("a", 0, state="passthrough"), item("b", 0, state="passthrough")])
    assert (book.before, book.after, book.waiting_chars, book.waits) == (155, 155, 150, True)
    book.settle([item("a", 0, 10), item("b", 0, state="passthrough")])
    assert (book.before, book.after, book.waiting_chars, book.waits) == (155, 65, 0, False)
    assert (tools["bash"].raw_chars, tools["bash"].kept_chars, tools["bash"].calls) == (150, 60, 2)


def test_one_that_was_given_at_once_counts_once() -> None:
    book, _ = ledger()
    one = turn(("big", 1000))
    book.count(one)
    book.add(one, 0, [item("big", 0, 30)])
    assert book.after == 30
    book.settle([item("big", 0, 30)])
    assert book.after == 30


def test_the_same_id_twice_in_a_turn() -> None:
    book, _ = ledger()
    one = turn(("a", 100), ("a", 40))
    book.count(one)
    book.add(one, 0, [item("a", 0, state="passthrough", ref=ref) for ref in ("t1", "t2")])
    book.settle([item("a", 0, 10, ref="t1"), item("a", 0, 10, ref="t2")])
    assert book.after == 20


def test_the_same_call_again() -> None:
    """It has the ref that it had: what is decided of it is decided of both, and is not said twice."""
    book, tools = ledger()
    one = turn(("a", 100), ("b", 3))
    undecided = [item(name, 0, state="passthrough") for name in "ab"]
    for index in range(2):
        book.count(one)
        book.add(one, index, undecided)
    assert (book.waiting_turns, book.waiting_chars) == (2, 206)
    book.settle([item("a", 0, 10), item("b", 0)])
    assert (book.before, book.after, book.waiting_chars, book.waits) == (206, 26, 0, False)
    book.count(one)
    book.add(one, 2, [item("a", 2, 10), item("b", 2, state="passthrough")])
    assert (book.before, book.after, book.waits) == (309, 39, False)
    assert (tools["bash"].raw_chars, tools["bash"].kept_chars) == (309, 39)


def test_a_batch_of_several_turns() -> None:
    book, _ = ledger()
    for index, name in enumerate("ab"):
        one = turn((name, 100))
        book.count(one)
        book.add(one, index, [item(name, index, state="passthrough")])
    book.settle([item("a", 0, 10), item("b", 1, 10)])
    assert (book.before, book.after, book.waits) == (200, 20, False)


def test_what_a_compaction_took_away_saves_nothing_in_the_context() -> None:
    book, tools = ledger()
    one = turn(("a", 100))
    book.count(one)
    book.add(one, 0, [item("a", 0, state="passthrough")])
    book.compacted()
    assert (book.before, book.after) == (0, 0)
    book.settle([item("a", 0, 10)])
    assert (book.before, book.after) == (0, 0)
    assert tools["bash"].kept_chars == 10


def test_nothing_waits_for_calls_that_are_left_alone() -> None:
    book, _ = ledger()
    for index, state in enumerate(("protected", "recovered", "incomplete")):
        one = turn(("a", 10))
        book.count(one)
        book.add(one, index, [item("a", index, state=state)])
    assert not book.waits


def test_giving_up() -> None:
    book, _ = ledger()
    one = turn(("a", 100))
    book.count(one)
    book.add(one, 0, [item("a", 0, state="passthrough")])
    book.give_up()
    assert (book.after, book.waiting_chars, book.waits) == (100, 0, False)
