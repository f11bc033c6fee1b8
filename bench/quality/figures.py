"""The figures of one harness, or of all."""

from typing import Any

import msgspec


class Share(msgspec.Struct):
    """A part of a whole, added up."""

    part: int = 0
    whole: int = 0

    def add(self, part: int, whole: int) -> None:
        self.part += part
        self.whole += whole

    @property
    def value(self) -> float | None:
        """Between 0 and 1; None where there was nothing to count."""
        return self.part / self.whole if self.whole else None


class Kept(msgspec.Struct):
    """What one way of shortening keeps: size, facts, and what later calls need."""

    size: Share = msgspec.field(default_factory=Share)
    """Chars in place of results / chars of results, in batches of at least 3,200 chars."""
    hand: Share = msgspec.field(default_factory=Share)
    """Facts labelled by hand that are visible, in summarised batches; like the next three, of the kinds `RECALLED`."""
    held_out: Share = msgspec.field(default_factory=Share)
    """Facts labelled by hand after the extractor was made."""
    fresh: Share = msgspec.field(default_factory=Share)
    """Facts labelled by hand before the misses of the held-out ones were mended."""
    dev: Share = msgspec.field(default_factory=Share)
    """Facts labelled by hand to be mended on."""
    unseen: Share = msgspec.field(default_factory=Share)
    """Facts labelled by hand of which no miss was mended."""
    second: Share = msgspec.field(default_factory=Share)
    """Facts of the second extractor that are visible, in summarised batches."""
    other: Share = msgspec.field(default_factory=Share)
    """Paths and contents labelled by hand, of all sets."""
    used: Share = msgspec.field(default_factory=Share)
    """Tokens that later arguments use, in summarised batches of at least 3,200 chars."""
    aimed: Share = msgspec.field(default_factory=Share)
    """The same without the bodies of edits."""


class Figures(msgspec.Struct):
    """All figures of one harness (evaluation.md, 'Quality'); the first five shares must be whole, the counts 0."""

    harness: str
    calls: int = 0
    batches: int = 0
    big: int = 0
    outcomes: dict[str, int] = msgspec.field(default_factory=dict)
    recovery: Share = msgspec.field(default_factory=Share)
    refs: Share = msgspec.field(default_factory=Share)
    stability: Share = msgspec.field(default_factory=Share)
    fabricated: int = 0
    grown: int = 0
    ours: Kept = msgspec.field(default_factory=Kept)
    summary_size: Share = msgspec.field(default_factory=Share)
    """Chars of `summaryText` / chars it stands for, in summarised batches of at least 3,200 chars."""
    by_kind: dict[str, Share] = msgspec.field(default_factory=dict)
    floors: dict[str, Kept] = msgspec.field(default_factory=dict)
    findings: list[dict[str, Any]] = msgspec.field(default_factory=list)
    """What went wrong or was lost, each with its place, for whoever wants to make it better."""

    @property
    def broken(self) -> list[str]:
        """The hard figures that are broken, in words."""
        whole = {"recovery": self.recovery, "ref correctness": self.refs, "stability": self.stability}
        broken = [f"{name} {share.part}/{share.whole}" for name, share in whole.items() if share.part != share.whole]
        if self.fabricated:
            broken.append(f"fabrication {self.fabricated}")
        if self.grown:
            broken.append(f"growth {self.grown}")
        return broken


def total(parts: list[Figures]) -> Figures:
    """All harnesses together; findings stay where they are."""
    whole = Figures("all")
    for part in parts:
        whole.calls += part.calls
        whole.batches += part.batches
        whole.big += part.big
        whole.fabricated += part.fabricated
        whole.grown += part.grown
        for name, count in part.outcomes.items():
            whole.outcomes[name] = whole.outcomes.get(name, 0) + count
        for name in ("recovery", "refs", "stability", "summary_size"):
            _join(getattr(whole, name), getattr(part, name))
        _join_kept(whole.ours, part.ours)
        for kind, share in part.by_kind.items():
            _join(whole.by_kind.setdefault(kind, Share()), share)
        for name, kept in part.floors.items():
            _join_kept(whole.floors.setdefault(name, Kept()), kept)
    return whole


def _join(into: Share, share: Share) -> None:
    into.add(share.part, share.whole)


def _join_kept(into: Kept, kept: Kept) -> None:
    for name in ("size", "hand", "held_out", "fresh", "dev", "unseen", "second", "other", "used", "aimed"):
        _join(getattr(into, name), getattr(kept, name))
