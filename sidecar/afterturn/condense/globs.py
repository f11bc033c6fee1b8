r"""Globs for whole paths and names, matched in a time that grows with text times pattern, whatever they are.

A regex of several stars goes back and forth for hours over a text that nearly fits; both may come from a model.
"""

from collections.abc import Sequence

_ONE, _STAR, _ACROSS, _FOLDERS = "?", "*", "**", "**/"


class PathGlob:
    r"""A glob for whole paths: `*` and `?` stay within a segment, `**` goes across, `**/` is also no folder at all.

    `\` reads as `/`. Case counts. Everything else stands for itself.
    """

    __slots__ = ("_head", "_tail", "_tokens")

    def __init__(self, glob: str) -> None:
        self._tokens = _tokens(glob.replace("\\", "/"))
        literals = [len(token) == 1 and token not in (_ONE, _STAR) for token in self._tokens]
        wild = literals.index(False) if False in literals else len(literals)
        last = len(literals) - literals[::-1].index(False) if False in literals else 0
        self._head = "".join(self._tokens[:wild])
        self._tail = "".join(self._tokens[last:])

    def matches(self, path: str) -> bool:
        """Whether the whole of `path` fits; a `\\` in it reads as `/`."""
        path = path.replace("\\", "/")
        # Hardly any path fits any glob, and most do not even end as it does.
        return path.startswith(self._head) and path.endswith(self._tail) and _fits(self._tokens, path)


class NameGlob:
    """A pattern for whole names, in which `*` is any text at all and everything else stands for itself."""

    __slots__ = ("_head", "_inner", "_tail")

    def __init__(self, pattern: str) -> None:
        """pattern: with at least one `*`."""
        self._head, *self._inner, self._tail = pattern.split("*")

    def matches(self, name: str) -> bool:
        """Whether the whole of `name` fits."""
        end = len(name) - len(self._tail)
        if end < len(self._head) or not (name.startswith(self._head) and name.endswith(self._tail)):
            return False
        at = len(self._head)
        # The first place for each piece leaves the most room for those after it.
        for piece in self._inner:
            at = name.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True


def _tokens(glob: str) -> list[str]:
    """The glob's parts: `**/`, `**`, `*`, `?`, or one char that stands for itself."""
    tokens: list[str] = []
    for index, piece in enumerate(glob.split(_ACROSS)):
        if index:
            tokens.append(_FOLDERS if piece.startswith("/") else _ACROSS)
        tokens += piece[1:] if index and piece.startswith("/") else piece
    return tokens


def _fits(tokens: Sequence[str], text: str) -> bool:
    """One step for each token: bit N of `reached` says that the tokens so far can stand for the first N chars."""
    everywhere = (2 << len(text)) - 1
    places = {token: _places(text, token) for token in {*tokens, "/"} if len(token) == 1}
    slashes = places["/"]
    inside = ~slashes & (everywhere >> 1)
    reached = 1
    for token in tokens:
        behind = everywhere & -(reached & -reached)  # the first place reached, and all after it
        if token == _ACROSS:
            reached = behind
        elif token == _FOLDERS:
            reached |= (behind & slashes) << 1
        elif token == _STAR:
            # Added to a run of ones, a bit in it is carried to the place behind the run, clearing those it passes.
            reached |= ((reached & inside) + inside) ^ inside
        else:
            reached = (reached & (inside if token == _ONE else places[token])) << 1
        if not reached:
            return False
    return bool(reached >> len(text))


def _places(text: str, char: str) -> int:
    """Bit N says that char N of the text is `char`."""
    between = ["0" * len(piece) for piece in text.split(char)]
    return int("0" + "1".join(between)[::-1], 2)
