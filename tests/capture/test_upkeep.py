"""Vectors that are made later (models.md, 'Embedders'; cases M08 and M09)."""

from collections.abc import Sequence

import pytest

from afterturn.capture.embedder import EmbeddingError
from afterturn.capture.upkeep import Filled, fill
from tests.capture.harness import FakeEmbedder
from tests.store.capture_sample import row

pytestmark = pytest.mark.anyio


class Picky(FakeEmbedder):
    """Refuses whatever it gets with "bad" in it, or all texts; is gone, or has no budget left, from some call on."""

    def __init__(self, lasts: int | None = None, *, waits: bool = False, all_texts: bool = False) -> None:
        super().__init__()
        self._word = "" if all_texts else "bad"
        self._lasts = lasts
        self._waits = waits

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        if self._lasts is not None and len(self.embedded) >= self._lasts:
            self.problem = EmbeddingError("gone", waits=self._waits)
        elif any(self._word in text for text in texts):
            self.embedded.append(list(texts))
            raise EmbeddingError("refused", retryable=False, of_text=True)
        return await super().embed(texts)


def ids(filled: Filled) -> tuple[str, str, str]:
    """made, failed, refused."""
    made = "".join(each.trace.trace_id for each in filled.made)
    return made, "".join(filled.failed), "".join(filled.refused)


@pytest.mark.parametrize(
    ("texts", "embedder", "expected", "calls"),
    [
        ("good good good", Picky(), ("abc", "", ""), 1),
        ("bad", Picky(), ("", "", "a"), 1),
        ("good bad good good", Picky(), ("acd", "", "b"), 6),
        ("bad good bad good", Picky(), ("bd", "", "ac"), 8),
        ("good good", Picky(0), ("", "ab", ""), 1),
        ("good good bad good", Picky(3), ("ab", "cd", ""), 4),
        ("good good bad good", Picky(3, waits=True), ("ab", "", ""), 4),
        ("bad bad bad bad", Picky(all_texts=True), ("", "abcd", ""), 2),
        ("bad bad bad bad", Picky(1), ("", "abcd", ""), 3),
    ],
)
async def test_a_text_that_is_refused_costs_its_own_row_only(
    texts: str, embedder: Picky, expected: tuple[str, str, str], calls: int
) -> None:
    rows = [row("abcd"[index], text) for index, text in enumerate(texts.split())]
    assert ids(await fill(rows, embedder)) == expected
    assert len(embedder.embedded) == calls


async def test_what_waits_from_the_start_has_not_failed() -> None:
    with pytest.raises(EmbeddingError) as problem:
        await fill([row("a", "good")], Picky(0, waits=True))
    assert problem.value.waits


async def test_a_failure_is_logged_once_for_what_it_costs(caplog: pytest.LogCaptureFixture) -> None:
    await fill([row("a", "good"), row("b", "bad"), row("c", "good")], Picky())
    assert [record.getMessage() for record in caplog.records] == ["not embedded, traces: 1: refused"]
