"""Source text: what it imports, what it defines and where, which names it lives on."""

import re

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.names import MAX_NAME_CHARS, is_common, looks_random, rank_names
from afterturn.condense.extract.sight import Sight

# `   12→text`, `00012| text`, `12\ttext`, `12: text`, `12:text`, `12-text`: how harnesses and nl, cat -n, grep number lines.
_NUMBERED = re.compile(r" {0,9}(\d{1,7})(?:\u2192|\t|\| ?|: ?|\u2502 ?|-)")
_MAX_LINES = 8000

# Words before the word that says what is being defined.
_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|abstract|final|async|override|virtual|inline|extern|unsafe"
    r"|pub(?:\([a-z]{1,9}\))?|open|sealed|data|readonly|declare|partial|typedef|constexpr|suspend|const)\s+){0,5}"
)
_KEYWORDS = frozenset(
    "def defp defmodule defmacro defstruct class function func fn interface type struct enum union trait impl mod module namespace"
    " package object protocol extension record macro_rules! describe it test context typedef resource identity sub procedure"
    " async export default public private protected internal static abstract final override virtual inline extern unsafe pub"
    " pub(crate) pub(super) open sealed data readonly declare partial constexpr suspend template #define message service rpc"
    " const let var val define create CREATE alter ALTER".split()
)
_DEFINITION = re.compile(
    _MODIFIERS
    + r"(def|defp|defmodule|defmacro|class|function\*?|func|fn|interface|type|struct|enum|union|trait|impl|mod|module|namespace"
    r"|package|object|protocol|extension|record|macro_rules!|describe|it|test|context|resource|identity|sub|procedure|message"
    r"|service|rpc|#define|let|var|val|const|(?i:create (?:or replace )?(?:table|view|index|function|procedure|trigger)"
    r"(?: if not exists)?))\b\s*[*(]?\s*"
    r"(?:\([^)]{0,60}\)\s*)?(?:<[^>]{0,40}>\s*)?([\"'`][^\"'`]{1,100}|[@:]?[A-Za-z_$][\w$.:]*[?!]?)"
)
_VARIABLES = frozenset(("let", "var", "val", "const"))
_TESTS = frozenset(("describe", "it", "test", "context"))
# A name and an open parenthesis at the left edge, or a method with its body opened on the same line.
_C_FUNCTION = re.compile(r"[A-Za-z_][\w\s*&:<>,~]{0,120}?[\s*&:~]([A-Za-z_]\w*)\s*\(")
_METHOD = re.compile(r"(?:(?:public|private|protected|static|async|get|set|override|readonly|\*)\s+){0,3}\*?#?([A-Za-z_$][\w$]*)\s*(?:<[^>]{0,40}>)?\(")
# Files that the text names in quotes, and options of a command line.
_PATH_LITERAL = re.compile(r"[\"'`](\.{0,2}/?(?:[\w@-]+/)+[\w.-]+\.\w{1,6})[\"'`]")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9]+(?:-[a-z0-9]+)*")
_FIELD = re.compile(r"(?:(?:public|private|protected|static|readonly|export)\s+){0,3}([A-Za-z_$][\w$]*)\??\s*[:=]")
_IMPORT = re.compile(
    r"(?:import|from|use|require|alias|#\s*include|include|using|source|extern crate|@import|load)\b[^\"'<\n]{0,200}[\"'<]([^\"'>\n]{1,160})[\"'>]"
    r"|(?:\}\s*)?from\s+[\"']([^\"'\n]{1,160})[\"']|.{0,120}\brequire\(\s*[\"']([^\"'\n]{1,160})[\"']"
    r"|(?:from|import|use|alias|using|package)\s+([A-Za-z_][\w.:]*(?:::\{|\.\{)?)"
)
_IMPORT_WORDS = frozenset("import from use require alias #include include using } const var package @import extern".split())
_ACCESS = frozenset("public private protected static async override".split())
_NOT_IMPORTS = frozenset("namespace static strict the a it this type std".split())
_NOT_METHODS = frozenset("if for while switch catch return function with else elif do await super case when match new throw async sizeof defined __attribute__ __declspec".split())
_HEADING = re.compile(r"#{1,6}\s+(\S.{0,120})")
_KEY = re.compile(r"[\"']?([A-Za-z_][\w.-]{1,60})[\"']?\s*[:=]")


class Outline:
    """Names in the order they are met, with the number of their line where the output numbers its lines."""

    __slots__ = ("defined", "fields", "first", "headings", "imports", "last", "numbered")

    def __init__(self) -> None:
        self.defined: dict[str, str] = {}
        self.fields: dict[str, str] = {}
        self.headings: dict[str, str] = {}
        self.imports: dict[str, None] = {}
        self.numbered = False
        self.first = self.last = ""


def split_numbers(lines: list[str]) -> tuple[list[tuple[str, str]], bool]:
    """Lines as (number, text), the number "" where lines have none; and whether they are numbered at all."""
    probe = [line for line in lines[:40] if line.strip()]
    hits = sum(_NUMBERED.match(line) is not None for line in probe)
    if not probe or hits * 4 < len(probe) * 3 or not _rising(probe):
        return [("", line) for line in lines], False
    pairs: list[tuple[str, str]] = []
    for line in lines:
        match = _NUMBERED.match(line)
        pairs.append((match[1], line[match.end() :]) if match is not None else ("", line))
    return pairs, True


def _rising(lines: list[str]) -> bool:
    numbers = [int(match[1]) for match in map(_NUMBERED.match, lines) if match is not None]
    return all(low <= high for low, high in zip(numbers, numbers[1:], strict=False))


def outline_of(pairs: list[tuple[str, str]]) -> Outline:
    """Read definitions, headings and imports off the lines."""
    outline = Outline()
    for number, line in pairs[:_MAX_LINES]:
        text = line.lstrip()
        if len(text) < 4 or text.isspace():
            continue
        indent = len(line) - len(text)
        if indent <= 12:
            _read_line(outline, number, text[:200].rstrip(), indent)
    return outline


def _read_line(outline: Outline, number: str, text: str, indent: int) -> None:
    word = text.split(None, 1)[0].partition("(")[0]
    if word in _IMPORT_WORDS and indent <= 4:
        match = _IMPORT.match(text)
        if match is not None:
            name = next((part for part in match.groups() if part), "")
            if name and name not in _NOT_IMPORTS:
                outline.imports.setdefault(name.rstrip(":{."))
                return
    if word in _KEYWORDS:
        match = _DEFINITION.match(text)
        if match is not None:
            _define(outline, number, match, indent)
            return
    if text[0] == "#" and indent == 0:
        match = _HEADING.match(text)
        if match is not None:
            outline.headings.setdefault(match[1].rstrip(" #"), number)
        return
    if "(" in text:
        _read_function(outline, number, text, word, indent)
        return
    if text[-1] == "{" and text[0] in ".#:@*[&":
        outline.defined.setdefault(text.rstrip(" {"), number)
        return
    if indent <= 4 and ":" in text:
        match = _FIELD.match(text)
        if match is not None and match[1] not in _NOT_METHODS:
            outline.fields.setdefault(match[1], number)


def _read_function(outline: Outline, number: str, text: str, word: str, indent: int) -> None:
    """A function without a keyword before it: at the left edge as in C, or a method whose body opens on its line."""
    if indent == 0 and text.endswith((";", ")", "{", ",", "(")):
        match = _C_FUNCTION.match(text)
    elif text.endswith("{") and not text.endswith(("({", "=> {", ", {")) or text.endswith("(") and word in _ACCESS:
        match = _METHOD.match(text)
    else:
        return
    if match is not None and match[1] not in _NOT_METHODS and word not in _NOT_METHODS:
        outline.defined.setdefault(match[1], number)


def _define(outline: Outline, number: str, match: re.Match[str], indent: int) -> None:
    keyword, name = match[1], match[2]
    if keyword in _VARIABLES and indent > 1:
        return
    name = name.lstrip("\"'`").rstrip(":.")
    if keyword in _TESTS and match[2][0] not in "\"'`":
        return
    if len(name) > 1:
        outline.defined.setdefault(name, number)


def read(view: Sight, digest: Digest) -> None:
    """Add extent, imports, definitions and the names that occur most."""
    pairs, numbered = split_numbers(view.lines.all)
    outline = outline_of(pairs)
    if numbered:
        numbers = [number for number, _ in pairs if number]
        if numbers:
            digest.outcome.append(f"lines {numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else f"line {numbers[0]}")
    else:
        digest.outcome.append(f"({len(pairs)} lines)")
    ranked = rank_names("\n".join(text for _, text in pairs) if numbered else view.text,
                        defined=outline.defined, wanted=view.wanted, known=view.known)
    place = {name: at for at, name in enumerate(ranked)}
    digest.names.extend(_groups(outline, ranked, place, view))


def _groups(outline: Outline, ranked: list[str], place: dict[str, int], view: Sight) -> list[Group]:
    groups: list[Group] = []
    last = len(place)
    shares = {"defines": 60, "headings": 60}
    for heading, found in (("defines", outline.defined), ("headings", outline.headings)):
        names = [name for name in found if not looks_random(name) and not is_common(name)]
        order = {name: at for at, name in enumerate(names)}
        best = sorted(names, key=lambda name: (place.get(name, last), order[name]))
        pieces = [f"{name} {found[name]}" if found[name] else name for name in best]
        if pieces:
            groups.append(Group(heading, pieces, order=[order[name] for name in best], share=shares[heading]))
    if outline.imports:
        groups.append(Group("imports", list(outline.imports), share=30))
    for heading, pattern, least in (("paths", _PATH_LITERAL, 1), ("options", _OPTION, 5)):
        found = dict.fromkeys(pattern.findall(view.text[:MAX_NAME_CHARS]))
        if len(found) >= least:
            groups.append(Group(heading, [text for text in found if text not in outline.imports], share=25))
    rest = [name for name in ranked if name not in outline.defined]
    if rest:
        groups.append(Group("names", rest, " "))
    return groups
