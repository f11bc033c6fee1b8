"""Which identifiers and paths of an output a later call is most likely to use."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import chain

from afterturn.condense.extract.words import words

# Only so much text is searched for names; later parts of a huge output add few new ones.
MAX_NAME_CHARS = 200_000

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{3,}")
_PATHLIKE = re.compile(r"[\w.@~+/-]{4,}")
_HEX = re.compile(r"[0-9a-f]+")
_DIGIT = re.compile(r"\d+")

# Words of programming languages and of English that name nothing.
_COMMON = words(
    "abstract assert async await bool boolean break case catch char class const constructor continue"
    " debugger declare def default defmodule defp delete double elif else elsif end enum error errors"
    " except export extends extern extra false final finally float for foreach from function global goto"
    " here http https implements implies import include inline instanceof interface internal into lambda"
    " length long match mixed module mutable namespace never none nonlocal null number object only"
    " operator optional override package pass private protected public raise readonly record register"
    " require required result return returns self short signed sizeof static string struct super switch"
    " template then this throw throws trait true type typedef typeof undefined union unless unsigned until"
    " using value values virtual void volatile when where while with yield about above after again also"
    " another any anything available because been before being below between both called cannot could"
    " current does doing done each either every example file files first following found given have having"
    " if its just last left less like line lines list made make many more most must name need needs new"
    " next none note number once other over path same should show some such than that their them then"
    " there these they those through time todo under used uses using very want were what when which while"
    " will within without would your uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t"
    " size_t ssize_t uintptr_t intptr_t ptrdiff_t char8_t char16_t char32_t wchar_t endif ifdef ifndef"
    " noexcept nullptr shared_ptr unique_ptr make_shared make_unique reinterpret_cast static_cast"
    " const_cast dynamic_cast auto typename decltype constexpr math string_view foreach println printf"
    " fprintf sprintf console stringify tostring object.keys"
)


# No budget has room for more names than these, and one for every so many chars.
_FEW_NAMES = 60
_CHARS_A_NAME = 100
_BITS = tuple(2 * count.bit_length() for count in range(256))


def identifiers(text: str) -> list[str]:
    """Every word of four or more chars that could name something in a program, in order, with repeats."""
    return _IDENTIFIER.findall(text)


def is_common(word: str) -> bool:
    """Whether a word names nothing: a keyword, a basic type, plain English, a line of underscores."""
    return word.strip("_$").lower() in _COMMON or not word.strip("_$")


def looks_random(word: str) -> bool:
    """Whether a word is more likely a hash, an id or encoded bytes than a name."""
    if len(word) < 12 or word.isalpha():
        return len(word) > 40
    return len(word) > 40 or (len(word) - len(_DIGIT.sub("", word))) * 4 > len(word)


def rank_names(
    text: str,
    *,
    defined: Collection[str] = (),
    wanted: Collection[str] = (),
    known: Collection[str] = (),
) -> list[str]:
    """Identifiers of `text`, best first: wanted by later calls, defined here, name-like in shape, often used.

    As many as could be shown of such a text; `known` ones are left out. The order depends on nothing but the
    arguments: ties keep the order of appearance.
    """
    counts = Counter(identifiers(text[:MAX_NAME_CHARS]))
    scored: list[tuple[int, int, str]] = []
    rare: list[str] = []  # words that occur once and look like any word: only when there is nothing better
    for at, word in enumerate([word for word in counts if word not in _COMMON]):
        lower = word.islower()
        shaped = "_" in word or not (lower or word.isupper() or word.istitle())
        count = counts[word]
        if not shaped and count == 1 and word not in defined and word not in wanted:
            rare.append(word)
            continue
        score = _BITS[count] if count < 256 else 18
        if shaped:
            # fooBar, FooBar, foo_bar: made up for one thing, where foo, Foo and FOO may be any word.
            score += 3 if len(word) < 12 or not looks_random(word) else -5
        if word in defined:
            score += 4
        if word in wanted:
            score += 40
        scored.append((-score, at, word))
    scored.sort()
    limit = _FEW_NAMES + len(text) // _CHARS_A_NAME
    ranked: list[str] = []
    for word in chain((word for _, _, word in scored), rare):
        if word not in known and not _names_nothing(word):
            ranked.append(word)
            if len(ranked) >= limit:
                break
    return ranked


def _names_nothing(word: str) -> bool:
    return len(word) > 64 or is_common(word) or (not word.isalpha() and _HEX.fullmatch(word) is not None)


def paths_in(lines: Iterable[str]) -> dict[str, int]:
    """Paths (anything with a slash between name characters) with how often each occurs, in order of appearance."""
    counts: dict[str, int] = {}
    for line in lines:
        if "/" not in line:
            continue
        for token in _PATHLIKE.findall(line[:600]):
            path = token.rstrip(".-+~@").lstrip("-+")
            if _is_path(path):
                counts[path] = counts.get(path, 0) + 1
    return counts


def _is_path(token: str) -> bool:
    """A path rather than two words with a slash between: rooted, or deep, or with a suffix."""
    if "/" not in token[1:] or token.startswith("//") or not any(char.isalpha() for char in token):
        return False
    return token[0] in "/.~" or token.count("/") > 1 or "." in token.rpartition("/")[2]
