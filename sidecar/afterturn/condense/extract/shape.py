"""What sort of text an output is, when neither the tool nor the command says."""

import re
from collections.abc import Callable

from afterturn.condense.extract.numbering import is_numbered
from afterturn.condense.extract.words import words

_HIT = re.compile(r"[\w./\\@+~-]{1,200}\.\w{1,8}:(?:\d{1,7}[:-])?.")
_MARKDOWN = re.compile(r"^#{1,4} \S", re.MULTILINE)
_ITEM = re.compile(r"\s*(?:[-*\u2022]|\d+\.) .*`")
_CODE = re.compile(
    r"(?:import|from|export|def|class|function|fn|pub|use|package|public|private|static|const|let|var"
    r"|#include|#define|struct|return"
    r"|defmodule|namespace|@\w+|if \(|for \(|\}|\{|//|/\*|#(?:if|end|else))"
)


_PROSE = words("md markdown mdx rst txt adoc text")
_LOOKED_AT = 40
_LOGS = frozenset(("log", "out", "err", "output"))
# Where harnesses put results that were too long for the conversation.
_RESULTS = ("/tool-results/", "/tool_results/", "/tool-output/")
_PAGES = frozenset(("html", "htm", "xhtml"))
_SOURCE = words(
    "py pyi ts tsx js jsx mjs cjs go rs c h cc cpp cxx hpp hh java kt kts scala rb php swift cs fs ex exs"
    " erl hrl clj lua pl pm sh bash zsh fish ps1 sql proto graphql vue svelte css scss sass less toml ini"
    " cfg conf yaml yml gradle cmake mk dart zig nim hs ml mli r jl m mm pony vim el tf nix heex eex"
)


def is_log(path: str) -> bool:
    """Whether a file holds what some run printed."""
    return path.rstrip().rpartition(".")[2].lower() in _LOGS or any(folder in path for folder in _RESULTS)


def shape_of_file(path: str, text: str) -> str:
    """The shape of a file's text, by its suffix where that tells."""
    suffix = path.rstrip().rpartition(".")[2].lower()
    if is_log(path):
        found = shape_of(text)
        return found if found in ("json", "jsonl", "diff") else "plain"
    if suffix in _SOURCE:
        return "code"
    if suffix in _PROSE:
        return "markdown"
    if suffix in _PAGES:
        return "html"
    if suffix in ("csv", "tsv"):
        return "table"
    found = shape_of(text)
    return "code" if found in ("plain", "hits", "paths") else found


def shape_of(text: str, *, marked: bool = False) -> str:
    """One of diff, json, jsonl, html, numbered, hits, paths, table, markdown, code, plain.

    `marked`: of text without marks that tell its shape (the last ones but markdown) nothing is asked: it is plain.
    """
    head = text[:4000].lstrip()
    if head.startswith(("diff --git ", "*** Begin Patch", "--- a/", "Index: ")) or "\ndiff --git " in text[:20_000]:
        return "diff"
    if head.startswith("--- ") and "\n+++ " in head[:600]:
        return "diff"
    if head[:1] in "{[" and head[:1]:
        return "jsonl" if head[0] == "{" and "\n{" in text[:20_000] and "}\n{" in text[:200_000] else "json"
    if "<html" in head[:1500].lower() or head[:15].lower().startswith("<!doctype html"):
        return "html"
    lines = [line for line in text[:20_000].split("\n", _LOOKED_AT)[:_LOOKED_AT] if line.strip()]
    if not lines:
        return "plain"
    if is_numbered(lines):
        return "numbered"
    if marked and not _is_markdown(text, lines):
        return "plain"
    return _by_lines(text, lines)


def _by_lines(text: str, lines: list[str]) -> str:
    many = len(lines)
    if _mostly(lines, lambda line: ":" in line[:240] and _HIT.match(line) is not None, 7):
        return "hits"
    if many > 2 and _mostly(lines, lambda line: _is_path(line.strip()), 8):
        return "paths"
    if many > 2 and _is_table(lines):
        return "table"
    if _mostly(lines, lambda line: _CODE.match(line.lstrip()[:40]) is not None, 3):
        return "code"
    return "markdown" if _is_markdown(text, lines) else "plain"


def _is_markdown(text: str, lines: list[str]) -> bool:
    """Whether there is a heading, or every fourth line is an item with code words."""
    if (text.startswith("#") or text.find("\n#", 0, 20_000) >= 0) and _MARKDOWN.search(text, 0, 20_000) is not None:
        return True
    items = [line for line in lines if "`" in line]
    return len(items) * 4 >= len(lines) and sum(_ITEM.match(line) is not None for line in items) * 4 >= len(lines)


def _mostly(lines: list[str], fits: Callable[[str], bool], tenths: int) -> bool:
    """Whether at least so many tenths of the lines fit; looks at no more of them than it takes to know."""
    hits = (len(lines) * tenths + 9) // 10
    misses = len(lines) - hits
    for line in lines:
        if fits(line):
            hits -= 1
            if hits <= 0:
                return True
        else:
            misses -= 1
            if misses < 0:
                return False
    return True


def _is_table(lines: list[str]) -> bool:
    """Whether the first rows have the same number (two or more) of one delimiter."""
    for delimiter in ("\t", "|", ";", ","):
        count = lines[0].count(delimiter)
        if count >= 2 and all(line.count(delimiter) == count for line in lines[1:12]):
            return True
    return False


def _is_path(text: str) -> bool:
    """Whether a line is a file's name and no more."""
    return 1 < len(text) < 300 and " " not in text and ("/" in text or "." in text[1:-1]) and text[-1] not in ".,:;({"
