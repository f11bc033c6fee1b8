"""The programs a shell command runs, for choosing how to read its output."""

import re

from afterturn.condense.extract.words import words

# Redirections, whose "&" ends nothing; words, with quoted strings whole; operators that end a command.
_TOKEN = re.compile(r"\d?>&\d?|&>|\"(?:[^\"\\]|\\.)*\"|'[^']*'|&&|\|\||[|;&\n]|[^\s\"'|;&]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OPERATORS = frozenset(("&&", "||", "|", ";", "&", "\n"))
_READ_CHARS = 800

# Programs that run the program named after them.
_WRAPPERS = words(
    "sudo env time timeout nice nohup command exec npx bunx pnpx xargs stdbuf uv poetry pipenv rye hatch"
    " conda mamba bundle dotenv watch script unbuffer pdm doas"
)
_WRAPPER_WORDS = frozenset(("run", "exec", "-n", "dlx", "x", "--"))
_SETUP = words("cd export set source . echo pushd popd mkdir sleep unset alias trap true false which type test [ wait")


def pipelines(command: str) -> list[list[list[str]]]:
    """The pipelines of a shell text, each as its commands, each as its words.

    Wrappers (`sudo`, `npx`, `uv run`, `timeout 60` ...) and assignments before a program are taken off. Only the first
    800 chars are read; an unterminated quote is read as plain words.
    """
    found: list[list[list[str]]] = []
    pipeline: list[list[str]] = []
    words: list[str] = []
    for token in [*_TOKEN.findall(command[:_READ_CHARS]), ";"]:
        if ">&" in token or token == "&>":
            continue
        if token not in _OPERATORS:
            words.append(token.strip("\"'") if token[0] in "\"'" else token)
            continue
        stripped = _unwrapped(words)
        if stripped:
            pipeline.append(stripped)
        words = []
        if token != "|" and pipeline:
            found.append(pipeline)
            pipeline = []
    return found


def main_pipelines(command: str) -> list[list[list[str]]]:
    """`pipelines` without those that only prepare (`cd`, `export`, `echo` ...), unless there are no others."""
    every = pipelines(command)
    return [pipeline for pipeline in every if pipeline[0][0] not in _SETUP] or every


def _unwrapped(words: list[str]) -> list[str]:
    at = 0
    while at < len(words):
        word = words[at].rpartition("/")[2] or words[at]
        if _ASSIGNMENT.match(word) is not None or word in ("(", "{", "then", "do", "if", "!"):
            at += 1
        elif word in _WRAPPERS:
            at += 1
            while at < len(words) and (words[at] in _WRAPPER_WORDS or words[at][:1] in "-0123456789"):
                at += 1
        elif word in ("python", "python3", "python2") and words[at + 1 : at + 2] == ["-m"]:
            at += 2
        elif word in ("bash", "sh", "zsh") and words[at + 1 : at + 2] in (["-c"], ["-lc"], ["-ic"]):
            inner = main_pipelines(" ".join(words[at + 2 :]))
            return inner[0][0] if inner else []
        else:
            return [word, *words[at + 1 :]]
    return []
