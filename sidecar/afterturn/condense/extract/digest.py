"""What an extractor found in one call, in order of value, before any budget is applied."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

_A_FEW = 3


class Group(msgspec.Struct):
    """Pieces of one sort under a heading word, best first; or how to find them, if there is room for them.

    `order`: where each piece is shown once chosen, if not by value. `share`: how much of the room that is left the
    group may take, in percent. `cut`: a piece that does not fit may be shortened (prose, not names or paths).
    `bare`: the pieces are identifiers. `safe`: they are places or the like. Either has nothing that could be taken for
    syntax or for an order.
    """

    heading: str
    pieces: Iterable[str] | Callable[[], Iterable[str]]
    separator: str = ", "
    order: list[int] | None = None
    share: int = 100
    cut: bool = False
    bare: bool = False
    safe: bool = False

    def found(self) -> Iterable[str]:
        return self.pieces() if callable(self.pieces) else self.pieces


class Digest(msgspec.Struct):
    """The parts of a call's bullets.

    `subject`: the key argument. `outcome`: how it ended, in short phrases. `facts`: what must not be lost (errors,
    totals, places, changed paths). `names`: identifiers, paths and lines that later calls may want.
    `problems`: how many errors, failed tests and changed paths there are; a result full of them is given more room.
    """

    subject: str = ""
    outcome: list[str] = []
    facts: list[Group] = []
    names: list[Group] = []
    problems: int = 0

    def count_lines(self, lines: Sequence[object]) -> None:
        """Say how many lines there are, in the form of `COUNT_PATTERN`, if there are too many to see at once."""
        count = len(lines) - (1 if lines and lines[-1] == "" else 0)
        if count > _A_FEW:
            self.outcome.append(f"({count} lines)")
