"""The parts of the quality bench on inputs small enough to count by hand, and the whole on a scripted condenser."""

from typing import Any

import pytest

from afterturn.replay.sessions import Session
from afterturn.replay.stream import Call, Turn
from bench.quality import batches as bench_batches
from bench.quality.batches import BenchSession
from bench.quality.facts import Fact, Place, count_visible, hand_labelled, plain
from bench.quality.figures import Figures, Share, total
from bench.quality.floors import FLOORS
from bench.quality.future_use import needs, still_visible
from bench.quality.grounding import Segment, made_up, misplaced, segments, wrong_refs
from bench.quality.labels import second_extractor
from bench.quality.measure import Measurement
from bench.quality.report import table
from bench.quality.tokens import flat, tokens


def call(result: str, args: Any = None, name: str = "bash", *, error: bool = False) -> Call:
    return Call("c1", name, args or {}, result, error)


def turn(*calls: Call, user: str | None = None) -> Turn:
    return Turn("s", user_text=user, timestamp=5, calls=list(calls))


@pytest.mark.parametrize(
    ("kind", "fact", "text", "seen"),
    [
        ("error", "no such file", "x: no \x1b[31msuch\x1b[0m\n file", True),
        ("error", "no such file", "no such dir", False),
        ("exit", "1", "exit code 1", True),
        ("exit", "1", "Process exited with code 1", True),
        ("exit", "1", "<returncode>1</returncode>", True),
        ("exit", "1", "returned status: 1,", True),
        ("exit", "1", "exit 12", False),
        ("exit", "1", "exit code 0, 1 warning", False),
        ("exit", "1", "1 failed", False),
        ("location", "src/a.py:42", "a.py:42:7 E501", True),
        ("location", "src/a.py:42", "src/a.py(42,7)", True),
        ("location", "src/a.py:42", 'File "/x/src/a.py", line 42, in f', True),
        ("location", "src/a.py:42", "a.py\nL42: x", True),
        ("location", "src/a.py:42", "a.py:420", False),
        ("location", "src/a.py:42", "b.py:42", False),
        ("totals", "3 failed", "= 3 failed, 12 passed =", True),
    ],
)
def test_when_a_fact_is_visible(kind: str, fact: str, text: str, seen: bool) -> None:
    assert count_visible([Fact(kind, fact)], text) == [seen]


def test_plain_drops_escapes_and_folds_blanks() -> None:
    assert plain("\x1b[1m a \x07\r\n\tb\x1b]0;title\x07") == "a b"


@pytest.mark.parametrize(
    ("name", "facts", "calls"), [("facts", 150, 60), ("facts_held_out", 100, 40), ("facts_fresh", 130, 38)]
)
def test_every_hand_label_is_complete(name: str, facts: int, calls: int) -> None:
    labelled = hand_labelled(name)
    assert sum(len(of_call) for of_call in labelled.values()) >= facts
    assert len(labelled) >= calls
    kinds = {fact.kind for of_call in labelled.values() for fact in of_call}
    assert kinds == {"error", "exit", "totals", "location", "changed", "path", "content"}


@pytest.mark.parametrize(
    ("made", "facts"),
    [
        (call("a.ts(3,4): error TS2304: Cannot find name 'x'.", {"command": "npx tsc"}),
         [("error", "error TS2304: Cannot find name 'x'."), ("location", "a.ts:3")]),
        (call("Exit code 2\nboom failed", {"command": "make"}, error=True),
         [("exit", "2"), ("error", "boom failed")]),
        (call("ok\n== 3 failed, 12 passed in 0.1s ==", {"command": "cd x && pytest"}),
         [("totals", "3 failed"), ("totals", "12 passed")]),
        (call('Traceback\n  File "/a/b.py", line 9, in f\nValueError: bad', {"command": "python b.py"}),
         [("error", "ValueError: bad"), ("location", "/a/b.py:9")]),
        (call("10%\rerror: no space\n 80 \u2502 - error: old", {"command": "make"}), [("error", "error: no space")]),
        (call("diff --git a/x.c b/x.c\n+1", {"command": "git diff"}), [("changed", "x.c")]),
        (call("src/a.c:5:int x;\nsrc/a.c:9:int y;", {"command": "grep -rn int src"}),
         [("location", "src/a.c:5"), ("location", "src/a.c:9")]),
        (call("ok", {"file_path": "/a/b.py", "new_string": "x"}, "Edit"), [("changed", "/a/b.py")]),
        (call("error: it is only text", {"path": "log.txt"}, "read"), []),
        (call("error: it is only text", {"command": "cat log.txt | head"}), []),
    ],
)  # fmt: skip
def test_second_extractor(made: Call, facts: list[tuple[str, str]]) -> None:
    assert [tuple(fact) for fact in second_extractor(made)] == facts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the word Foo is 42", set()),
        ("fooBar foo_bar foo.bar. abc1 ABC", {"fooBar", "foo_bar", "foo.bar", "abc1"}),
        ("see src/app/main.ts:12", {"src/app/main.ts", "main.ts"}),
        ("/usr/bin/env", {"/usr/bin/env"}),
    ],
)
def test_tokens(text: str, found: set[str]) -> None:
    assert tokens(text) == found


def test_flat_names_and_values() -> None:
    assert flat({"a": [1, None, {"b": "c"}]}).split() == ["a", "1", "b", "c"]


def test_needs_are_new_in_the_output_and_used_later() -> None:
    session = Session(
        "s",
        [
            turn(call("known_one new_one own_arg edit_only never_used", {"q": "own_arg"}), user="look at known_one"),
            turn(call("new_one later_one", {"command": "known_one new_one own_arg"})),
            turn(call("", {"path": "later_one", "new_string": "edit_only"})),
        ],
    )
    needed = needs(session)
    assert needed[0].used == {"new_one", "edit_only"}
    assert needed[0].aimed == {"new_one"}
    assert needed[1].used == {"later_one"}
    assert needed[2].used == frozenset()
    assert still_visible(needed[0].used, "- saw `new_one`, not xedit_only") == 1


def test_floors() -> None:
    failed = call("start\nError: boom\n" + "x" * 500, error=True)
    shown = {name: floor(failed) for name, floor in FLOORS.items()}
    assert "boom" not in shown["stub"]
    assert "Error: boom" in shown["error bullet"]
    assert len(shown["head+tail 190"]) == 193


def test_segments_belong_to_the_ref_they_stand_on() -> None:
    body = "a preface\n- `t1` first\n  more\n- `t2` second\n- `t2` again"
    assert segments(body) == [Segment("t1", "first\n  more"), Segment("t2", "second\nagain")]


SOURCE = call("wrote src/a.py in 1234 ms, commit 0abc123", {"command": 'grep "needle in hay"'})


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("- `t1` bash: src/a.py, 1,234 ms, 0abc123, \"needle in hay\" (3745 lines)", []),
        ("- src/b.py", ["src/b.py"]),
        ("- 5678 ms", ["5678"]),
        ("- deadbee1", ["deadbee1"]),
        ('- "another needle"', ["another needle"]),
        ('- "needle … hay"', []),
        ("- see `t9`", ["t9"]),
        ("- 12 of them", []),
    ],
)  # fmt: skip
def test_made_up(text: str, wrong: list[str]) -> None:
    assert made_up(text, SOURCE, ["t1"]) == wrong


GROUPED = call("src/a.c:\n  Line 12: x\n  Line 30: y\n\nsrc/b.c:\n  Line 7: z", {"pattern": "x"})
FRAMES = call('  File "/x/a.py", line 12, in f\nb.ts(3,14): error TS1: no', {"command": "make"})
ONE_FILE = call("12:x\n30:y", {"command": "grep -n x src/a.c"})


@pytest.mark.parametrize(
    ("source", "text", "wrong"),
    [
        (GROUPED, "at: src/a.c: 12, 30; src/b.c: 7", []),
        (GROUPED, "at: src/a.c: 12, 7; src/b.c: 7", ["a.c:7"]),
        (GROUPED, "at: src/b.c:12", ["b.c:12"]),
        (FRAMES, "at: /x/a.py:12; b.ts(3,14)", []),
        (FRAMES, "at: b.ts(12,1)", ["b.ts:12"]),
        (ONE_FILE, "at: src/a.c: 12, 30", []),
        (ONE_FILE, "at: src/a.c: 12-31", ["a.c:31"]),
    ],
)
def test_misplaced(source: Call, text: str, wrong: list[str]) -> None:
    assert misplaced(text, source) == wrong


def answer(batch: dict[str, Any], first: int, texts: list[str]) -> dict[str, Any]:
    """A result as the server would give it, with these bullets."""
    calls = batch["toolCalls"]
    ids = [f"t{first + at}" for at in range(len(calls))]
    bullets = [f"- `{short}` {text}" for short, text in zip(ids, texts, strict=True)]
    footer = "\n\n---\n**Summarized tool refs**: " + ", ".join(f"`{short}`" for short in ids) + "\nUse it."
    summary = "\n".join(bullets) + footer
    items = [
        {"index": at, "toolCallId": made["toolCallId"], "shortId": short, "state": "condensed", "replacement": bullet}
        for at, (made, short, bullet) in enumerate(zip(calls, ids, bullets, strict=True))
    ]
    refs = [{"shortId": short, "toolCallId": made["toolCallId"]} for short, made in zip(ids, calls, strict=True)]
    raw = sum(len(made["resultText"]) for made in calls)
    return {
        "outcome": "summarized", "summaryText": summary, "refs": refs, "items": items,
        "rawChars": raw, "summaryChars": len(summary),
    }  # fmt: skip


BATCH = {
    "toolCalls": [{"toolCallId": "a", "resultText": "in src/a.py"}, {"toolCallId": "b", "resultText": "in src/b.py"}]
}
CALLS = [Call("a", "read", {}, "in src/a.py"), Call("b", "read", {}, "in src/b.py")]


@pytest.mark.parametrize(
    ("texts", "wrong"),
    [(["src/a.py", "src/b.py"], []), (["src/b.py", "src/a.py"], ["t1", "t2"]), (["src/a.py", "nothing"], [])],
)
def test_wrong_refs(texts: list[str], wrong: list[str]) -> None:
    assert wrong_refs(answer(BATCH, 1, texts), CALLS) == wrong


def test_a_footer_that_is_not_the_refs_is_wrong() -> None:
    result = answer(BATCH, 1, ["src/a.py", "src/b.py"])
    result["summaryText"] = result["summaryText"].replace("`t1`, `t2`", "`t2`, `t1`")
    assert wrong_refs(result, CALLS) == ["footer"]


class Scripted:
    """Condenses by a fixed text for each call; forgets or changes what it is told to."""

    def __init__(self, text: str, *, forgets: bool = False, unstable: bool = False) -> None:
        self._text, self._forgets, self._unstable = text, forgets, unstable
        self._originals: dict[tuple[str, str], str] = {}
        self._first: dict[str, int] = {}

    def condense_batch(self, session_id: str, batch: dict[str, Any]) -> dict[str, Any]:
        first = self._first.setdefault(f"{session_id} {batch['turnIndex']}", len(self._originals) + 1)
        result = answer(batch, first, [self._text] * len(batch["toolCalls"]))
        for item, made in zip(result["items"], batch["toolCalls"], strict=True):
            self._originals[session_id, item["shortId"]] = made["resultText"]
        return result

    def resolve(self, session_id: str, refs: list[str]) -> dict[str, str]:
        return {} if self._forgets else {ref: self._originals[session_id, ref] for ref in refs}

    def kill_and_restart(self) -> None:
        self._text += " again" if self._unstable else ""

    def close(self) -> None: ...


def measured(condenser: Scripted, result: str = "Error: boom in src/a.py\n" + "x" * 4000) -> Figures:
    session = Session("s", [turn(call(result, {"command": "make"}), user="go")])
    place = Place("made/up", 0, 0, 0)
    measurement = Measurement({"hand": {place: [Fact("error", "Error: boom"), Fact("path", "src/a.py")]}})
    measurement.run(condenser, [BenchSession("s", "made/up", "made", 0, session)])
    measurement.after_restart(condenser)
    return measurement.figures["made"]


def test_the_whole_on_a_good_condenser() -> None:
    figures = measured(Scripted("Error: boom"))
    assert figures.broken == []
    assert (figures.calls, figures.batches, figures.big) == (1, 1, 1)
    assert figures.recovery == Share(1, 1)
    assert figures.stability == Share(1, 1)
    assert figures.refs == Share(1, 1)
    assert figures.ours.hand == Share(1, 1)
    assert figures.ours.other == Share(0, 1)
    assert figures.ours.size == Share(len("- `t1` Error: boom"), 4024)
    assert [finding["fact"] for finding in figures.findings if finding.get("labels") == "hand"] == ["src/a.py"]


@pytest.mark.parametrize(
    ("condenser", "broken"),
    [
        (Scripted("Error: boom", forgets=True), ["recovery 0/1"]),
        (Scripted("Error: boom", unstable=True), ["stability 0/1"]),
        (Scripted("src/invented.py"), ["ref correctness 0/1", "fabrication 1"]),
        (Scripted("x" * 5000), ["growth 1"]),
    ],
)
def test_what_breaks_a_hard_figure(condenser: Scripted, broken: list[str]) -> None:
    assert measured(condenser).broken == broken


def test_the_table_has_a_row_for_each_harness_and_all() -> None:
    figures = measured(Scripted("Error: boom"))
    lines = table([figures], total([figures])).split("\n")
    assert lines[1].split()[:2] == ["made", "1"]
    assert lines[2].split()[:2] == ["all", "1"]
    assert any(line.startswith("floor: stub") for line in lines)


def test_batches_leave_out_what_a_call_does_not_have() -> None:
    blocks = [{"type": "image", "mimeType": "image/png", "data": "x"}]
    made = [Call("a", "read", {"p": 1}, "text", True, 9), Call("b", "see", None, blocks), Call("c", "bash", "raw")]
    turns = [turn(*made, user="hi"), Turn("s", assistant_text="only words", timestamp=6)]
    (batch,) = bench_batches.batches(Session("s", turns))
    assert batch.wire == {
        "turnIndex": 0,
        "timestamp": 5,
        "userText": "hi",
        "toolCalls": [
            {
                "toolCallId": "a",
                "toolName": "read",
                "args": {"p": 1},
                "resultText": "text",
                "isError": True,
                "resultTimestamp": 9,
            },
            {"toolCallId": "b", "toolName": "see", "args": None, "content": blocks},
            {"toolCallId": "c", "toolName": "bash", "args": "raw"},
        ],
    }
