"""Completion claims, and whether a step shows them (recap.md, 'Output'; case R03).

A claim is a word that says that something is over and well. What is wished for, asked, planned or denied is none.
When in doubt a sentence counts as a claim: a recap may say too little, never more than the session shows.
"""

import re
from functools import cache

from afterturn.grounding import Source
from afterturn.recap.claim_words import OPEN, OPEN_HAN, claim_patterns
from afterturn.recap.evidence import Deed, Evidence
from afterturn.recap.runs import RUN_KINDS

_DOING = ("commit", "push", "merge", "deploy")
_PROOFS = frozenset((*RUN_KINDS, "run"))
_EFFECTS = frozenset((*_PROOFS, *_DOING, "request", "install", "write"))


def supported(sentence: str, evidence: Evidence) -> bool:
    """Whether everything that `sentence` claims to be over is shown by a step that ended well."""
    kinds = claims_in(sentence)
    if not kinds:
        return True
    if not all(_shown(kind, sentence, evidence) for kind in kinds):
        return False
    source = Source(evidence.source)
    return all(source.holds_number(number) for number in _number().findall(sentence))


def claims_in(sentence: str, *, strict: bool = False) -> list[str]:
    """The kinds of claims in a sentence, each once: "pass", "works", "fixed", "done", "write", "commit", ...

    strict: what is wished for, asked or denied counts as well.
    """
    found: dict[str, None] = {}
    for kind, pattern in claim_patterns():
        for match in pattern.finditer(sentence):
            if strict or not _is_open(sentence, match.start()):
                found.setdefault(kind)
                break
    return list(found)


def _is_open(sentence: str, at: int) -> bool:
    """Whether the words before a claim's word say that it is wished for, asked, planned or denied."""
    before = sentence[max(at - 90, 0) : at]
    clause = _clause_end().split(before)[-1]
    if any(word in clause[-14:] for word in OPEN_HAN):
        return True
    words = clause.split()[-7:]
    return any(word.strip("\"'`(*_").lower() in OPEN or word.lower().endswith(("n't", "n\u2019t")) for word in words)


def _shown(kind: str, sentence: str, evidence: Evidence) -> bool:
    if kind == "approval":  # no step shows what somebody decided; the session must speak of it
        said = evidence.prospects.lower()
        return all(word in said for word in _approving().findall(sentence.lower()))
    deeds = evidence.deeds
    if not deeds or kind == "ci":  # what a remote pipeline made of it is no step of the session
        return False
    if kind in ("install", "request"):
        return _last_is_ok(deeds, frozenset((kind,)))
    if kind in _DOING:
        return _last_is_ok(deeds, frozenset((kind,))) and not _changed_after(kind, deeds)
    if kind == "write":
        return _written(sentence, deeds)
    if kind == "pass":
        subjects = _tested_by(sentence)
        passed = _last_is_ok(deeds, subjects, passes="test" in subjects)
        return passed and not any(_changed_after(each, deeds, prose=False) for each in subjects)
    checks_ok = all(_last_is_ok(deeds, frozenset((each,)), absent=True) for each in RUN_KINDS)
    if kind == "done":
        # Who only looked has done nothing that could be over.
        return deeds[-1].ok and checks_ok and any(deed.ok and deed.kinds & _EFFECTS for deed in deeds)
    # Fixed, works: an edit alone shows nothing; the last thing that ran after it must have run well.
    wrote = max((at for at, deed in enumerate(deeds) if "write" in deed.kinds and deed.ok), default=-1)
    proofs = [deed for deed in deeds[max(wrote, 0) :] if deed.kinds & _PROOFS]
    return checks_ok and bool(proofs) and proofs[-1].ok


def _changed_after(kind: str, deeds: tuple[Deed, ...], *, prose: bool = True) -> bool:
    """Whether files were written after the newest deed of a kind, so that it tells nothing of today's state.

    prose: documents count too.
    """
    last = max((at for at, deed in enumerate(deeds) if kind in deed.kinds), default=len(deeds))
    return any("write" in deed.kinds and deed.ok and (prose or not deed.prose) for deed in deeds[last + 1 :])


def _tested_by(sentence: str) -> frozenset[str]:
    """The kinds of runs that a claim of passing speaks of. Where it does not say, only a test shows that it is so."""
    low = sentence.lower()
    named = {kind for kind, words in _SUBJECTS.items() if any(word in low for word in words)}
    if not named and "check" in low:
        return RUN_KINDS
    return frozenset(named or ("test",))


def _last_is_ok(deeds: tuple[Deed, ...], kinds: frozenset[str], *, absent: bool = False, passes: bool = False) -> bool:
    """Whether the newest deed of each of these kinds that occurs ended well.

    absent: the answer where none occurs. passes: a test among them must say itself that tests passed.
    """
    last = [next((deed for deed in reversed(deeds) if kind in deed.kinds), None) for kind in kinds]
    found = [deed for deed in last if deed is not None]
    if not found:
        return absent
    tests = [deed for deed in found if "test" in deed.kinds]
    if passes and tests and not any(deed.passes for deed in tests):
        return False
    return all(deed.ok for deed in found)


def _written(sentence: str, deeds: tuple[Deed, ...]) -> bool:
    done = [deed for deed in deeds if deed.ok and deed.kinds & {"write", "run"}]
    names = _file().findall(sentence)
    return any(name.rpartition("/")[2] in deed.names for name in names for deed in done) if names else bool(done)


_SUBJECTS = {
    "test": ("test", "suite", "spec", "prueba", "测试", "テスト", "тест", "테스트"),
    "build": ("build", "compil", "构建", "编译", "ビルド", "сборк", "빌드"),
    "lint": ("lint", "type", "format"),
}


@cache
def _approving() -> re.Pattern[str]:
    return re.compile(r"approv|accept|signed off|genehmig|aprob|aprov|\u6279\u51c6")


@cache
def _clause_end() -> re.Pattern[str]:
    return re.compile(
        r"[,;:\u2014\uff0c\uff1b\uff1a\u3002]|\.\s|\b(?:but|and then|while|now|which|since|because)\b"
        r"|\band (?=(?:the|it|all|we|everything|this|that|now|tests?|builds?)\b)"
    )


@cache
def _file() -> re.Pattern[str]:
    return re.compile(r"(?<![\w./-])[\w./@+-]*\w\.[A-Za-z]\w{0,7}\b(?![\w/])")


@cache
def _number() -> re.Pattern[str]:
    return re.compile(r"(?<![\w.])\d+(?![\w.]*\w)")
