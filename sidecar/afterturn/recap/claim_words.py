"""The words of completion claims, by kind and language, and those that leave open whether it came true.

A language is a few alternatives more in each row. What a row does not know passes for no claim, so rows say too much
rather than too little.
"""

import re
from functools import cache

OPEN = frozenset(
    "not no never none without to should must will would could can may might need needs needed want wants wanted until"
    " once before if whether when unless how todo pending remaining remains cannot unable untested unverified so goal"
    " aim hope try tries trying asked asks let please ensure make get getting nothing neither nor yet being be let's"
    " wait waiting waits awaiting"
    " nicht kein keine noch soll sollen muss müssen wenn falls ob bis damit"
    " pas doit doivent faut si avant jusqu'à jamais ni debe deben falta hasta para sin nunca"
    " não deve devem falta se até non deve devono не нужно если"
    " чтобы пока".split()
)
OPEN_HAN = tuple("未 没 尚 不 需要 待 应该 要 如果 直到 是否 等".split())


@cache
def claim_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """What each kind of claim is said with."""
    return tuple((kind, re.compile("|".join(rows), re.IGNORECASE)) for kind, rows in _ROWS.items())


_NONE = r"\b(?:no|without|zero|0) (?:any |more |further |known |open |remaining )*"
# A number of checks that is no result: what became of them is said behind it.
_OTHERWISE = (
    r"(?![^.;]* (?<! 0 )(?<! no )(?<!none )(?:fail|crash|skip|remain|error|need|still)|[^.;]* to (?:be|come|do)\b)"
)
# Who moves on from one state to another has passed no check.
_MOVES = r"(?! (?:a(?! la primera)|o|os|as|de(?! primeira)|por|para|el|la|los|las|un|una|um|uma|à)\b)"

_ROWS: dict[str, tuple[str, ...]] = {
    "pass": (
        r"\bpass(?:es|ed)\b(?! (?:to|in|into|as|by|through|along|down|from|via|it|the|a)\b)",
        r"\bpassing\b(?! (?:to|in|as|it|the|a|an|data|arguments?)\b)|(?<=tests )pass\b|(?<=checks )pass\b",
        r"(?<=builds )pass\b|\b(?:tests?|checks?|ci|build|suite|pipeline|linter|compiler) (?:is |are |all |now )*"
        r"(?:green|ok|happy|fine)\b(?!-| to\b)|\b(?:turned|turns|went|goes|gone|came back|back to) green\b",
        r"\ball green\b|\bchecks? out\b|\b(?:verified|confirmed|validated|tested)\b|\bsucceed(?:s|ed)\b",
        r"\bcompiles\b|\bcompiled? (?:without|cleanly|fine|now)\b|\bbuilds (?:fine|cleanly|now)\b",
        r"\b(?:is|are|came back|ran|runs|run|now|comes back|exits) clean(?:ly)?\b",
        _NONE + r"(?:\w+ )?(?:errors|failures|warnings|issues|problems|complaints|regressions)\b",
        _NONE + r"(?:failing|failed|broken|red) (?:\w+ )?(?:tests?|checks?|builds?|cases|specs)\b",
        # What fails, or says nothing of it, without an error is not over and well.
        r"(?<!fails )(?<!failed )(?<!crashes )(?<!crashed )(?<!hangs )(?<!stops )(?<!silently )"
        r"\bwithout (?:an? |any |a single )?(?:error|failure|warning|issue|problem|hitch)(?=[.,;!?)]|$)",
        r"\b(?:tests?|checks?|specs|cases)\b[^.;]{0,12}?\b(?P<run>[1-9]\d{0,5}) ?/ ?(?P=run)\b(?!/)" + _OTHERWISE,
        r"(?<!/)\b(?P<passed>[1-9]\d{0,5})(?: ?/ ?| of | out of )(?P=passed) (?:tests?|checks?|specs|cases)\b"
        + _OTHERWISE,
        # German, French, Spanish, Portuguese, Russian
        r"\bbestanden\b|\blaufen (?:alle )?durch\b|\b(?:läuft|laufen) fehlerfrei\b|\bpasan\b|\bpassent\b|\bpassam\b",
        r"\bdurchgelaufen\b|\b(?:ist|sind) (?:alle |jetzt |nun |wieder )*grün\b|\b(?:est|sont) (?:tous )?passée?s?\b"
        + _MOVES,
        r"\b(?:pasaron|passaram|passou)\b" + _MOVES,
        r"\b(?:pruebas?|tests?|testes?|verificaciones)\b(?:(?! no )[^,.;]){0,20}\bsuperad[oa]s?\b|\bпройден[аоы]?\b",
        r"\bprovad[oa]s?\b|\bvalidée?s?\b|\bvérifiée?s?\b|\bverificad[oa]s?\b|\bverifiziert\b",
        r"\bпроходят\b|\bпрошли\b|\bпроверен\w*",
        # Chinese, Japanese, Korean
        r"通过(?!读|查)|已验证|验证(?=[了过。，]|$)|没有(?:错误|报错|问题)|无错误|跑通|全绿",
        r"合格|パスし|通りました|通った|通るようにな|통과(?:했|하였|됐|되었)",
    ),
    "works": (
        r"\bworks\b(?! (?:on|by|with|like|toward)\b)",
        r"\b(?:is|are|and|now|fully|everything|correctly) working\b"
        r"(?! (?:on|with|toward|through|in|directory|tree|copy))",
        r"\bsuccessful(?:ly)?\b|\bproduction-ready\b|\bup and running\b",
        r"\bas (?:expected|intended|required|designed|it should|they should)\b",
        r"\b(?:servers?|apps?|application|service|site|container|database|process) (?:is|are) (?:now )?running\b",
        r"\b(?:is|are) (?:now |fully )*(?:operational|functional|stable|healthy|correct)\b",
        r"\b(?:everything|all) (?:is |looks |runs |seems )(?:now |all )*"
        r"(?:fine|good|ok|okay|well(?! known)|in order)\b",
        r"\bnow (?:correctly |properly )*(?:accepts|handles|covers|validates|enforces|supports|behaves)\b",
        r"\b(?:is|are) now (?:correctly |properly )*(?:accepted|handled|covered|validated|enforced"
        r"|supported|caught)\b",
        # What refuses what it should take is the trouble, and not its end.
        r"\bnow (?:correctly |properly )*(?:rejects|refuses)\b"
        r"(?! (?:(?:all |any |every )?(?:valid|good|connections?)|with)\b)",
        r"\b(?:is|are) now (?:correctly |properly )*(?:rejected|refused)\b(?! with\b)",
        r"\bfunktionier(?:t|en)\b|\berfolgreich\b|\bfunciona[nm]?\b|\bfonctionnent?\b|\bréussi(?:e|s|es|t|ssent)?\b|\bработает\b|\bуспешн\w*",
        r"成功|正常(?:工作|运行)|動作しました|成功し|성공",
    ),
    "fixed": (
        r"\bfixed\b(?!-|[ -](?:size|width|length|point|number|order|seed|set))|\bresolved\b|\brepaired\b",
        r"\bsolved\b|\bpatched\b|\bcorrected\b|\baddressed\b|(?<!that )\b(?:fixes|resolves|solves)\b(?! for\b)",
        r"\bno longer (?:fail|crash|break|error|occur|happen|leak|reproduc|appear|exist)\w*",
        r"\b(?:is|are|was|has|have) (?:now |been |all )*(?:gone|disappeared|vanished|eliminated|mended|cured|closed)\b",
        r"(?<!commits )(?<!commits are )(?<!commits were )\bsquashed\b(?! (?:\w+ )?(?:commits?|into)\b)",
        r"\b(?:sorted|ironed) out\b(?! (?:of|by)\b)",
        r"\b(?:issues?|bugs?|tickets?) closed\b(?! (?:by|in|last|on|since)\b)",
        r"\bkorrigiert\b|\bgefixt\b|\bréparée?s?\b|\bréglée?s?\b(?! (?:à|avec|par|pour|sur)\b)",
        r"\barreglad[oa]s?\b|\bconsertad[oa]s?\b",
        r"\bbehoben\b|\brepariert\b|\bgelöst\b|\bcorrigé|\brésolue?s?\b|\bcorregid|\bcorrigid|\bresolvid|\bsolucionad|\bresuelt",
        # The nouns of what is yet to come end as these do: "исправление", the fixing.
        r"\bисправ(?:лен(?!и)|ил)|\bреш[её]н[аоы]?\b|\bустран(?:[её]н(?!и)|ил)|\bпочин(?:ен|ил)",
        r"已(?:经)?修复|修(?:复|正)(?=[了完好。，]|$)|修好|解决了|已(?:经)?解决",
        r"修正(?:済|しました|されました)|直りました|解決しました|(?:修正|直|解決)した(?![いら後])",
        r"고쳤|수정(?:했|되었|됐|이 완료)|해결(?:했|되었|됐)",
    ),
    "done": (
        r"\bdone\b|\bfinished\b|\bcompleted\b|\b(?:is|are|now|all|work|task|fully) complete\b",
        r"\b(?:accomplished|achieved)\b|\btaken care of\b|[\u2705\u2713\u2714\u2611]",
        r"\b(?:is|are|now) ready\b|\bready (?:for|to)\b|\ball set\b|\bup to date\b|\bwrapped up\b|\bfinali[sz]ed\b",
        r"\bin place\b|\b(?:is|are) (?:now |all )?(?:over|met|satisfied|fulfilled)\b|\bwent through\b",
        r"\bnothing (?:else |more )?(?:is |was )?(?:left|remains|open|pending|to do)\b",
        _NONE + r"(?:work|tasks?|steps?|todos?|items?) (?:is |are )?(?:left|remains?|open)\b",
        r"\bfertig\b|\berledigt\b|\babgeschlossen\b|\bbeendet\b|\bterminad[oa]s?\b|\bterminée?s?\b|\bachevée?s?\b",
        r"\bcompletad[oa]s?\b|\bconclu[ií]d[oa]s?\b|\bfinalizad[oa]s?\b|\bcompletat[oa]\b"
        r"|\bготов[аоы]?\b|\bзаверш(?:[её]н(?!и)|ил)|\bвыполнен(?!и)|\bсделан[аоы]?\b",
        r"\bgeschafft\b|\bfinie?s?\b|\b(?:estão|está|ficou|ficaram|já|tudo) pront[oa]s?\b|\bestán? list[oa]s?\b",
        r"已(?:经)?完成|完成了|搞定|做完|全部完成|完了(?!した[いら]|していな|していませ)|完成しました|終わりました|終わった(?!ら)|已就绪",
        r"완료(?:했|되었|됐)|끝났|끝냈|마쳤",
    ),
    "write": (
        r"\b(?:implemented|added|created|wrote|written|updated|refactored|removed|deleted|renamed|replaced|edited"
        r"|migrated|rewritten|rewrote|moved|changed|applied)\b(?! by\b)",
        r"已(?:经)?(?:实现|添加|创建|更新|删除|重构)|(?:实现|添加|创建|更新|删除|重构|新增|修改)了",
    ),
    "ci": (r"\b(?:ci|pipelines?)\b[^,;.]{0,20}\b(?:green|pass\w*|succe\w*|ok|clean|happy|good)\b",),
    "request": (
        r"\b(?:pr|pull request|merge request|mr)\b[^,;.]{0,20}\b(?:opened|created|submitted|filed|raised|is open|up)\b",
        r"\b(?:opened|created|submitted|filed|raised) (?:a |an |the )?(?:\w+ )?(?:pr|pull request|merge request|mr)\b",
    ),
    "approval": (r"\bapproved\b|\baccepted\b|\bsigned off\b|\bgenehmigt\b|\bapprouvé|\baprobad|\baprovad|已批准",),
    "merge": (r"\bmerged\b|\blanded\b|\brebased\b|已(?:经)?合并|合并了",),
    "push": (r"\bpushed\b|已(?:经)?推送|推送了",),
    "commit": (r"\bcommitted\b|已(?:经)?提交|提交了",),
    "deploy": (
        r"\b(?:deployed|released|published|shipped)\b|\b(?:is|are|now|went) live\b",
        r"已(?:经)?(?:部署|发布)|(?:部署|发布)(?:了|成功)",
    ),
    "install": (r"\binstalled\b|已(?:经)?安装|安装了",),
}
