"""Tools named after a secret, or in a way that labels cannot hold (condense.md, 'Replacements' and 'Inline refs')."""

import re

import pytest

from afterturn.completion import CompleterError
from afterturn.condense.labels import label
from afterturn.condense.ports import Store
from afterturn.redact import Redactor
from tests.condense.harness import Answer, FakeCompleter, Harness, batch, big, call

pytestmark = pytest.mark.anyio

NAMES = ["SECRET1", "x SECRET1", "tool_SECRET1", "api_key=SECRET1", "a]SECRET1]", "SECRET1\nSECRET2", "[[1:SECRET1]]"]


def echoing(prompt: str) -> Answer:
    """A model that copies every label it is shown, as it is told to."""
    labels = re.findall(r"^(\[\[[^\n]*?\]\])(?= Tool: )", prompt, re.MULTILINE)
    return "\n".join(f"- {each} did its work" for each in labels)


@pytest.mark.parametrize("name", NAMES)
async def test_a_secret_name_reaches_neither_summary_nor_prompt(store: Store, name: str) -> None:
    one = batch(call(name, big("a"), tool_call_id="id"), call("bash", big("b")))
    plain = await Harness(store).summarize(one)
    completer = FakeCompleter(echoing)
    asked = await Harness(store, completer).summarize(one, session="asked")
    down = FakeCompleter(CompleterError("provider_error", "down", retryable=True))
    fallen = await Harness(store, down).summarize(one, session="fallen")
    turned = await Harness(store).turn_end(one, session="turned", final=True)
    plans = [await Harness(store).plan(session) for session in ("s", "asked", "fallen", "turned")]
    answers = [each.summary_text for each in (plain, asked, fallen)]
    answers += [item.replacement for each in (plain, asked, fallen, turned) for item in each.items]
    assert "SECRET" not in repr((answers, plans, completer.prompts, down.prompts))
    assert (plain.source, asked.source, fallen.source) == ("extractive", "model", "extractive")
    assert [warning.message.rpartition(" ")[2] for warning in plain.warnings] == [str(name.count("SECRET"))]


@pytest.mark.parametrize("name", [*NAMES, "a]b", "a]]b", "a[b]", " pad ", "a\nb", "a\u2028b", "", "]"])
async def test_a_model_that_copies_the_label_keeps_the_ref(store: Store, name: str) -> None:
    harness = Harness(store, FakeCompleter(echoing))
    result = await harness.summarize(batch(call(name, big("a")), call("bash", big("b"))))
    assert (result.summary_text or "").split("\n\n---")[0] == "- `t1` did its work\n- `t2` did its work"


async def test_the_host_s_own_name_goes_on_to_count(store: Store) -> None:
    """Two secrets that look the same once they are hidden are two tools; settings name the one that is meant."""
    harness = Harness(store)
    same_output = [call(name, big("a"), tool_call_id=name) for name in ("SECRET1", "SECRET2", "SECRET1")]
    result = await harness.summarize(batch(*same_output))
    assert [item.state for item in result.items[:2]] == ["condensed", "condensed"]
    again = batch(call("SECRET1", big("a"), tool_call_id="again"), call("SECRET3", big("c")))
    result = await harness.summarize(again, protected_tools=["SECRET3"])
    assert [(item.state, item.duplicate_of) for item in result.items] == [("duplicate", "t1"), ("protected", None)]
    (record,) = (await harness.resolve("t1")).records
    assert record.tool_name == "SECRET1"


async def test_raw_off_keeps_no_name_with_a_secret(store: Store) -> None:
    harness = Harness(store, keep_raw=False)
    one = batch(call("SECRET1", big("a"), tool_call_id="one"), call("SECRET2", None, tool_call_id="two"))
    await harness.turn_end(one)
    (waiting,) = await store.turns.pending("s")
    (stored,) = await store.archive.load("s", [1])
    assert "SECRET" not in repr((stored, waiting))
    await harness.flush()
    (result,) = await harness.settle()
    assert [item.state for item in result.items] == ["condensed", "incomplete"]


TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz" + "0123456789"


@pytest.mark.parametrize(
    "name",
    [
        TOKEN,
        f"x {TOKEN}",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "api_key=zzzzYYYYxxxx1111",
        "password: hunter2hunter2",
        "curl -u a:bcdefgh12",
        '{"api_key":"zzzzYYYY1111"}',
        "postgres://u:secretpw@h/db",
        "a]api_key=zzzzYYYY1111]b",
    ],
    ids=range(9),
)
def test_the_label_of_a_redacted_name_passes_redaction_unchanged(name: str) -> None:
    """Prompts are redacted once more on their way out; a label that changes there would be no call's label."""

    def hide(text: str) -> str:
        return Redactor().redact(text)[0]

    safe = hide(name)
    assert safe != name
    assert hide(safe) == safe
    record = f"{label(1, safe)} Tool: {safe}(null)\nResult (OK): done"
    assert hide(record) == record
