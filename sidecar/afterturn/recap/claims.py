"""Completion claims, and whether a step shows them (recap.md, 'Output'; case R03).

A claim is a word that says that something is over and well. What is wished for, asked, planned or denied is none.
When in doubt a sentence counts as a claim: a recap may say too little, never more than the session shows.
"""

import re
from functools import cache

from afterturn.grounding import Source
from afterturn.recap.evidence import Deed, Evidence
from afterturn.recap.runs import RUN_KINDS

_DOING = ("commit", "push", "merge", "deploy")
_PROOFS = frozenset((*RUN_KINDS, "run"))


def supported(sentence: str, evidence: Evidence) -> bool:
    """Whether everything that `sentence` claims to be over is shown by a step that ended well."""
    kinds = claims_in(sentence)
    if not kinds:
        return True
    if not all(_shown(kind, sentence, evidence.deeds) for kind in kinds):
        return False
    source = Source(evidence.source)
    return all(source.holds_number(number) for number in _number().findall(sentence))


def claims_in(sentence: str, *, strict: bool = False) -> list[str]:
    """The kinds of claims in a sentence, each once: "pass", "works", "fixed", "done", "write", "commit", ...

    strict: what is wished for, asked or denied counts as well.
    """
    found: dict[str, None] = {}
    for kind, pattern in _claims():
        for match in pattern.finditer(sentence):
            if strict or not _is_open(sentence, match.start()):
                found.setdefault(kind)
                break
    return list(found)


def _is_open(sentence: str, at: int) -> bool:
    """Whether the words before a claim's word say that it is wished for, asked, planned or denied."""
    before = sentence[max(at - 90, 0) : at]
    clause = _clause_end().split(before)[-1]
    if any(word in clause[-14:] for word in _OPEN_HAN):
        return True
    words = clause.split()[-7:]
    return any(word.strip("\"'`(*_").lower() in _OPEN or word.lower().endswith(("n't", "n\u2019t")) for word in words)


def _shown(kind: str, sentence: str, deeds: tuple[Deed, ...]) -> bool:
    if not deeds:
        return False
    if kind == "install":
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
        return deeds[-1].ok and checks_ok
    # Fixed, works: an edit alone shows nothing; something must have run well after it.
    wrote = max((at for at, deed in enumerate(deeds) if "write" in deed.kinds and deed.ok), default=-1)
    return checks_ok and any(deed.ok and deed.kinds & _PROOFS for deed in deeds[max(wrote, 0) :])


def _changed_after(kind: str, deeds: tuple[Deed, ...], *, prose: bool = True) -> bool:
    """Whether files were written after the newest deed of a kind, so that it tells nothing of today's state.

    prose: documents count too.
    """
    last = max((at for at, deed in enumerate(deeds) if kind in deed.kinds), default=len(deeds))
    return any("write" in deed.kinds and deed.ok and (prose or not deed.prose) for deed in deeds[last + 1 :])


def _tested_by(sentence: str) -> frozenset[str]:
    """The kinds of runs that a claim of passing speaks of; any of them where it does not say."""
    low = sentence.lower()
    named = {kind for kind, words in _SUBJECTS.items() if any(word in low for word in words)}
    return frozenset(named) or RUN_KINDS


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
    "test": ("test", "suite", "spec", "测试"),
    "build": ("build", "compil", "构建", "编译"),
    "lint": ("lint", "type", "format"),
}
_OPEN = frozenset(
    "not no never none without to should must will would could can may might need needs needed want wants wanted until"
    " once before if whether when unless how todo pending remaining remains cannot unable untested unverified so goal"
    " aim hope try tries trying asked asks let please ensure make get getting nothing neither nor yet being be let's"
    " wait waiting waits awaiting".split()
)
_OPEN_HAN = tuple("未 没 尚 不 需要 待 应该 要 如果 直到 是否 等".split())


@cache
def _claims() -> tuple[tuple[str, re.Pattern[str]], ...]:
    table = {
        "pass": r"\bpass(?:es|ed)\b(?! (?:to|in|into|as|by|through|along|down|from|via|it|the|a)\b)"
        r"|\bpassing\b(?! (?:to|in|as|it|the|a|an|data|arguments?)\b)|(?<=tests )pass\b|(?<=checks )pass\b"
        r"|(?<=builds )pass\b|\b(?:tests?|checks?|ci|build|suite|pipeline) (?:is |are |all )?(?:green|ok)\b"
        r"|\ball green\b|\bchecks? out\b|\b(?:verified|confirmed|validated|tested)\b|\bsucceed(?:s|ed)\b"
        r"|\bcompiles\b|\bcompiled? (?:without|cleanly|fine|now)\b|\bbuilds (?:fine|cleanly|now)\b"
        r"|\b(?:no|without|zero|0) (?:any )?(?:errors|failures|warnings|issues)\b"
        r"|\bbestanden\b|\bpasan\b|\bpassent\b"
        r"|通过(?!读|查)|已验证|验证(?=[了过。，]|$)|没有(?:错误|报错)|无错误|合格|パスし",
        "works": r"\bworks\b(?! (?:on|by|with|like|toward)\b)"
        r"|\b(?:is|are|now|fully|everything|correctly) working\b(?! (?:on|with|toward|through|in|directory|tree|copy))"
        r"|\bsuccessful(?:ly)?\b|\bproduction-ready\b|\bfunktioniert\b|成功|正常(?:工作|运行)",
        "fixed": r"\bfixed\b(?!-|[ -](?:size|width|length|point|number|order|seed|set))|\bresolved\b|\brepaired\b"
        r"|\bsolved\b|\bpatched\b|\bcorrected\b|\baddressed\b|(?<!that )\b(?:fixes|resolves|solves)\b(?! for\b)"
        r"|\bno longer (?:fail|crash|break|error|occur|happen|leak)\w*|\bbehoben\b|\bcorrigé|\bcorregid"
        r"|已修复|修(?:复|正)(?=[了完好。，]|$)|修好|解决了|已解决|修正(?:済|しました)",
        "done": r"\bdone\b|\bfinished\b|\bcompleted\b|\b(?:is|are|now|all|work|task|fully) complete\b"
        r"|\b(?:is|are|now) ready\b|\bready (?:for|to)\b|\ball set\b|\bup to date\b|\bwrapped up\b|\bfinali[sz]ed\b"
        r"|\bin place\b|\bfertig\b|\berledigt\b|\bterminad[oa]\b|\bterminée?\b|\bcompletad[oa]\b"
        r"|已完成|完成了|搞定|做完|全部完成|完了|完成しました",
        "write": r"\b(?:implemented|added|created|wrote|written|updated|refactored|removed|deleted|renamed|replaced"
        r"|migrated|rewritten|rewrote|moved|changed|applied)\b(?! by\b)"
        r"|已(?:实现|添加|创建|更新|删除|重构)|(?:实现|添加|创建|更新|删除|重构|新增|修改)了",
        "merge": r"\bmerged\b|\blanded\b|\brebased\b|已合并|合并了",
        "push": r"\bpushed\b|已推送|推送了",
        "commit": r"\bcommitted\b|已提交|提交了",
        "deploy": r"\b(?:deployed|released|published|shipped)\b|\b(?:is|are|now|went) live\b"
        r"|已(?:部署|发布)|(?:部署|发布)了",
        "install": r"\binstalled\b|已安装|安装了",
    }
    return tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in table.items())


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
