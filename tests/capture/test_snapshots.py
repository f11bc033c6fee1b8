"""What makes an episode the same again, and keeping it until it is captured (capture.md, 'Durability')."""

from typing import Any

import msgspec
import pytest

from afterturn.capture.snapshots import content_hash, packed, unpacked
from afterturn_protocol.capture import Episode


def episode(**more: Any) -> Episode:
    turn = {"role": "tool", "ts": 1, "meta": {"name": "x", "input": {"a": 1, "b": [{"c": 2, "d": None}]}}}
    given = {"id": "e", "sessionId": "s", "startedAt": 1, "turns": [turn], **more}
    return msgspec.convert(given, Episode)


def turns(text: Any, **meta: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "ts": 1, "content": text, **({"meta": meta} if meta else {})}]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param(turns("a", input={"x": 1, "y": 2}), turns("a", input={"y": 2, "x": 1}), True, id="order of keys"),
        pytest.param(turns("\ud83d", input={"x": 1, "y": 2}), turns("\ud83d", input={"y": 2, "x": 1}), True, id="half"),
        pytest.param(turns("a", input=[1, 2]), turns("a", input=[2, 1]), False, id="order of items"),
        pytest.param(turns("a"), turns("b"), False, id="text"),
        pytest.param(turns("\ud83d"), turns("\ud83e"), False, id="another half"),
        pytest.param(turns("a", output=None), turns("a", depth=None), True, id="null is left out"),
        pytest.param(turns("a", output=""), turns("a", depth=None), False, id="an empty output is one"),
    ],
)
def test_content_hash(one: Any, other: Any, same: bool) -> None:
    assert (content_hash(episode(turns=one)) == content_hash(episode(turns=other))) is same
    assert len(content_hash(episode(turns=one))) == 32


@pytest.mark.parametrize("more", [{"id": "f"}, {"sessionId": "t"}, {"status": "x"}, {"rTask": 0.5}, {"startedAt": 2}])
def test_every_field_counts(more: dict[str, Any]) -> None:
    assert content_hash(episode(**more)) != content_hash(episode())


@pytest.mark.parametrize("text", ["", "plain", "漢字", "\ud83d", "\x00"])
def test_what_is_packed_comes_back(text: str) -> None:
    given = episode(turns=turns(text, input={text: [text]}, output=text))
    assert unpacked(packed(given), Episode) == given


@pytest.mark.parametrize("text", ["plain", "\ud83d"])
def test_the_order_of_keys_is_kept(text: str) -> None:
    given = episode(turns=turns(text, input={"b": 1, "a": {"d": 2, "c": 3}}))
    meta = unpacked(packed(given), Episode).turns[0].meta
    assert meta is not None
    assert list(meta.input) == ["b", "a"]
    assert list(meta.input["a"]) == ["d", "c"]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"id": 5}', b"\xff"])
def test_what_was_not_packed_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        unpacked(data, Episode)
