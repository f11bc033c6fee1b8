"""Which identifiers and paths of an output a later call is most likely to use."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from afterturn.condense.extract.words import words

# Only so much text is searched for names; what is behind adds few new ones, and no budget has room for them.
MAX_NAME_CHARS = 40_000

_PATHLIKE = re.compile(r"[\w.@~+/-]{4,}")
_HEX = re.compile(r"[0-9a-f]+")
_DIGIT = re.compile(r"\d+")
_BLANK = re.compile(r"\s")
_NO_LETTERS = "0123456789_./@~+-"
# A name with what it is of.
_CHAIN = re.compile(r"[A-Za-z_]\w{2,}(?:\.[A-Za-z_]\w+)*")
# Lines before and after the one that was asked for.
_NEAR = 4
_LONG_PATH = 300
_LONGEST_NAME = 64

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


_BITS = tuple(2 * count.bit_length() for count in range(256))
# The score of a shaped word that occurs once.
_SHAPED_ONCE = _BITS[1] + 3
_TO_BLANKS = bytes(code if (chr(code).isalnum() and code < 128) or chr(code) in "_$" else 32 for code in range(256))


def tokens(text: str) -> list[str]:
    """The runs of word chars of `text`, of any length, digits first too, in order, with repeats.

    Translating bytes and splitting at blanks is four times as fast as any pattern.
    """
    return text.encode("utf-8", "surrogatepass").translate(_TO_BLANKS).decode("ascii").split()


def count_tokens(text: str) -> dict[str, int]:
    """How often each token occurs in what is read of `text` for names: the beginning, and the end of a long one."""
    if len(text) > MAX_NAME_CHARS:
        text = text[: MAX_NAME_CHARS * 3 // 4] + "\n" + text[-MAX_NAME_CHARS // 4 :]
    return Counter(tokens(text))


def is_common(word: str) -> bool:
    """Whether a word names nothing: a keyword, a basic type, plain English, a line of underscores."""
    bare = word.strip("_$")
    return not bare or bare.lower() in _COMMON


def looks_random(word: str) -> bool:
    """Whether a word is more likely a hash, an id or encoded bytes than a name."""
    if len(word) < 12 or word.replace("_", "").isalpha():
        return len(word) > 40
    return len(word) > 40 or (len(word) - len(_DIGIT.sub("", word))) * 4 > len(word)


def names_of(text: str, wanted: Collection[str], known: Collection[str]) -> Iterator[str]:
    """Identifiers of `text` that are not `known`, best first, see `by_score`; each is looked at when asked for."""
    return naming(by_score(count_tokens(text), wanted=wanted), known)


def names_near(lines: Sequence[str], at: int) -> Iterator[str]:
    """What the line with the index `at` names, and then the lines around it: in full, as `clock.now` is."""
    for index in sorted(range(max(0, at - _NEAR), min(len(lines), at + _NEAR + 1)), key=lambda index: abs(index - at)):
        for name in _CHAIN.findall(lines[index][:_LONG_PATH]):
            if len(name) <= _LONGEST_NAME and ("." in name or (_is_shaped(name) and not is_common(name))):
                yield name


def chains_of(lines: Iterable[str], words: Collection[str]) -> Iterator[str]:
    """The names with a dot in them that end in one of the words: what these are of."""
    for line in lines:
        for name in _CHAIN.findall(line[:_LONG_PATH]):
            if len(name) <= _LONGEST_NAME and "." in name and name.rpartition(".")[2] in words:
                yield name


def naming(ranked: Iterable[str], known: Collection[str]) -> Iterator[str]:
    """Those of the words that name something and are not known."""
    for word in ranked:
        if word in known or len(word) > _LONGEST_NAME:
            continue
        if word.isalpha():
            names = word.lower() not in _COMMON
        elif "_" in word:
            names = not word[0].isdigit() and not is_common(word)
        else:
            names = not word[0].isdigit() and _HEX.fullmatch(word) is None and not is_common(word)
        if names:
            yield word


def by_score(
    counts: Mapping[str, int], *, defined: Collection[str] = (), wanted: Collection[str] = ()
) -> Iterator[str]:
    """Tokens, best first: wanted by later calls, defined here, name-like in shape, often used.

    The order depends on nothing but the arguments: ties keep the order of appearance, but for words that occur once,
    which come after. Those are most of a text, and few of them are ever asked for. Words that name nothing are still
    among the tokens, see `naming`.
    """
    found: dict[int, list[str]] = {}
    once: list[str] = []
    wanted = counts.keys() & wanted
    special = {*defined, *wanted}
    for word, count in counts.items():
        if count == 1 and word not in special:
            once.append(word)
            continue
        if len(word) < 4 or word in _COMMON:
            continue
        score = (_BITS[count] if count < 256 else 18) + (_shape_score(word) if _is_shaped(word) else -6)
        if word in special:
            score += (4 if word in defined else 0) + (40 if word in wanted else 0)
        if score in found:
            found[score].append(word)
        else:
            found[score] = [word]
    scores = sorted(found, reverse=True)
    for score in scores:
        if score >= _SHAPED_ONCE:
            yield from found[score]
    random: list[str] = []
    rare: list[str] = []  # words that occur once and look like any word: only when there is nothing better
    for word in once:
        if len(word) < 4 or word in _COMMON:
            continue
        if not _is_shaped(word):
            rare.append(word)
        elif _shape_score(word) < 0:
            random.append(word)
        else:
            yield word
    for score in scores:
        if score < _SHAPED_ONCE:
            yield from found[score]
    yield from random
    yield from rare


def _is_shaped(word: str) -> bool:
    """fooBar, FooBar, foo_bar: made up for one thing, where foo, Foo and FOO may be any word."""
    return "_" in word or not (word.islower() or word.isupper() or word.istitle())


def _shape_score(word: str) -> int:
    """What a word of such a shape is worth more; less if it is a hash or the like."""
    return 3 if len(word) < 12 or not looks_random(word) else -5


def paths_in(text: str, most: int = 200) -> Iterator[str]:
    """Paths (anything with a slash between name characters), each once, in order of appearance, at most so many."""
    found: set[str] = set()
    close = 0
    at = text.find("/")
    for _ in range(20 * most):
        if at < 0 or len(found) >= most:
            break
        # Around the slash, what blanks part from the rest.
        start = max(close, at - _LONG_PATH)
        start = max(start, text.rfind(" ", start, at) + 1, text.rfind("\n", start, at) + 1)
        end = _BLANK.search(text, at)
        close = len(text) if end is None else end.start()
        for token in _PATHLIKE.findall(text[start : min(close, at + _LONG_PATH)]):
            if "/" in token:
                path = token.rstrip(".-+~@").lstrip("-+")
                if path not in found and _is_path(path):
                    found.add(path)
                    yield path
        at = text.find("/", close)


def _is_path(token: str) -> bool:
    """A path rather than two words with a slash between: rooted, or deep, or with a suffix."""
    if "/" not in token[1:] or token.startswith("//") or not token.strip(_NO_LETTERS):
        return False
    return token[0] in "/.~" or token.count("/") > 1 or "." in token.rpartition("/")[2]
