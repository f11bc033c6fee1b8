"""The outline of source text: what it imports and defines, its headings and keys, and where."""

import re

from afterturn.condense.extract.numbering import Numbered
from afterturn.condense.extract.words import words

_MAX_LINES = 8000
# What stands further in belongs to the inside of something.
_TABS = "\t\t\t\t"
_BLANKS = 9
# Comments, closing brackets and operators begin no definition.
_NO_START = frozenset("})]>/;,|-+=?!%^<")

# Words before the word that says what is being defined.
_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|abstract|final|async|override|virtual"
    r"|inline|extern|unsafe"
    r"|pub(?:\([a-z]{1,9}\))?|open|sealed|data|readonly|declare|partial|typedef|constexpr|suspend|const)\s+){0,5}"
)
_KEYWORDS = words(
    "def defp defmodule defmacro defstruct class function func fn interface type struct enum union trait"
    " impl mod module namespace package object protocol extension record macro_rules! describe it test"
    " context typedef resource identity sub procedure async export default public private protected"
    " internal static abstract final override virtual inline extern unsafe pub pub(crate) pub(super) open"
    " sealed data readonly declare partial constexpr suspend template #define message service rpc const"
    " let var val define create CREATE alter ALTER"
)
_DEFINITION = re.compile(
    _MODIFIERS + r"(def|defp|defmodule|defmacro|class|function\*?|func|fn|interface|type|struct|enum|union|trait|impl"
    r"|mod|module|namespace"
    r"|package|object|protocol|extension|record|macro_rules!|describe|it|test|context|resource|identity"
    r"|sub|procedure|message"
    r"|service|rpc|#define|let|var|val|const|(?i:create (?:or replace )?(?:table|view|index|function"
    r"|procedure|trigger)"
    r"(?: if not exists)?))\b\s*[*(]?\s*"
    r"(?:\([^)]{0,60}\)\s*)?(?:<[^>]{0,40}>\s*)?([\"'`][^\"'`]{1,100}|[@:]?[A-Za-z_$][\w$.:]*[?!]?)"
)
# As in C: `struct x *y;` declares, `struct x {` defines.
_AGGREGATES = frozenset(("struct", "union", "enum"))
_VARIABLES = frozenset(("let", "var", "val", "const"))
_TESTS = frozenset(("describe", "it", "test", "context"))
# A name and an open parenthesis at the left edge, or a method with its body opened on the same line.
_C_FUNCTION = re.compile(r"[A-Za-z_][\w\s*&:<>,~]{0,120}?[\s*&:~]([A-Za-z_]\w*)\s*\(")
_METHOD = re.compile(
    r"(?:(?:public|private|protected|static|async|get|set|override|readonly"
    r"|\*)\s+){0,3}\*?#?([A-Za-z_$][\w$]*)\s*(?:<[^>]{0,40}>)?\("
)
_FIELD = re.compile(r"(?:(?:public|private|protected|static|readonly|export)\s+){0,3}([A-Za-z_$][\w$]*)\??\s*[:=]")
_IMPORT = re.compile(
    r"(?:import|from|use|require|alias|#\s*include|include|using|source|extern crate|@import"
    r"|load)\b[^\"'<\n]{0,200}[\"'<]([^\"'>\n]{1,160})[\"'>]"
    r"|(?:\}\s*)?from\s+[\"']([^\"'\n]{1,160})[\"']"
)
_REQUIRED = re.compile(r".{0,120}\brequire\(\s*[\"']([^\"'\n]{1,160})[\"']")
_IMPORTED_NAME = re.compile(r"(?:from|import|use|alias|using|package)\s+([A-Za-z_][\w.:]*(?:::\{|\.\{)?)")
_IMPORT_WORDS = words("import from use require alias #include include using } const var package @import extern")
_ACCESS = words("public private protected static async override")
_NOT_IMPORTS = words("namespace static strict the a it this type std")
_CONTROL = words("if for while switch catch return else elif do case when match throw await new")
_NOT_METHODS = words(
    "if for while switch catch return function with else elif do await super case when match new throw"
    " async sizeof defined __attribute__ __declspec"
)
_HEADING = re.compile(r"#{1,6}\s+(\S.{0,120})")
_STARTERS = _KEYWORDS | _IMPORT_WORDS
# What selectors, attributes and headings begin with.
_MARKS = frozenset(".#:@*[&")
_C_ENDS = frozenset(";){,(")
# Not in the first word of a function's definition as in C.
_NO_TYPE = frozenset("/.")
_LINE_CHARS = 200


class Outline:
    """Names in the order they are met, with the number of their line where the output numbers its lines."""

    __slots__ = ("defined", "headings", "imports", "keys")

    def __init__(self) -> None:
        self.defined: dict[str, str] = {}
        self.keys: dict[str, str] = {}
        self.headings: dict[str, str] = {}
        self.imports: dict[str, None] = {}


def outline_of(lines: Numbered) -> Outline:
    """Read definitions, headings and imports off the lines that stand near the left edge."""
    outline = Outline()
    numbers = lines.numbers or ()
    for index, line in enumerate(lines.texts[:_MAX_LINES]):
        text = line.lstrip()
        if len(text) < 4 or text[0] in _NO_START:
            continue
        indent = len(line) - len(text)
        if indent >= _BLANKS or (indent > 3 and line.startswith(_TABS)):
            continue
        word = text.split(None, 1)[0].partition("(")[0]
        if word in _CONTROL:
            continue
        last = text[-1]
        if (
            word in _STARTERS
            or text[0] in _MARKS
            or last in "{ \t"
            or (indent == 0 and last in _C_ENDS and _NO_TYPE.isdisjoint(word))
            or (last == "(" and word in _ACCESS)
            or (indent <= 4 and ":" in text and "(" not in text)
            or len(text) > _LINE_CHARS
        ):
            _read_line(outline, numbers[index] if numbers else "", text[:_LINE_CHARS].rstrip(), word, indent)
    return outline


def _read_line(outline: Outline, number: str, text: str, word: str, indent: int) -> None:
    if word in _IMPORT_WORDS and indent <= 4:
        name = _imported(text)
        if name and name not in _NOT_IMPORTS:
            outline.imports.setdefault(name.rstrip(":{."))
            return
    if word in _KEYWORDS:
        match = _DEFINITION.match(text)
        if match is not None:
            _define(outline, number, match, indent)
            return
    if text[-1] == "{" and text[0] in ".#:@*[&":
        outline.defined.setdefault(text.rstrip(" {"), number)
        return
    if text[0] == "#" and indent == 0:
        match = _HEADING.match(text)
        if match is not None:
            outline.headings.setdefault(match[1].rstrip(" #"), number)
        return
    if "(" in text:
        _read_function(outline, number, text, word, indent)
        return
    # Keys are told only of what defines nothing.
    if indent <= 4 and ":" in text and not outline.defined and not outline.headings:
        match = _FIELD.match(text)
        if match is not None and match[1] not in _NOT_METHODS:
            outline.keys.setdefault(match[1], number)


def _imported(text: str) -> str:
    """What a line imports, or ""."""
    match = _IMPORT.match(text) or ("require(" in text and _REQUIRED.match(text)) or _IMPORTED_NAME.match(text)
    return match[match.lastindex or 0] if match else ""


def _read_function(outline: Outline, number: str, text: str, word: str, indent: int) -> None:
    """A function without a keyword before it: at the left edge as in C, or a method whose body opens on its line."""
    if indent == 0 and text[-1] in _C_ENDS:
        match = _C_FUNCTION.match(text)
    elif (text[-1] == "{" and not text.endswith(("({", "=> {", ", {"))) or (text[-1] == "(" and word in _ACCESS):
        match = _METHOD.match(text)
    else:
        return
    if match is not None and match[1] not in _NOT_METHODS and "for_each" not in word:
        outline.defined.setdefault(match[1], number)


def _define(outline: Outline, number: str, match: re.Match[str], indent: int) -> None:
    keyword, name = match[1], match[2]
    if keyword in _AGGREGATES and match.string.endswith((";", ",", ")")):
        return
    if keyword in _VARIABLES and indent > 1:
        return
    name = name.lstrip("\"'`").rstrip(":.")
    if keyword in _TESTS and match[2][0] not in "\"'`":
        return
    if len(name) > 1:
        outline.defined.setdefault(name, number)
