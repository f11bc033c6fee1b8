"""Which sentences of a drafted recap may be shown (recap.md, 'Output'; case R03): those the input bears out."""

import re
from functools import cache

from afterturn.grounding import Source, is_grounded
from afterturn.recap.claims import supported
from afterturn.recap.evidence import Evidence
from afterturn.recap.sentences import closed, content_words, joined, other_script, sentences
from afterturn.text import one_line

# Of the words of a next step at least this part must occur where the session speaks of what is open.
_MIN_SHARED = 0.6
# More than any recap has; what comes after is not read.
_MAX_SENTENCES = 20


def grounded_text(text: str, evidence: Evidence) -> str:
    """`text`, a single line, without the sentences that fail; "" when none is left. Again changes nothing.

    "" as well for what is in another script than the person writes in, or has no word in common with the session.
    """
    source = Source(evidence.source, one_line(evidence.source))
    left = closed(joined([each for each in sentences(text)[:_MAX_SENTENCES] if _holds(each, source, evidence)]))
    return left if left and _is_of(left, evidence) else ""


def _is_of(text: str, evidence: Evidence) -> bool:
    if other_script(text, evidence.asked):
        return False
    known = {_stem(word) for word in content_words(evidence.source)}
    return any(_stem(word) in known for word in content_words(text))


def _holds(sentence: str, source: Source, evidence: Evidence) -> bool:
    if not any(char.isalnum() for char in sentence) or _aside().match(sentence) is not None:
        return False
    if not all(source.holds(each) for each in _grouped().findall(sentence)):
        return False
    if not is_grounded(sentence, source) or not _commands_hold(sentence, source):
        return False
    if not supported(sentence, evidence):
        return False
    return not is_next_step(sentence) or _is_foreseen(sentence, evidence)


def is_next_step(sentence: str) -> bool:
    """Whether a sentence says what comes next."""
    return _next().search(sentence) is not None


def _is_foreseen(sentence: str, evidence: Evidence) -> bool:
    said = [part for part in _next().split(sentence)[1:] if part]
    words = content_words(" ".join(said)) or content_words(_next().sub(" ", sentence))
    if not words:
        return bool(evidence.prospects.strip())
    known = content_words(evidence.prospects)
    stems = {_stem(word) for word in known}
    names = content_words(" ".join(_name().findall(" ".join(said))))
    if not names <= known:
        return False
    shared = sum(_stem(word) in stems for word in words)
    return shared >= len(words) * _MIN_SHARED


def _commands_hold(sentence: str, source: Source) -> bool:
    for quoted in _backticks().findall(sentence):
        if " " in quoted and not source.holds_part(one_line(quoted)):
            return False
    for found in _command().finditer(sentence):
        program, argument = found[1], found[2]
        if not source.holds(program or found[0].split()[-1].strip("`")):
            return False
        if argument and argument not in _FILLERS and not source.holds_part(f"{program} {argument}"):
            return False
    return True


def _stem(word: str) -> str:
    """Good enough to match "adding" with "add" and "tests" with "test"."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and word.isascii():
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] else word.rstrip("e")


_FILLERS = frozenset("and to again on in for with the a against first then now before after once was is has".split())


@cache
def _next() -> re.Pattern[str]:
    return re.compile(
        r"(?:^|[,;:(]\s*|\band\s+|\bthe\s+)"
        r"(?:next(?: step| up)?|remaining|still to do|to do|todo|up next|then it)\b(?: is| are)?:?"
        r"|\b(?:remains? to|is left to|comes next|still needs? to)\b"
        r"|下一步(?:是)?|接下来|剩下|待办|次は|次のステップ",
        re.IGNORECASE,
    )


@cache
def _aside() -> re.Pattern[str]:
    """A sentence of the model about itself, its task or nothing: a refusal, a lead-in, a table, a bare heading."""
    return re.compile(
        r"(?:(?:i'm|i am|we're|we are) (?:very |so )?(?:sorry|afraid|unable)\b|sorry\b|apologies\b|i apologi[sz]e\b"
        r"|i (?:can(?:'t|\u2019t|not)|could(?:n't| not)|do(?:n't| not) (?:have|see|know))\b"
        r"|as an ai\b|unfortunately, i\b"
        r"|(?:sure|certainly|of course|okay|ok|absolutely|welcome back|hello|hi|hey)\b[^.]{0,12}[!,.:]+$"
        r"|(?:here(?:'s|\u2019s| is)|this is|below is) (?:a|the|your) (?:\w+ )?(?:recap|summary|summari[sz]ation)\b"
        r"|(?:recap|summary|session (?:recap|summary))\s*[:.]?$|\|)",
        re.IGNORECASE,
    )


@cache
def _grouped() -> re.Pattern[str]:
    return re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,])")


@cache
def _name() -> re.Pattern[str]:
    """A name by its letters, such as OAuth, SQL or TypeScript."""
    return re.compile(r"\b(?:\w*[a-z][A-Z]\w*|[A-Z]{2,}\w*)\b")


@cache
def _backticks() -> re.Pattern[str]:
    return re.compile(r"`([^`\n]{2,200})`")


@cache
def _command() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:[Rr]un|[Rr]unning|ran|[Rr]e-?run|[Ee]xecut\w+|via)\s+(?:the\s+)?`?"
        r"(?:(npm|pnpm|yarn|bun|git|cargo|docker|kubectl|mvn|mix|dotnet|terraform|pip|uv|poetry)\b(?:\s+([\w:./-]*\w))?"
        r"|(?:npx|pytest|gradle|tox|ruff|mypy|eslint|tsc|jest|vitest|rake)\b)"
    )
